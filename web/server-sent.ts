/** Server-sent events as they come in pieces: text in, whole messages out. */
export interface SentMessage {
  readonly event: string;
  readonly data: string;
}

/** Of one connection: call it with each piece; a piece may end anywhere. */
export function messagesIn(): (piece: string) => SentMessage[] {
  let rest = "";
  let [event, data]: [string, string[]] = ["message", []];
  return (piece) => {
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    const messages: SentMessage[] = [];
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0) messages.push({ event, data: data.join("\n") });
        [event, data] = ["message", []];
        continue;
      }
      const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (field === "event") event = value;
      if (field === "data") data.push(value);
    }
    return messages;
  };
}
