/**
 * What somebody at work has printed last, for people to see that he is alive: from the end of his
 * transcript, never all of it.
 */
import * as fs from "node:fs";
import { runsOn } from "../core/board/board.ts";
import type { StreamMessage } from "../core/board/wire.ts";
import { flowRun, inWords, shown, transcriptOf } from "../project.ts";
import type { Feed } from "./feed.ts";

type Line = Extract<StreamMessage, { event: "line" }>["data"];

export interface LastLines {
  /** Those that are others than at the last call. */
  fresh(): readonly Line[];
  known(): readonly Line[];
}

const mostRead = 32 * 1024;
const mostShown = 300;

export function lastLines(feed: Feed): LastLines {
  const known = new Map<string, Line & { readonly size: number }>();
  return {
    fresh() {
      const changed: Line[] = [];
      const atWork = new Set<string>();
      for (const { file, run, phase } of filesAtWork(feed)) {
        atWork.add(file);
        const before = known.get(file);
        const size = sizeOf(file);
        if (size === 0 || size === before?.size) continue;
        const text = lastLineOf(file, size) ?? before?.text;
        if (text === undefined) continue;
        known.set(file, { run, phase, text, size });
        if (text !== before?.text) changed.push({ run, phase, text });
      }
      for (const file of known.keys()) if (!atWork.has(file)) known.delete(file);
      return changed;
    },
    known: () => [...known.values()].map(({ run, phase, text }) => ({ run, phase, text })),
  };
}

function filesAtWork({ project, board }: Feed): { file: string; run: string; phase: string }[] {
  const ofRuns = runsOn(board)
    .filter(({ ended }) => ended === undefined)
    .flatMap(({ id: run, phases }) =>
      phases.flatMap(({ id: phase, state }) =>
        state.is === "working" || state.is === "delivered"
          ? [{ file: transcriptOf(project, run, phase, state.attempt), run, phase }]
          : [],
      ),
    );
  const session = board.flow.sessions.at(-1);
  if (!session || session.endedAt !== undefined) return ofRuns;
  const file = transcriptOf(project, flowRun, "session", session.session);
  return [...ofRuns, { file, run: flowRun, phase: session.step }];
}

const sizeOf = (file: string): number => {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  return stat?.isFile() ? stat.size : 0;
};

/** In whose dialect it is stands in the first line. */
function lastLineOf(file: string, size: number): string | undefined {
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
    const descriptor = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const part = (from: number, most: number): string => {
        const bytes = Buffer.alloc(Math.min(most, size - from));
        return bytes.toString("utf8", 0, fs.readSync(descriptor, bytes, 0, bytes.length, from));
      };
      const from = Math.max(0, size - mostRead);
      const [heading = ""] = part(0, 512).split("\n");
      const lines = part(from, mostRead)
        .split("\n")
        .slice(from === 0 ? 0 : 1, -1);
      let last: string | undefined;
      const hear = inWords((line) => {
        const words = shown(line).trim();
        if (words !== "" && !words.startsWith("> ")) last = words;
      });
      for (const line of [heading, ...lines]) hear(line);
      return last === undefined || last.length <= mostShown ? last : `${last.slice(0, mostShown)}…`;
    } finally {
      fs.closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}
