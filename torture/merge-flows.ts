/**
 * Two histories of one flow from a common base, played in the made-up world, and what git makes of
 * their state files and documents. The merge comes into the clone of either of them, with its
 * journal, or into a fresh one, without any; then somebody types `autodev`.
 */
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import type { RecordedEvent } from "../src/core/event.ts";
import { type Action, FlowModel } from "./flow-model.ts";
import { beginning, nextAction } from "./flow-player.ts";
import {
  type Beginning,
  flows,
  isOwed,
  isThere,
  type Look,
  order,
  type Place,
  rowOf,
  stepsOf,
} from "./flow-tables.ts";
import { FlowWorld } from "./flow-world.ts";
import { isConflicted, mergeFile, mergeNames, resolved, strategies } from "./merge-files.ts";
import { mergePlans } from "./merge-plans.ts";
import { type Random, randomFrom } from "./rig.ts";

export interface MergeShare {
  readonly seed: number;
  readonly from: number;
  readonly to: number;
  readonly stride: number;
  /** For what git is given. */
  readonly folder: string;
  readonly firstOnly?: boolean;
}

export interface MergeTally {
  merges: number;
  /** Both sides had changed the file. */
  "both changed": number;
  conflicts: number;
  "refused otherwise": number;
  adopted: number;
  "in a fresh clone": number;
  "places judged": number;
  "notes kept": number;
  plans: number;
  "phases compared": number;
}

export interface MergesFound {
  readonly tally: MergeTally;
  /** By kind: how often, and in which case first. */
  readonly breaches: Map<string, { times: number; index: number; what: string }>;
}

export async function mergeShare(share: MergeShare): Promise<MergesFound> {
  const found: MergesFound = {
    tally: {
      merges: 0,
      "both changed": 0,
      conflicts: 0,
      "refused otherwise": 0,
      adopted: 0,
      "in a fresh clone": 0,
      "places judged": 0,
      "notes kept": 0,
      plans: 0,
      "phases compared": 0,
    },
    breaches: new Map(),
  };
  for (let index = share.from; index < share.to; index += share.stride) {
    found.tally.merges++;
    const merged = index % 5 === 4 ? mergePlans(share, index, found.tally) : undefined;
    const breaches = merged ?? (await mergeOnce(share, index, found.tally).catch(broken));
    for (const what of breaches) {
      const kind = what.replace(/: .*/s, "");
      const known = found.breaches.get(kind);
      if (known) known.times++;
      else found.breaches.set(kind, { times: 1, index, what });
    }
    if (share.firstOnly && found.breaches.size > 0) break;
  }
  return found;
}

const broken = (error: unknown): string[] => [
  `it broke: ${error instanceof Error ? error.message : String(error)}`,
];

// ── one merge ──────────────────────────────────────────────────────────────────────────────────

async function mergeOnce(
  { seed, folder }: MergeShare,
  index: number,
  tally: MergeTally,
): Promise<string[]> {
  const random = randomFrom(seed, index, 11);
  const begins = beginning(random);
  const base = await liveOn(begins, [], random.between(1, 12), random);
  const [ours, theirs] = [
    await liveOn(begins, base.actions, random.below(9), random),
    await liveOn(begins, base.actions, random.below(9), random),
  ];
  const texts = {
    base: base.world.shown ?? "",
    ours: withNote(ours.world.shown ?? "", random, "ours"),
    theirs: withNote(theirs.world.shown ?? "", random, "theirs"),
  };
  if (texts.ours !== texts.base && texts.theirs !== texts.base && texts.ours !== texts.theirs)
    tally["both changed"]++;
  const by = strategies[random.below(strategies.length)] ?? "default";
  const text = mergeFile(folder, texts, by);
  const documents = mergeNames(
    factsOf(base.world),
    factsOf(ours.world),
    factsOf(theirs.world),
  ).filter((fact, _, all) => !isOverruled(fact, all));
  const where = (["ours", "theirs", "clone"] as const)[random.below(3)] ?? "clone";
  if (where === "clone") tally["in a fresh clone"]++;
  const world =
    where === "clone"
      ? new FlowWorld({ ...begins, facts: documents })
      : { ours, theirs }[where].world;
  world.receive(text === "" ? undefined : text, documents);
  const told = (what: string): string =>
    `${what} (${by}, in ${where}); ${(world.shown ?? "no file").replace(/\n/g, " / ")}`;
  if (!isConflicted(text)) return (await goOn(world, tally)).map(told);
  tally.conflicts++;
  const refused = await refusedWhole(world);
  world.receive(resolved(text, random.chance(0.5) ? "ours" : "theirs"), documents);
  return [...refused, ...(await goOn(world, tally))].map(told);
}

interface Lived {
  readonly world: FlowWorld;
  readonly actions: readonly Action[];
}

/** What has happened so far, once more, and then a little more; in the end nobody is at work. */
async function liveOn(
  begins: Beginning,
  before: readonly Action[],
  more: number,
  random: Random,
): Promise<Lived> {
  const [world, model] = [new FlowWorld(begins), new FlowModel(begins)];
  const actions: Action[] = [];
  const act = async (action: Action): Promise<void> => {
    actions.push(action);
    await world.apply(action);
    model.apply(action);
  };
  for (const action of before) await act(action);
  for (let left = more; left > 0; left--)
    await act(
      actions.length === 0 ? { do: "start" } : tamely(nextAction(random, model, "mixed"), random),
    );
  if (world.rest === "working") await act({ do: "kill" });
  return { world, actions };
}

/** What people do to files and steps by hand is another row's: here git does it. */
const tamely = (action: Action, random: Random): Action =>
  ["edit", "checkout", "add", "delete", "lose-file", "back", "rollback"].includes(action.do)
    ? random.chance(0.5)
      ? { do: "start", decides: true }
      : { do: "finish" }
    : action;

const factsOf = ({ documents }: FlowWorld): Set<string> =>
  new Set(documents.split(" ").filter((fact) => fact !== ""));

/** Of two that say the opposite in one document, one side's stands; a part is nowhere without its whole. */
const isOverruled = (fact: string, all: readonly string[]): boolean =>
  (fact === "ui-no" && all.includes("ui-yes")) ||
  (fact === "testable-no" && all.includes("testable-yes")) ||
  (fact === "todo" && all.includes("done")) ||
  (fact === "test-todo" && all.includes("test-done"));

const withNote = (text: string, random: Random, who: string): string =>
  text !== "" && random.chance(0.3) ? `${text}\n## Notes\n- ${who} ${random.below(1000)}\n` : text;

const notesIn = (text: string): string[] => text.match(/^- (?:ours|theirs) \d+$/gm) ?? [];

// ── what is promised ───────────────────────────────────────────────────────────────────────────

/** Both sides are shown, and nothing is changed: neither by looking nor by trying. */
async function refusedWhole(world: FlowWorld): Promise<string[]> {
  const [log, text] = [[...world.log], world.shown];
  const found = world.glance();
  const failure = found.ok ? undefined : found.failure;
  const wrong: string[] = [];
  if (failure?.code !== "state-file-conflict") wrong.push("a conflict is read");
  const sides = failure?.details?.join("\n") ?? "";
  if (!/ours: /.test(sides) || !/theirs: /.test(sides)) wrong.push("not both sides are shown");
  const went = await world.apply({ do: "start" }).then(
    () => true,
    () => false,
  );
  if (went) wrong.push("a flow goes on over a conflict");
  if (world.shown !== text) wrong.push("a conflict is written over");
  if (!isSame(world.log, log)) wrong.push("something is recorded over a conflict");
  return wrong;
}

const isSame = (log: readonly RecordedEvent[], before: readonly RecordedEvent[]): boolean =>
  log.length === before.length && before.every((event, at) => log[at] === event);

async function goOn(world: FlowWorld, tally: MergeTally): Promise<string[]> {
  const text = world.shown;
  const found = world.glance();
  if (!found.ok) {
    tally["refused otherwise"]++;
    // Lines that two people have written are there twice: then nobody knows which.
    return isTwice(text ?? "") ? [] : [`refused: ${found.failure.message}`];
  }
  const before = [...world.log];
  const wasOurs = text === undefined || world.wasShown(text);
  // A journal that has asked, and recorded no file yet, has nothing that git could have moved.
  const why = world.state.stateFile ? "came-with-git" : "imported";
  await world.apply({ do: "start" });
  const after = world.log.slice(before.length);
  const wrong = [...world.breaches];
  if (!isSame(world.log.slice(0, before.length), before)) wrong.push("history is rewritten");
  wrong.push(...adoptedRightly(after, wasOurs, why, text ?? ""));
  if (after.some(({ type }) => type === "state-file-adopted")) tally.adopted++;
  for (const note of notesIn(text ?? "")) {
    if (world.shown?.includes(`${note}\n`)) tally["notes kept"]++;
    else wrong.push("a person's line is lost");
  }
  if (world.rest === "working" && world.place && !isPersons(world.log)) {
    tally["places judged"]++;
    wrong.push(...placedRightly(world.place, factsOf(world), world.state.course?.entry));
  }
  if (world.rest !== "working") wrong.push(...(await stays(world)));
  return wrong;
}

const isTwice = (text: string): boolean => {
  const keys = text.match(
    /^(?:flow|step|status|retry_count|cycle|sub_step|## .*|tracker)\b.*?(?=:|$)/gm,
  );
  return (
    new Set(keys).size !== (keys ?? []).length ||
    /^ {2}(phase|name|detail): [\s\S]*^ {2}\1: /m.test(text)
  );
};

/** Bytes that were ours are nobody's word; any others are taken over as they stand, and once. */
function adoptedRightly(
  events: readonly RecordedEvent[],
  wasOurs: boolean,
  why: string,
  text: string,
): string[] {
  const adoptions = events.filter((event) => event.type === "state-file-adopted");
  const [adopted] = adoptions.filter(({ why }) => why !== "created");
  if (wasOurs) return adopted ? [`our own bytes are taken over: ${adopted.why}`] : [];
  if (adoptions.length !== 1 || !adopted) return ["what came with git is not taken over"];
  const [flow, step, status] = ["flow", "step", "status"].map((key) => valueOf(text, key));
  const { state } = adopted;
  const said = [state.flow, state.step, state.status].join(" ");
  return [
    ...(adopted.why === why ? [] : [`taken over as ${adopted.why}, not ${why}`]),
    ...(said === [flow, step, status].join(" ") ? [] : [`taken over as another place: ${said}`]),
  ];
}

const valueOf = (text: string, key: string): string =>
  new RegExp(`^${key}: (.*)$`, "m").exec(text)?.[1] ?? "";

/** Somebody has said where it goes on, or without what: the folders do not overrule that. */
const isPersons = (log: readonly RecordedEvent[]): boolean =>
  log.some(
    (event) =>
      event.type === "steps-excused" ||
      event.type === "step-reopened" ||
      event.type === "step-skipped" ||
      (event.type === "step-entered" && event.why === "answered"),
  );

/** Nothing that is done is done again, nothing that is missing is passed over. */
function placedRightly(
  { flow, step, cycle }: Place,
  facts: ReadonlySet<string>,
  entry: string | undefined,
): string[] {
  const look: Look = {
    cycle,
    has: (...names) => names.some((name) => isThere(facts, name, cycle)),
    todo: () => facts.has("todo") || facts.has("test-todo"),
    report: () => [...facts].some((fact) => fact.startsWith("report")),
    dated: () => false,
    said: () => false,
  };
  const [first, last] = (flows[flow]?.parts ?? []).find(
    ([from, to]) => order(step) >= from && order(step) <= to,
  ) ?? [0, 0];
  const stretch = stepsOf(flow).filter(
    (each) =>
      order(each) >= Math.max(first, order(entry ?? "0")) &&
      order(each) <= last &&
      isOwed(rowOf({ flow, step: each })),
  );
  const wrong: string[] = [];
  for (const each of stretch) {
    const { proof, stays: left } = rowOf({ flow, step: each });
    if (order(each) > order(step) && proof?.(look))
      wrong.push(`a completed step is undone: at ${step}, ${each} is done`);
    if (order(each) < order(step) && !(left ?? proof)?.(look))
      wrong.push(`a step is called done that is not: at ${step}, ${each} has left nothing`);
  }
  return wrong;
}

/** Started once more, it is where it is, and asks nothing that it has asked. */
async function stays(world: FlowWorld): Promise<string[]> {
  const [rest, asks, count] = [world.rest, world.asks?.question, world.log.length];
  const place = JSON.stringify(world.place);
  if (rest !== "asking") return [];
  await world.apply({ do: "start" });
  if (JSON.stringify(world.place) !== place) return [`it does not stay: ${place}`];
  if (world.rest !== rest || world.asks?.question !== asks) return ["another question is asked"];
  const more = world.log.slice(count).filter(({ type }) => type === "decision-asked");
  return more.length > 0 ? ["a question is asked twice"] : [];
}

if (!isMainThread && parentPort && (workerData as Partial<MergeShare>).folder !== undefined) {
  const port = parentPort;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  void mergeShare(workerData as MergeShare).then((found) => port.postMessage(found));
}
