/**
 * The run that every fault is thrown at: twelve transitions over two sessions, with a decision
 * asked and answered, a transition of several events, retries and a rest.
 *
 *   node canonical.cjs <root>            does what is left of the twelve, `ack <n>` after each
 *   node canonical.cjs <root> --verify   prints what the store holds and whether it is sound
 *   node canonical.cjs <root> --mend     the same, goes on to the end, and prints it once more
 */
import { writeSync } from "node:fs";
import { decisionId } from "../src/core/decision.ts";
import type { Event } from "../src/core/event.ts";
import { evolve, nothingYet, renderedStateFile } from "../src/core/evolve.ts";
import type { Result } from "../src/core/failure.ts";
import { renderStateFile } from "../src/core/flow/render.ts";
import { flowStateAt } from "../src/core/flow/state.ts";
import type { Project } from "../src/project.ts";
import { adoption, eventsOf, type Held, hold, look, openProject } from "../src/project.ts";
import { sha256 } from "../src/stores/file.ts";

const question = {
  kind: "torture",
  subject: "canonical",
  cycle: 1,
  cause: "the fourth transition",
  question: "Go on?",
  options: [
    { key: "A", text: "Yes" },
    { key: "B", text: "No" },
  ],
  recommendation: "A",
  reason: "there is work to do",
  blocks: "nothing",
};
const id = decisionId(question, sha256);
const at = "2026-01-01T00:00:00.000Z";

const start = flowStateAt({
  flow: "greenfield",
  step: "1",
  name: "Problem",
  status: "not_started",
  subStep: { phase: 0, name: "awaiting-invocation", detail: "" },
  retryCount: 0,
  cycle: 1,
});

const sub = (phase: number, name: string): Event => ({
  type: "sub-step-reported",
  subStep: { phase, name, detail: `after "${name}"` },
});

function created(): Event {
  const text = renderStateFile(undefined, start);
  if (!text.ok) throw new Error(text.failure.message);
  return adoption(
    {
      source: "scan",
      state: start,
      generation: 3,
      variant: 13,
      corrections: [],
      verdict: { is: "nothing" },
      bothNames: false,
      files: [],
    },
    "created",
    "_docs/_autodev_state.md",
    text.value,
  );
}

export const transitions: readonly (readonly Event[])[] = [
  [created()],
  [{ type: "step-started", step: "1", name: "Problem" }],
  [sub(1, "gather")],
  [{ type: "decision-asked", decision: { ...question, id, askedAt: at } }],
  [{ type: "decision-answered", id, key: "A", by: "somebody", at }],
  [sub(2, "write-down")],
  [{ type: "step-retried", reason: "a | pipe and\na line break" }],
  [
    { type: "step-completed", outcome: "problem written" },
    { type: "step-entered", flow: "greenfield", step: "2", name: "Research", cycle: 1 },
  ],
  [{ type: "session-ended", reason: "session boundary", notes: "half way" }],
  [{ type: "step-started", step: "2", name: "Research" }],
  [{ type: "blocker-raised", text: "no network" }],
  [{ type: "tracker-chosen", tracker: "local" }],
];

/** The session ends and a new one begins before this one. */
const secondSessionFrom = 7;

const typesOf = (events: readonly { type: string }[]): string =>
  events.map((event) => event.type).join("+");

/** How many of the twelve are in the history, and whether anything else is. */
export function progressOf(
  project: Project,
  whole = project.store.read({ whole: true }),
): { done: number; problems: string[] } {
  if (!whole.ok) return { done: 0, problems: [whole.failure.message] };
  const problems: string[] = [];
  let done = 0;
  for (const transition of whole.value.after) {
    const expected = transitions[done];
    if (!expected || typesOf(transition.events) !== typesOf(expected)) {
      problems.push(`transition ${transition.seq} is ${typesOf(transition.events)}`);
      break;
    }
    done++;
  }
  return { done, problems };
}

export async function perform(
  project: Project,
  acknowledge: (n: number) => void,
): Promise<Result<void>> {
  let done = 0;
  // Also when nothing is left to record: opening puts right what a fault left of the files.
  for (let first = true; first || done < transitions.length; first = false) {
    const held = await hold(project, "canonical run");
    if (!held.ok) return held;
    const whole = project.store.read({ whole: true });
    if (!whole.ok) return whole;
    done = progressOf(project, whole).done;
    const until = done < secondSessionFrom ? secondSessionFrom : transitions.length;
    for (; done < until; done++) {
      const recorded = await one(project, held.value, done);
      if (!recorded.ok) return recorded;
      acknowledge(done + 1);
    }
    const released = await held.value.release();
    if (!released.ok) return released;
  }
  return { ok: true, value: undefined };
}

async function one(project: Project, held: Held, n: number): Promise<Result<unknown>> {
  const events = transitions[n] as readonly Event[];
  const [first] = events;
  if (first?.type === "decision-answered") {
    const { key, by } = first;
    const stands = await project.store.answer(first.id, { key, by, at });
    if (!stands.ok) return stands;
  }
  return held.record(...events);
}

/** The snapshot, the whole journal and the file must tell one story. */
export function verify(project: Project): {
  transitions: number;
  doubled: number;
  problems: string[];
  position: string;
} {
  const whole = project.store.read({ whole: true });
  const { done, problems } = progressOf(project, whole);
  const looked = look(project);
  const quick = project.store.read();
  if (!looked.ok) problems.push(`look: ${looked.failure.message}`);
  let position = "";
  if (looked.ok && whole.ok && quick.ok) {
    const folded = whole.value.after.flatMap(eventsOf).reduce(evolve, nothingYet);
    const { snapshot, after } = quick.value;
    const resumed = after.flatMap(eventsOf).reduce(evolve, snapshot?.state ?? nothingYet);
    if (JSON.stringify(folded) !== JSON.stringify(resumed)) {
      problems.push("the snapshot and the journal disagree");
    }
    const verdict = looked.value.here.verdict;
    const first = whole.value.head.seq === 0;
    if (verdict.is === "to-adopt")
      problems.push(`the state file holds bytes that we never rendered`);
    if (verdict.is === "nothing" && !first) problems.push("history without a position");
    const file = renderedStateFile(folded);
    position = JSON.stringify({ ...folded, file: file?.text });
  }
  const doubled = whole.ok ? doubledIn(whole.value.after.map(({ events }) => typesOf(events))) : 0;
  return { transitions: done, doubled, problems, position };
}

/** How many are there more often than the run has them. */
function doubledIn(found: readonly string[]): number {
  const wanted = transitions.map(typesOf);
  const times = (list: readonly string[], type: string): number =>
    list.filter((each) => each === type).length;
  return [...new Set(found)].reduce(
    (sum, type) => sum + Math.max(0, times(found, type) - Math.max(1, times(wanted, type))),
    0,
  );
}

async function main(root: string, flag: string | undefined): Promise<number> {
  let clock = Date.parse(at);
  const project = openProject(root, {
    now: () => new Date(clock).toISOString(),
    hash: sha256,
    uuid: () => "00000000-0000-4000-8000-000000000000",
    showEvery: 0,
    holder: (command) => ({ pid: process.pid, host: "torture", since: at, command }),
  });
  if (flag === "--verify") {
    writeSync(1, `${JSON.stringify(verify(project))}\n`);
    return 0;
  }
  clock += 1000;
  if (flag === "--mend") {
    const found = verify(project);
    const went = await perform(project, () => {});
    const refused = went.ok ? undefined : went.failure.message;
    writeSync(1, `${JSON.stringify({ found, refused, end: verify(project) })}\n`);
    return 0;
  }
  const performed = await perform(project, (n) => writeSync(1, `ack ${n}\n`));
  if (performed.ok) return 0;
  writeSync(2, `${performed.failure.code}: ${performed.failure.message}\n`);
  return 1;
}

const [root, flag] = process.argv.slice(2);
if (root && process.argv[1]?.includes("canonical-run")) {
  void main(root, flag).then((code) => {
    process.exitCode = code;
  });
}
