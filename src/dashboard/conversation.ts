/** What an attempt's agent and gates have said, a part at a time, from any byte of the transcript. */
import * as fs from "node:fs";
import type { Said, TranscriptAnswer } from "../core/board/wire.ts";
import { asConversation, briefIn, readTranscript, shownLine } from "../project.ts";

const mostRead = 400 * 1024;
const mostText = 20_000;

/** `from` negative: the last so many bytes. Undefined: there is none that can be read. */
export function conversationIn(file: string, from: number): TranscriptAnswer | undefined {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile()) return undefined;
  const { size } = stat;
  const wanted = from < 0 ? Math.max(0, size + from) : Math.min(from, size);
  const start = from < 0 && wanted > 0 ? lineAfter(file, wanted) : wanted;
  const entries: Said[] = [];
  let isHeard = false;
  const hear = asConversation((said) => {
    if (isHeard) entries.push(safe(said));
  });
  if (start > 0) {
    const brief = briefIn(file);
    hear(brief?.heading ?? "");
    // Whoever has read past it is in the conversation.
    if (start >= (brief?.end ?? 0)) hear("── ");
  }
  isHeard = true;
  const next = readTranscript(file, start, hear, { most: mostRead });
  return next === undefined ? undefined : { version: 1, from: start, next, entries };
}

/** Where the next whole line begins. */
function lineAfter(file: string, at: number): number {
  const descriptor = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
  try {
    const bytes = Buffer.alloc(64 * 1024);
    const read = fs.readSync(descriptor, bytes, 0, bytes.length, at);
    const end = bytes.subarray(0, read).indexOf(10);
    return end < 0 ? at : at + end + 1;
  } finally {
    fs.closeSync(descriptor);
  }
}

function safe(said: Said): Said {
  switch (said.is) {
    case "line":
    case "heading":
    case "text":
    case "thought":
    case "note":
      return { ...said, text: words(said.text) };
    case "file":
      return { ...said, path: words(said.path) };
    case "command":
      return { ...said, command: words(said.command) };
    case "tool":
      return { ...said, name: words(said.name), what: words(said.what) };
    case "plan":
      return { is: "plan", steps: said.steps.map((step) => ({ ...step, text: words(step.text) })) };
  }
}

/** Without what a terminal would obey, and without end. */
function words(text: string): string {
  const cut =
    text.length > mostText
      ? `${text.slice(0, mostText)} … (${text.length - mostText} characters more)`
      : text;
  return cut.split("\n").map(shownLine).join("\n");
}
