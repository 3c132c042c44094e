/** The files of a run that people may have touched: read, compared with the journal, taken over. */
import * as fs from "node:fs";
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import { compareRunFiles, type RunFilesFound } from "../core/plan/compare-run-files.ts";
import { isComplete, type PlanRun, phaseOf } from "../core/plan/progress.ts";
import { inconsistencies } from "../core/plan/read-run-files.ts";
import type { RunEvent, RunPhase } from "../core/plan/run-event.ts";
import { lookedUp } from "../store.ts";
import { type Asker, askOnce } from "./ask.ts";
import { renderingHash } from "./hold.ts";
import { configFile, phaseFile, renderedPhases, runFolder } from "./show-run.ts";

/** Phases that files of an earlier run, without a journal, say are complete. */
export async function importedPhases(
  asker: Asker,
  phases: readonly RunPhase[],
  said: string[],
): Promise<Result<readonly RunPhase[]>> {
  if (!fs.existsSync(path.join(asker.project.root, configFile))) return succeed(phases);
  const found = await readRunFiles(asker, phases, () => undefined);
  if (!found.ok) return found;
  const files = found.value.edited.map(({ says }) => says);
  const wrong = inconsistencies(files, phases).filter((line) => !line.includes("no file"));
  for (const line of wrong) said.push(line);
  const complete = new Set(
    files.flatMap((says) => (says.status === "complete" ? [says.phase_id] : [])),
  );
  if (complete.size > 0) said.push(`taken over from ${runFolder}: ${[...complete].join(", ")}`);
  return succeed(
    phases.map((phase) =>
      complete.has(phase.id)
        ? { ...phase, skipped: `complete in ${phaseFile(phase.id)} before the run` }
        : phase,
    ),
  );
}

/** A file that cannot be read is a question, never a guess. */
async function readRunFiles(
  asker: Asker,
  phases: readonly { readonly id: string }[],
  rendered: (id: string) => string | undefined,
): Promise<Result<RunFilesFound>> {
  const { project, held } = asker;
  for (;;) {
    const found = lookedUp(() =>
      compareRunFiles({
        phases,
        texts: readPhaseFiles(
          project.root,
          phases.map(({ id }) => id),
        ),
        fileOf: phaseFile,
        rendered,
        wasRendered: (id, text) =>
          project.store.everRendered(phaseFile(id), renderingHash(text, project.world)),
      }),
    );
    if (found.ok || found.failure.code !== "run-file-invalid") return found;
    const file = found.failure.file ?? runFolder;
    const chosen = await askOnce(asker, {
      kind: "run-file-invalid",
      subject: file,
      cycle: 1,
      cause: project.world.hash(found.failure.message).slice(0, 24),
      question: `STATE FILE VALIDATION FAILED: ${found.failure.message}`,
      options: [
        {
          key: "A",
          text: "Delete the corrupted state (it is kept in the rescue folder) and go on without it",
        },
        { key: "B", text: "Stop: I fix the file by hand" },
        { key: "C", text: "Stop: I start fresh with --fresh" },
      ],
      recommendation: "A",
      reason: "nothing is lost, and the file is written anew",
      blocks: "the run",
    });
    if (!chosen.ok) {
      const details = [...(found.failure.details ?? []), "", ...(chosen.failure.details ?? [])];
      return { ok: false, failure: { ...chosen.failure, details } };
    }
    if (chosen.value !== "A") return found;
    const aside = await held.setAside(file);
    if (!aside.ok) return aside;
  }
}

function readPhaseFiles(root: string, ids: readonly string[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const id of ids) {
    try {
      texts.set(id, fs.readFileSync(path.join(root, phaseFile(id)), "utf8"));
    } catch {
      // Not there: it is rendered anew.
    }
  }
  return texts;
}

/** What people changed in the phase files: theirs is imported, what is merely old is written anew. */
export async function handEdits(
  asker: Asker,
  run: PlanRun,
  said: string[],
): Promise<Result<{ events: RunEvent[]; stale: string[] }>> {
  const { held } = asker;
  const ids = run.order.map(({ id }) => id);
  const rendered = new Map(renderedPhases(run, ids).map((file, index) => [ids[index], file.text]));
  const found = await readRunFiles(asker, run.order, (id) => rendered.get(id));
  if (!found.ok) return found;
  const events: RunEvent[] = [];
  for (const { id, says } of found.value.edited) {
    const phase = phaseOf(run, id);
    const wasDone = phase !== undefined && isComplete(phase);
    if (says.status === "pending" && phase && phase.state.is !== "pending") {
      events.push({ type: "phase-reset", phase: id, reason: `set to pending in ${phaseFile(id)}` });
      said.push(`${phaseFile(id)} was set to pending by hand: the phase is done again`);
    } else if (says.status === "complete" && !wasDone) {
      if (!says.commit && says["skipped"] === undefined) {
        return fail(
          "run-file-invalid",
          `${phaseFile(id)} says complete, but has no record of a commit: who did it?`,
          {
            file: phaseFile(id),
            hint: `set "status" back, or add "skipped": "<reason>" if it was done elsewhere`,
          },
        );
      }
      events.push({
        type: "phase-skipped",
        phase: id,
        reason: `complete by hand in ${phaseFile(id)}`,
      });
      said.push(`${phaseFile(id)} was set to complete by hand: the phase is not run`);
    }
    const aside = await held.setAside(phaseFile(id));
    if (!aside.ok) return aside;
    said.push(`${phaseFile(id)} was edited: that version is kept at ${aside.value}`);
  }
  return succeed({
    events,
    stale: [...found.value.stale, ...found.value.edited.map(({ id }) => id)],
  });
}
