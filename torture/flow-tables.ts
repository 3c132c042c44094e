/**
 * The three flows as the specification tells them, and what its puppets do: nothing of the program
 * is in here. Documents are named facts ("architecture", "report@2": that of cycle 2, "retro@3":
 * that of day 3).
 */

export interface Place {
  readonly flow: string;
  readonly step: string;
  readonly status: string;
  readonly retry: number;
  readonly cycle: number;
  readonly phase: number;
}

/** Before anything was done: what lies there. */
export interface Beginning {
  readonly facts: readonly string[];
  readonly source: boolean;
  readonly members: number;
}

// ── the flows ──────────────────────────────────────────────────────────────────────────────────

export interface Look {
  has(...facts: readonly string[]): boolean;
  /** Any of cycle n. */
  readonly cycle: number;
  todo(): boolean;
  report(): boolean;
  dated(): boolean;
  said(what: string): boolean;
}
type Proof = (look: Look) => boolean;
export interface Row {
  readonly proof?: Proof;
  /** What is left of the proof once later steps have used up the rest. */
  readonly stays?: Proof;
  /** What ends it while it is under way. */
  readonly end?: Proof;
  readonly writes?: readonly string[];
  readonly needs?: readonly string[];
  readonly usesTasks?: true;
  readonly optional?: true;
  readonly applies?: (look: Look) => "yes" | "no" | "ask";
  readonly marker?: true;
  readonly boundary?: true;
  readonly research?: true;
  readonly person?: true;
  readonly rests?: true;
  readonly next?: string;
  readonly newCycle?: true;
}
interface Flow {
  readonly rows: Readonly<Record<string, Row>>;
  readonly parts: readonly (readonly [number, number])[];
  readonly onward?: true;
}

const written = (fact: string): Row => ({ writes: [fact], proof: ({ has }) => has(fact) });
const whether =
  (yes: string, no: string) =>
  ({ has }: Look): "yes" | "no" | "ask" =>
    has(yes) ? "yes" : has(no) ? "no" : "ask";
const onDrift = (what: string) => (look: Look) => (look.said(what) ? "yes" : "no");

export const flows: Readonly<Record<string, Flow>> = {
  greenfield: {
    parts: [[1, 11]],
    onward: true,
    rows: {
      1: {
        writes: ["problem", "input"],
        proof: ({ has }) => has("problem") && has("input"),
        stays: ({ has }) => has("problem"),
      },
      2: {
        writes: ["draft"],
        needs: ["problem"],
        proof: ({ has }) => has("draft"),
        stays: ({ has }) => has("draft", "solution"),
        research: true,
      },
      3: {
        writes: ["architecture", "final-report"],
        needs: ["draft"],
        proof: ({ has }) => has("architecture"),
        end: ({ has }) => has("final-report"),
      },
      4: {
        writes: ["mockups"],
        applies: whether("ui-yes", "ui-no"),
        marker: true,
        proof: ({ has }) => has("mockups", "marker"),
      },
      5: {
        writes: ["todo", "table"],
        needs: ["architecture"],
        proof: (look) => (look.todo() || look.has("done", "test-done")) && look.has("table"),
        boundary: true,
      },
      6: {
        writes: ["report"],
        needs: ["table"],
        usesTasks: true,
        proof: (look) => !look.todo() && look.report(),
        stays: (look) => look.report(),
      },
      7: {},
      8: { optional: true },
      9: { optional: true },
      10: {},
      11: { writes: ["retro"], next: "done" },
    },
  },
  "existing-code": {
    parts: [
      [1, 8],
      [9, 17],
    ],
    rows: {
      1: written("final-report"),
      2: written("baseline"),
      3: written("matrix"),
      4: { ...written("assessment"), applies: whether("testable-no", "testable-yes") },
      5: {
        writes: ["test-todo"],
        needs: ["matrix"],
        proof: ({ has }) => has("test-todo", "test-done"),
        boundary: true,
      },
      6: { ...written("report-tests"), usesTasks: true },
      7: {},
      8: { optional: true },
      9: {
        writes: ["plans", "todo"],
        proof: (look) => look.has("plans") && (look.todo() || look.has(`report@${look.cycle}`)),
        stays: ({ has }) => has("plans"),
        boundary: true,
      },
      10: {
        writes: ["report@"],
        usesTasks: true,
        proof: ({ has, cycle }) => has(`report@${cycle}`),
      },
      11: {},
      12: {},
      13: { writes: ["ripple@"], proof: ({ has, cycle }) => has(`ripple@${cycle}`) },
      14: { optional: true },
      15: { optional: true },
      16: {},
      17: { writes: ["retro"], proof: (look) => look.dated(), next: "9", newCycle: true },
    },
  },
  "meta-repo": {
    parts: [[1, 6]],
    rows: {
      1: written("config"),
      2: { person: true, proof: ({ has }) => has("confirmed") },
      3: {},
      4: { applies: onDrift("document-drift") },
      5: { applies: onDrift("cicd-drift") },
      6: { rests: true, next: "3" },
    },
  },
};

export const stepsOf = (flow: string): string[] => Object.keys(flows[flow]?.rows ?? {});
export const rowOf = ({ flow, step }: Pick<Place, "flow" | "step">): Row =>
  flows[flow]?.rows[step] ?? {};
export const isOwed = ({ proof, optional, applies }: Row): boolean =>
  proof !== undefined && !optional && !applies;
export const order = (step: string): number => (step === "done" ? 99 : Number(step));

/** What goes with a document when it goes. */
const partsOf: Readonly<Record<string, readonly string[]>> = {
  architecture: ["ui-yes", "ui-no"],
  baseline: ["testable-yes", "testable-no"],
  config: ["confirmed"],
};
const isPart = (fact: string): string | undefined =>
  Object.keys(partsOf).find((whole) => partsOf[whole]?.includes(fact));

export const isThere = (facts: ReadonlySet<string>, name: string, cycle: number): boolean =>
  name === "draft" || name === "retro"
    ? [...facts].some((fact) => fact.startsWith(name))
    : facts.has(name.endsWith("@") ? name + cycle : name);

/** What the puppet skill of a step needs and does not find, and what of its own is there. */
export function skillOf(
  facts: ReadonlySet<string>,
  place: Pick<Place, "flow" | "step" | "cycle">,
): { lacks: string[]; there: string[] } {
  const { needs = [], writes = [] } = rowOf(place);
  return {
    lacks: needs.filter((name) => !isThere(facts, name, place.cycle)),
    there: writes.filter((name) => isThere(facts, name, place.cycle)),
  };
}

/** What the documents are after a puppet has done its step. */
export function workDone(
  facts: ReadonlySet<string>,
  place: Pick<Place, "flow" | "step" | "cycle">,
  { day, says }: { day: number; says?: "yes" | "no" | undefined },
): Set<string> {
  const { writes = [], usesTasks } = rowOf(place);
  let next = new Set(facts);
  for (const name of writes) {
    if (name === "draft")
      next.add(`draft${[...facts].filter((f) => f.startsWith(name)).length + 1}`);
    else if (name === "retro") next.add(`retro@${day}`);
    else next.add(name.endsWith("@") ? name + place.cycle : name);
    const about = { architecture: "ui", baseline: "testable" }[name];
    if (about === undefined) continue;
    next = without(next, [`${about}-yes`, `${about}-no`]);
    if (says) next.add(`${about}-${says}`);
  }
  if (usesTasks) {
    if (next.delete("todo")) next.add("done");
    if (next.delete("test-todo")) next.add("test-done");
  }
  return next;
}

export function withFact(facts: ReadonlySet<string>, fact: string): Set<string> {
  const whole = isPart(fact);
  const clean = without(facts, whole === undefined ? [] : (partsOf[whole] ?? []));
  return new Set([...clean, ...(whole === undefined ? [] : [whole]), fact]);
}
export const withoutFact = (facts: ReadonlySet<string>, fact: string): Set<string> =>
  without(facts, [fact, ...(partsOf[fact] ?? [])]);
const without = (facts: ReadonlySet<string>, gone: readonly string[]): Set<string> =>
  new Set([...facts].filter((fact) => !gone.includes(fact)));

export const driftSaid = (says: "yes" | "no" | undefined): string[] =>
  says === "yes" ? ["document-drift"] : says === "no" ? ["cicd-drift"] : [];

/** So many steps before this one, within the stretch that the project is in. */
export function backFrom(
  flow: string,
  step: string,
  entry: string | undefined,
  by: number,
): string | undefined {
  const steps = stepsOf(flow);
  const at = step === "done" ? steps.length : steps.indexOf(step);
  const to = steps[at - by];
  const number = Math.min(at + 1, steps.length);
  const part = (flows[flow]?.parts ?? []).find(
    ([from, until]) => number >= from && number <= until,
  );
  const first = Math.max(part?.[0] ?? 1, entry === undefined ? 0 : order(entry));
  return to === undefined || order(to) < first ? undefined : to;
}
