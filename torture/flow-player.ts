/**
 * Histories of flows, played in the made-up world and told to the model, action by action: events,
 * position, rest and question have to be the same. A history that is not is cut down to the
 * shortest that still shows it.
 */
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { type Action, type AgentEnd, type Edit, FlowModel } from "./flow-model.ts";
import { type Beginning, stepsOf } from "./flow-tables.ts";
import { FlowWorld } from "./flow-world.ts";
import { type Random, randomFrom } from "./rig.ts";

export interface History {
  readonly begins: Beginning;
  readonly actions: readonly Action[];
}

export interface Divergence {
  /** The same for all that differ in the same way. */
  readonly kind: string;
  readonly what: string;
  readonly history: History;
  /** Of what the model does not judge: which of the random ones it was. */
  readonly index?: number;
}

export interface Share {
  readonly seed: number;
  /** Random histories: from here, up to there, every so manieth. */
  readonly from: number;
  readonly to: number;
  readonly stride: number;
  /** Every history of so many actions; 0: none. Split among the lanes by its first two. */
  readonly length: number;
  readonly firstOnly?: boolean;
}

export interface Tally {
  histories: number;
  actions: number;
  events: number;
  kills: number;
  exhaustive: number;
}

export interface Found {
  readonly tally: Tally;
  readonly rests: Map<string, number>;
  readonly divergences: Map<string, Divergence & { times: number }>;
}

// ── one history ────────────────────────────────────────────────────────────────────────────────

export async function play(
  { begins, actions }: History,
  found?: Found,
): Promise<Divergence | undefined> {
  const world = new FlowWorld(begins);
  const model = new FlowModel(begins);
  for (const [at, action] of actions.entries()) {
    const differs = await step(world, model, action, found);
    if (differs) {
      const history = { begins, actions: actions.slice(0, at + 1) };
      return { ...differs, history };
    }
  }
  return undefined;
}

type Differs = Pick<Divergence, "kind" | "what">;

async function step(
  world: FlowWorld,
  model: FlowModel,
  action: Action,
  found?: Found,
): Promise<Differs | undefined> {
  let done: Awaited<ReturnType<FlowWorld["apply"]>>;
  try {
    done = await world.apply(action);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return { kind: `it broke: ${said}`, what: said };
  }
  let expected: string[];
  try {
    expected = model.apply(action, done.died ? done.told.length : Infinity);
  } catch (error) {
    return { kind: "the model broke", what: String(error) };
  }
  if (found) {
    found.tally.actions++;
    found.tally.events += done.told.length;
    if (done.died || (action.do === "kill" && model.rest === "killed")) found.tally.kills++;
    found.rests.set(model.rest, (found.rests.get(model.rest) ?? 0) + 1);
  }
  const [breach] = world.breaches;
  if (breach !== undefined) return { kind: breach, what: breach };
  const at = done.told.findIndex((token, index) => token !== expected[index]);
  if (at >= 0 || done.told.length !== expected.length) {
    const first = at >= 0 ? at : done.told.length;
    const [is, should] = [done.told[first] ?? "nothing", expected[first] ?? "nothing"];
    return {
      kind: `${plain(is)} instead of ${plain(should)}`,
      what: `${is} instead of ${should}, after ${done.told.slice(0, first).join(", ") || "nothing"}`,
    };
  }
  return (
    differing("place", placeOf(world.place), placeOf(model.place)) ??
    differing("rest", world.rest, model.rest) ??
    differing("question", world.asks?.kind ?? "none", model.asks ?? "none")
  );
}

const plain = (token: string): string =>
  token.replace(/ (?:greenfield|existing-code|meta-repo)\b.*| \d.*/, "");
const placeOf = (place: FlowModel["place"]): string =>
  place
    ? `${place.flow} ${place.step} ${place.status} ${place.retry}/3 cycle ${place.cycle} at ${place.phase}`
    : "nowhere";
const differing = (what: string, is: string, should: string): Differs | undefined =>
  is === should ? undefined : { kind: `another ${what}`, what: `${what} ${is}, not ${should}` };

// ── killed and undisturbed ─────────────────────────────────────────────────────────────────────

/** Killed in its last action before the nth record and started again, it ends as if it had not been. */
export async function killed(
  { begins, actions }: History,
  record: number,
): Promise<Divergence | undefined> {
  const last = actions.at(-1);
  // What a person types is typed once more, or not, by whether it was heard: the model knows.
  if (!last || ["skip", "back", "rollback"].includes(last.do)) return undefined;
  const [calm, hurt] = [new FlowWorld(begins), new FlowWorld(begins)];
  for (const action of actions.slice(0, -1)) {
    await calm.apply(action);
    await hurt.apply(action);
  }
  await calm.apply(last);
  const { died, told } = await hurt.apply({ ...last, dies: record });
  if (!died) return undefined;
  const again: Action = last.do === "start" ? last : { do: "start" };
  const before = hurt.log.length;
  await hurt.apply(again, { again: true });
  // Whatever starts looks at the folders: what they have to say is not what the kill has done.
  const isCorrected = hurt.log
    .slice(before)
    .some(
      (event) =>
        (event.type === "step-entered" && event.why === "corrected") ||
        (event.type === "decision-asked" && event.decision.kind === "which-step"),
    );
  if (isCorrected) return undefined;
  if (
    hurt.rest === "working" &&
    last.do !== "start" &&
    !told.some((token) => token.startsWith("ended"))
  )
    await hurt.apply(last);
  const seen = (world: FlowWorld): string =>
    `${placeOf(world.place)}, ${world.rest} ${world.asks?.kind ?? ""}`;
  // A puppet that worked twice has left more behind: then it is another story.
  if (calm.documents !== hurt.documents || seen(calm) === seen(hurt)) return undefined;
  return {
    kind: "killed, it ends elsewhere",
    what: `killed before record ${record + 1}: ${seen(hurt)}; undisturbed: ${seen(calm)}`,
    history: { begins, actions },
  };
}

// ── the shortest that shows it ─────────────────────────────────────────────────────────────────

export async function shortest(divergence: Divergence): Promise<Divergence> {
  let best = divergence;
  const isSame = async (history: History): Promise<boolean> => {
    const other = await play(history);
    if (other?.kind !== divergence.kind) return false;
    best = other;
    return true;
  };
  for (let smaller = true; smaller; ) {
    smaller = false;
    const { begins, actions } = best.history;
    for (let at = actions.length - 1; at >= 0 && !smaller; at--)
      smaller = await isSame({ begins, actions: actions.filter((_, index) => index !== at) });
    for (let at = 0; at < actions.length && !smaller; at++) {
      const { dies, ...calm } = actions[at] as Action;
      if (dies !== undefined)
        smaller = await isSame({ begins, actions: actions.with(at, calm as Action) });
    }
    for (let at = 0; at < begins.facts.length && !smaller; at++) {
      const facts = begins.facts.filter((_, index) => index !== at);
      smaller = await isSame({ begins: { ...begins, facts }, actions });
    }
  }
  return best;
}

// ── random histories ───────────────────────────────────────────────────────────────────────────

const oneOf = <T>(random: Random, items: readonly T[]): T => items[random.below(items.length)] as T;

/** What a project has left when it is so far. */
const ways: readonly (readonly string[])[] = [
  [
    "problem",
    "input",
    "draft1",
    "solution",
    "architecture",
    "final-report",
    "mockups",
    "done",
    "table",
    "report",
    "retro@0",
  ],
  [
    "final-report",
    "baseline",
    "matrix",
    "assessment",
    "test-done",
    "report-tests",
    "plans",
    "todo",
    "report@1",
    "ripple@1",
    "retro@0",
  ],
  ["config", "confirmed"],
];
const allFacts = [
  ...new Set([
    ...ways.flat(),
    "draft2",
    "todo",
    "test-todo",
    "ui-yes",
    "ui-no",
    "marker",
    "testable-yes",
    "testable-no",
    "report@2",
    "ripple@2",
    "retro@1",
  ]),
];

export function beginning(random: Random): Beginning {
  const way = oneOf(random, ways);
  const facts = random.chance(0.5) ? [] : way.slice(0, random.below(way.length + 1));
  if (random.chance(0.15)) facts.push(oneOf(random, allFacts));
  const lacking = random.chance(0.1) ? random.below(facts.length + 1) : -1;
  return {
    facts: whole(facts.filter((_, at) => at !== lacking)),
    source: random.chance(0.4),
    members: random.chance(0.2) ? 2 : 0,
  };
}

/** A part is nowhere without its document. */
const whole = (facts: readonly string[]): string[] => {
  const of: Readonly<Record<string, string>> = {
    "ui-yes": "architecture",
    "ui-no": "architecture",
    "testable-yes": "baseline",
    "testable-no": "baseline",
    confirmed: "config",
  };
  const all = new Set(facts);
  if (all.has("ui-yes")) all.delete("ui-no");
  if (all.has("testable-yes")) all.delete("testable-no");
  return [...all].filter((fact) => of[fact] === undefined || all.has(of[fact] as string));
};

const ends: readonly AgentEnd[] = [
  "claim",
  "stray",
  "corrupt",
  "ask",
  "limit",
  "unable",
  "context",
  "stop",
];

/** `failing`: nothing succeeds for long, and people try again. */
type Mood = "mixed" | "failing";

export function nextAction(random: Random, model: FlowModel, mood: Mood): Action {
  const { rest, place } = model;
  if (mood === "failing" && random.chance(0.9)) {
    if (rest === "working") return { do: "fail" };
    const isAnswered = rest === "asking" && random.chance(0.5);
    return isAnswered ? { do: "answer", key: "A" } : { do: "start" };
  }
  if (random.chance(0.12)) return meanwhile(random, place);
  if (rest === "working") return whileAtWork(random);
  if (rest === "asking" && random.chance(0.75))
    return { do: "answer", key: oneOf(random, ["A", "A", "A", "B", "B", "C", "D"] as const) };
  const fraction = random.fraction();
  const key = random.chance(0.75)
    ? { key: random.chance(0.85) ? ("A" as const) : ("B" as const) }
    : {};
  if (fraction < 0.08) return { do: "skip", ...key };
  if (fraction < 0.14) return { do: "back", to: random.between(1, 4), ...key };
  if (fraction < 0.2) return { do: "rollback", to: random.between(1, 4), ...key };
  return {
    do: "start",
    ...(random.chance(0.15) && { through: true as const }),
    ...(random.chance(0.25) && { decides: true as const }),
    ...(random.chance(0.3) && { waits: true as const }),
  };
}

function whileAtWork(random: Random): Action {
  const fraction = random.fraction();
  if (fraction < 0.55)
    return {
      do: "finish",
      ...(random.chance(0.6) && { says: random.chance(0.5) ? ("yes" as const) : ("no" as const) }),
    };
  if (fraction < 0.72) return { do: "fail" };
  if (fraction < 0.78) return { do: "stuck" };
  if (fraction < 0.82) return { do: "report" };
  if (fraction < 0.87) return { do: "kill" };
  return { do: oneOf(random, ends) };
}

function meanwhile(random: Random, place: FlowModel["place"]): Action {
  const fraction = random.fraction();
  if (fraction < 0.25) return { do: "delete", fact: oneOf(random, allFacts) };
  if (fraction < 0.5) return { do: "add", fact: oneOf(random, allFacts) };
  if (fraction < 0.75)
    return {
      do: "edit",
      as: edit(random, place?.flow ?? "greenfield"),
      ...(random.chance(0.3) && { git: true as const }),
    };
  if (fraction < 0.82) return { do: "lose-file" };
  if (fraction < 0.9) return { do: "checkout", back: random.between(1, 6) };
  return { do: "clock", hours: oneOf(random, [1, 5, 24, 24, 48, -2]) };
}

function edit(random: Random, here: string): Edit {
  const flow = random.chance(0.1)
    ? oneOf(random, ["greenfield", "existing-code", "meta-repo"])
    : here;
  const moves = flow !== here || random.chance(0.6);
  return {
    // Both together: an edit has to make sense whatever the one before it has made of the file.
    ...(moves && { flow, step: oneOf(random, [...stepsOf(flow), ...stepsOf(flow), "done"]) }),
    ...(random.chance(0.6) && {
      status: oneOf(random, [
        "not_started",
        "in_progress",
        "completed",
        "skipped",
        "failed",
        "paused",
      ]),
    }),
    ...(random.chance(0.3) && { retry: random.below(4) }),
  };
}

/** The model is asked what fits; what comes of it is judged by both. */
export async function randomHistory(
  seed: number,
  index: number,
  found?: Found,
): Promise<{ history: History; divergence?: Divergence }> {
  const random = randomFrom(seed, index, 8);
  const begins = beginning(random);
  const [world, model] = [new FlowWorld(begins), new FlowModel(begins)];
  const actions: Action[] = [];
  const mood = random.chance(0.1) ? "failing" : "mixed";
  const length = mood === "failing" ? random.between(25, 60) : random.between(3, 30);
  for (let at = 0; at < length; at++) {
    const calm = at === 0 ? ({ do: "start" } as const) : nextAction(random, model, mood);
    const action = random.chance(0.06) ? { ...calm, dies: random.below(6) } : calm;
    actions.push(action);
    const differs = await step(world, model, action, found);
    const history = { begins, actions };
    if (differs) return { history, divergence: { ...differs, history } };
  }
  return { history: { begins, actions } };
}

// ── every history ──────────────────────────────────────────────────────────────────────────────

/** Few enough to try every sequence of them; each stands for its kind. */
const alphabet: readonly Action[] = [
  { do: "start" },
  { do: "start", decides: true },
  { do: "answer", key: "A" },
  { do: "answer", key: "B" },
  { do: "finish" },
  { do: "fail" },
  { do: "stuck" },
  { do: "kill" },
  { do: "skip", key: "A" },
  { do: "back", to: 1, key: "A" },
  { do: "rollback", to: 2, key: "A" },
  { do: "edit", as: { status: "completed" } },
  { do: "edit", as: { status: "failed", retry: 3 } },
  { do: "add", fact: "final-report" },
  { do: "delete", fact: "problem" },
  { do: "checkout", back: 2 },
];

const beginnings: readonly Beginning[] = [
  { facts: [], source: false, members: 0 },
  { facts: ["problem", "input", "draft1", "solution", "architecture"], source: false, members: 0 },
  {
    facts: ["final-report", "baseline", "matrix", "test-done", "report-tests", "plans"],
    source: true,
    members: 0,
  },
  { facts: ["config"], source: false, members: 2 },
];

/** An action that changes nothing leads to nothing that a shorter history does not lead to. */
async function everyHistory(share: Share, lane: number, found: Found): Promise<void> {
  let branch = 0;
  const walk = async (begins: Beginning, actions: readonly Action[]): Promise<void> => {
    for (const action of alphabet) {
      const next = [...actions, action];
      if (next.length === 3 && branch++ % share.stride !== lane) continue;
      const model = new FlowModel(begins);
      let before = "";
      for (const each of next) {
        before = model.fingerprint();
        model.apply(each);
      }
      if (before === model.fingerprint()) continue;
      if (next.length < share.length) {
        await walk(begins, next);
        continue;
      }
      found.tally.exhaustive++;
      const divergence = await play({ begins, actions: next }, found);
      if (divergence) note(found, divergence);
      if (divergence && share.firstOnly) return;
    }
  };
  for (const begins of beginnings) await walk(begins, [{ do: "start" }]);
}

// ── a share of them ────────────────────────────────────────────────────────────────────────────

const note = (found: Found, divergence: Divergence): void => {
  const known = found.divergences.get(divergence.kind);
  if (known) known.times++;
  else found.divergences.set(divergence.kind, { ...divergence, times: 1 });
};

export async function playShare(share: Share): Promise<Found> {
  const tally = { histories: 0, actions: 0, events: 0, kills: 0, exhaustive: 0 };
  const found: Found = { tally, rests: new Map(), divergences: new Map() };
  for (let index = share.from; index < share.to; index += share.stride) {
    tally.histories++;
    const { history, divergence } = await randomHistory(share.seed, index, found);
    if (divergence) note(found, divergence);
    else if (index % 4 === 0) {
      const calm = calmly(history);
      const random = randomFrom(share.seed, index, 9);
      const elsewhere = await killed(calm, random.below(8));
      tally.kills++;
      if (elsewhere) note(found, { ...elsewhere, index });
    }
    if (share.firstOnly && found.divergences.size > 0) return found;
  }
  if (share.length > 0) await everyHistory(share, share.from, found);
  return found;
}

/** Without what changes documents and the file: the folders would have a word in a second start. */
function calmly({ begins, actions }: History): History {
  const loud = ["add", "delete", "edit", "lose-file", "checkout", "clock", "kill", "answer"];
  const calm = actions.filter(({ do: what }) => what === "answer" || !loud.includes(what));
  const undying = (action: Action): Action =>
    Object.fromEntries(Object.entries(action).filter(([key]) => key !== "dies")) as Action;
  return { begins, actions: calm.map(undying) };
}

// Whoever plays histories of his own in a thread has other work for it.
if (!isMainThread && parentPort && "length" in (workerData as object)) {
  const port = parentPort;
  void playShare(workerData as Share).then((found) => port.postMessage(found));
}
