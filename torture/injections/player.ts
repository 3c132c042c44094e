/** A share of all injections, played at their points and compared with the benign sentence. */
import * as path from "node:path";
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { points } from "./points.ts";
import { benign, injectionOf } from "./texts.ts";

export interface Share {
  readonly seed: number;
  readonly scratch: string;
  /** Cases from here, up to there, every so manieth; a case is a text at a point. */
  readonly from: number;
  readonly to: number;
  readonly stride: number;
  readonly firstOnly?: boolean;
}

export interface Found {
  runs: number;
  /** Lines of the logs that were compared. */
  decided: number;
  /** How many texts were seen where they were put. */
  arrived: number;
  readonly texts: Set<string>;
  readonly classes: Set<string>;
  readonly points: Map<string, number>;
  /** By point and class: the first case, and what differs. */
  readonly moved: Map<string, { index: number; times: number; what: string }>;
}

export const nothingFound = (): Found => ({
  runs: 0,
  decided: 0,
  arrived: 0,
  texts: new Set(),
  classes: new Set(),
  points: new Map(),
  moved: new Map(),
});

/** All points of one text before the next: a few cases see many of both. */
export const caseOf = (index: number): { readonly point: number; readonly text: number } => ({
  point: index % points.length,
  text: Math.floor(index / points.length) + (index % points.length),
});

export async function playShare(share: Share): Promise<Found> {
  const { seed, from, to, stride } = share;
  const scratch = path.join(share.scratch, `lane-${from}`);
  const found = nothingFound();
  const usual = new Map<string, readonly string[]>();
  for (let index = from; index < to; index += stride) {
    const { point: at, text: number } = caseOf(index);
    const point = points[at] as (typeof points)[number];
    const log = usual.get(point.name) ?? (await point.play(benign, scratch)).log;
    usual.set(point.name, log);
    const injection = injectionOf(seed, number);
    const kind = `${point.name}, ${injection.class}`;
    const played = await unlessBroken(point.play(injection.text, scratch));
    found.runs++;
    found.decided += log.length;
    found.texts.add(injection.text);
    found.classes.add(injection.class);
    found.points.set(point.name, (found.points.get(point.name) ?? 0) + 1);
    const isThere = played.seen.includes(injection.word);
    if (isThere) found.arrived++;
    const what = isThere || played.broke ? difference(log, played.log) : "it never reached anybody";
    if (what === undefined) continue;
    const known = found.moved.get(kind);
    found.moved.set(kind, { index: known?.index ?? index, times: (known?.times ?? 0) + 1, what });
    if (share.firstOnly) break;
  }
  return found;
}

/** That it breaks is a decision too, and one that no words may bring about. */
const unlessBroken = async (
  playing: Promise<{ readonly log: readonly string[]; readonly seen: string }>,
): Promise<{ log: readonly string[]; seen: string; broke: boolean }> => {
  try {
    return { ...(await playing), broke: false };
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return { log: [`it broke: ${said}`], seen: "", broke: true };
  }
};

/** The first thing that was decided otherwise. */
export function difference(usual: readonly string[], log: readonly string[]): string | undefined {
  const at = Array.from({ length: Math.max(usual.length, log.length) }).findIndex(
    (_, index) => usual[index] !== log[index],
  );
  if (at < 0) return undefined;
  const [was, is] = [usual[at] ?? "nothing", log[at] ?? "nothing"];
  const from = Math.max(0, was.split("").findIndex((char, index) => char !== is[index]) - 30);
  return `${cut(is, from)} instead of ${cut(was, from)}`;
}

const cut = (text: string, from: number): string =>
  `${text.slice(0, 30)}${from > 30 ? " … " : ""}${text.slice(Math.max(30, from), from + 130)}`;

if (!isMainThread && parentPort) {
  const port = parentPort;
  void playShare(workerData as Share).then((found) => port.postMessage(found));
}
