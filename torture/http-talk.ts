/** HTTP to the byte: requests as they are, sent to a port of this machine, and what comes back. */
import * as net from "node:net";

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/**
 * Requests as they are, one after the other on one connection; fewer answers: it was closed. A
 * stream has no end: it is hung up on when it begins, and whatever was to follow is not sent.
 */
export function talk(
  port: number,
  requests: readonly string[],
  { patience = 20_000 } = {},
): Promise<RawAnswer[]> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    const answers: RawAnswer[] = [];
    let waiting = Buffer.alloc(0);
    let sent = 0;
    const send = (): void => {
      const part = requests.slice(sent, sent + 32);
      sent += part.length;
      if (part.length > 0) socket.write(Buffer.from(part.join(""), "latin1"));
    };
    const done = (): void => {
      socket.destroy();
      resolve(answers);
    };
    socket.setTimeout(patience, done);
    socket.on("connect", send);
    socket.on("error", done).on("close", done);
    socket.on("data", (bytes) => {
      waiting = Buffer.concat([waiting, bytes]);
      for (;;) {
        const end = waiting.indexOf("\r\n\r\n");
        if (end < 0) break;
        const head = waiting.toString("latin1", 0, end);
        const isHead = requests[answers.length]?.startsWith("HEAD ") === true;
        const length = isHead ? 0 : Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
        if (waiting.length < end + 4 + length) break;
        const body = waiting.toString("utf8", end + 4, end + 4 + length);
        waiting = waiting.subarray(end + 4 + length);
        answers.push({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head, body });
        if (answers.length === requests.length || isStream(head)) return done();
        if (answers.length === sent) send();
      }
    });
  });
}

export const headerIn = ({ head }: RawAnswer, name: string): string | undefined =>
  new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1]?.trim();

const isStream = (head: string): boolean => /^content-type: text\/event-stream/im.test(head);
