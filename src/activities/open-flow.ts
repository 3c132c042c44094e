/** Carries out the moves that come before a flow goes on (see core/flow/opening.ts). */
import { readConfig } from "../config.ts";
import { type Answer, type Decision, decisionBlock, type Question } from "../core/decision.ts";
import { openDecisions } from "../core/evolve.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import { effectsOf } from "../core/flow/effects.ts";
import { type Migration, planMigration } from "../core/flow/migration.ts";
import { openingKinds, openingMove } from "../core/flow/opening.ts";
import { readPosition } from "../core/flow/position.ts";
import { stepKinds } from "../core/flow/questions.ts";
import { currentForm, type Form, renderStateFile } from "../core/flow/render.ts";
import { parseStateFile } from "../core/flow/state-file.ts";
import { moveFile } from "../git/move-file.ts";
import { lookedUp } from "../store.ts";
import { adoption, type Held, type Look, type Project } from "./hold.ts";

/** Asks a person, or does not: undefined means that nobody is there to answer. */
export type Ask = (
  decision: Question & { id: string },
  /** An answer that came from elsewhere meanwhile: it ends the asking. */
  elsewhere: () => Answer | undefined,
  /** To be called when it comes to that: a person is wanted. */
  wanted?: () => void,
) => Promise<Result<string | undefined>>;

export interface Opened {
  readonly look: Look;
  readonly said: readonly string[];
}

export async function openFlow(
  project: Project,
  held: Held,
  options: { ask: Ask; by: string },
): Promise<Result<Opened>> {
  const said: string[] = [];
  const asked = new Set<string>();
  const configured = await applyConfig(project, held);
  if (!configured.ok) return configured;
  for (;;) {
    const looked = await held.look();
    if (!looked.ok) return looked;
    const { here } = looked.value;
    const { check } = looked.value;
    const move = openingMove(held.state, here, project.world.hash, {
      ...(check && { check }),
      ...(project.flows && { flows: project.flows }),
    });
    switch (move.is) {
      case "go-on": {
        const lapsed = await withdrawLapsed(held);
        if (!lapsed.ok) return lapsed;
        const corrections = [...new Set([...held.noticed, ...here.corrections])];
        return succeed({ look: { ...looked.value, here: { ...here, corrections } }, said });
      }
      case "create": {
        const { state } = move;
        const text = renderStateFile(undefined, state);
        if (!text.ok) return text;
        const created = await held.record(
          adoption({ ...here, state }, "created", "_docs/_autodev_state.md", text.value),
          ...(move.then ? [move.then] : []),
        );
        if (!created.ok) return created;
        const { flow, step, name } = created.value.flow ?? state;
        said.push(`created _docs/_autodev_state.md: ${flow}, step ${step} ${name}`);
        break;
      }
      case "move": {
        const moved = await held.record(move.event);
        if (!moved.ok) return moved;
        said.push(move.line);
        break;
      }
      case "keep-one": {
        const aside = await held.setAside(move.drop);
        if (!aside.ok) return aside;
        said.push(`kept ${move.keep}; ${move.drop} is now at ${aside.value}`);
        const kept = await adoptKept(held, move.keep);
        if (!kept.ok) return kept;
        break;
      }
      case "migrate": {
        const migrated = await migrate(project, held, currentForm);
        if (!migrated.ok) return migrated;
        said.push(...migrated.value.said);
        break;
      }
      case "ask": {
        // An answer always leads somewhere else; should it not, a loop must not fill the journal.
        if (asked.has(move.id)) throw new Error(`the answer to ${move.id} changed nothing`);
        asked.add(move.id);
        const answered = await put(project, held, move.id, move.question, options);
        if (!answered.ok) return answered;
        said.push(...answered.value);
      }
    }
  }
}

/** What the settings change about the files is recorded, so that the fold renders them alike. */
async function applyConfig(project: Project, held: Held): Promise<Result<unknown>> {
  const config = readConfig(project.root);
  if (!config.ok) return config;
  const sections = config.value.state?.sections ?? "pointer";
  if ((held.state.sections ?? "pointer") === sections) return succeed(undefined);
  return held.record({ type: "sections-chosen", sections });
}

/** After one of two files was set aside, the other is the truth, whatever it was before. */
async function adoptKept(held: Held, keep: string): Promise<Result<unknown>> {
  const looked = await held.look();
  if (!looked.ok) return looked;
  const { here } = looked.value;
  const file = here.files.find((each) => each.path === keep);
  if (!file || (here.verdict.is === "as-recorded" && held.state.stateFile?.path === keep)) {
    return succeed(undefined);
  }
  const because = here.verdict.is === "to-adopt" ? here.verdict.because : "imported";
  return held.record(adoption(here, because, file.path, file.text));
}

/** Puts a decision on record before it is shown, so that a crash never asks it a second time. */
export async function put(
  project: Project,
  held: Held,
  id: string,
  question: Question,
  options: { ask: Ask; by: string },
): Promise<Result<string[]>> {
  const known = held.state.decisions[id];
  if (!known || known.withdrawn !== undefined) {
    const asked = await held.record({
      type: "decision-asked",
      decision: { ...plain(question), id, askedAt: project.world.now() },
    });
    if (!asked.ok) return asked;
  }
  const answers = lookedUp(() => succeed(project.store.answers([id])));
  if (!answers.ok) return answers;
  const given = answers.value.get(id);
  const chosen = given
    ? succeed(given.key)
    : await options.ask({ ...question, id }, () => project.store.answers([id]).get(id));
  if (!chosen.ok) return chosen;
  if (chosen.value === undefined) {
    return fail("decision-required", `a decision is open: ${question.question}`, {
      hint: `autodev decide ${id} ${question.recommendation}`,
      details: decisionBlock(question),
    });
  }
  const mine = { key: chosen.value, by: options.by, at: project.world.now() };
  const stands = await project.store.answer(id, mine);
  if (!stands.ok) return stands;
  const { key, by } = stands.value;
  const recorded = await held.record(
    { type: "decision-answered", id, ...stands.value },
    ...effectsOf(held.state, question, key),
  );
  if (!recorded.ok) return recorded;
  const second = !given && (key !== mine.key || by !== mine.by);
  return succeed(
    second ? [`${id} was answered before: ${key} by ${by}; the first answer stands`] : [],
  );
}

/** Questions that nobody has to answer any more, because what raised them is gone. */
async function withdrawLapsed(held: Held): Promise<Result<unknown>> {
  const { flow } = held.state;
  // What was asked about a step that the flow has left, or about the cycle before, is asked no more.
  const isOver = ({ kind, subject, cycle }: Decision): boolean =>
    stepKinds.includes(kind) &&
    (subject !== `${flow?.flow} ${flow?.step}` || cycle !== flow?.cycle);
  const lapsed = openDecisions(held.state).filter(
    (decision) => openingKinds.includes(decision.kind) || isOver(decision),
  );
  if (lapsed.length === 0) return succeed(undefined);
  return held.record(
    ...lapsed.map(({ id }) => ({
      type: "decision-withdrawn" as const,
      id,
      reason: "the question no longer arises",
    })),
  );
}

const plain = (
  question: Question,
): Omit<Decision, "id" | "askedAt" | "answer" | "withdrawn" | "options" | "facts"> & {
  options: { key: string; text: string; notes?: string[] }[];
  facts?: string[];
} => {
  const { facts, ...rest } = question;
  return {
    ...rest,
    ...(facts && { facts: [...facts] }),
    options: question.options.map(({ notes, ...option }) => ({
      ...option,
      ...(notes && { notes: [...notes] }),
    })),
  };
};

/** Renames first (an old form under the new name is read all the same), then records and writes. */
export async function migrate(project: Project, held: Held, to: Form): Promise<Result<Migrated>> {
  const looked = await held.look();
  if (!looked.ok) return looked;
  const { here, rendered } = looked.value;
  const planned = planMigration(here, rendered, to);
  if (!planned.ok) return planned;
  const migration = planned.value;
  const { path, text, generation } = migration.to;
  if (!migration.changed) return succeed({ migration, said: [] });
  const said: string[] = [];
  if (path !== migration.from.path && project.repository) {
    const moved = await moveFile(project.repository, migration.from.path, path);
    if (!moved.ok) return moved;
    said.push(`renamed ${migration.from.path} to ${path}`);
  }
  const parsed = parseStateFile(text, path);
  if (!parsed.ok) return parsed;
  const { corrections, ...reading } = readPosition(parsed.value, path);
  // What the older form has no place for stays in the journal.
  const state = { ...reading.state, cycle: here.state.cycle, skipped: here.state.skipped };
  const migrated = await held.record(
    adoption({ ...here, ...reading, state, corrections }, "migrated", path, text),
  );
  if (!migrated.ok) return migrated;
  const after = await held.look();
  if (!after.ok) return after;
  if (after.value.here.verdict.is !== "as-recorded") {
    return fail("disk", `${path} could not be written anew; its bytes are as they were`, {
      file: path,
      hint: "autodev doctor",
    });
  }
  said.push(`${path} is of generation ${generation} now`);
  for (const lost of migration.lost) said.push(keptInJournal(lost, generation));
  return succeed({ migration, said });
}

export interface Migrated {
  readonly migration: Migration;
  readonly said: readonly string[];
}

export const keptInJournal = (lost: string, generation: number): string =>
  `${lost} has no place in generation ${generation}; the journal keeps it`;
