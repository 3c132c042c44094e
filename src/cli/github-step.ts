/**
 * A build as a step of GitHub Actions: a summary, outputs and annotations, by the files and the
 * commands that its runner reads. Only where `--github` asks for it.
 *
 *  1. Between `begin` and `end` the runner obeys no line of the log, whoever wrote it: it stops at a
 *     word that nobody can know, and goes on at the same.
 *  2. A value of an output ends at a line that is in no value.
 */
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { openDecisions } from "../core/evolve.ts";
import { type Failure, fail, type Result, succeed } from "../core/failure.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import { openPlan, openProject, readState, shown } from "../project.ts";
import { writeError } from "./output.ts";
import { type Reported, stepSummary } from "./render/report.ts";

/** How a build ended, as far as it knows itself. */
export type Ended = Omit<Reported, "decisions">;

export interface GitHubStep {
  end(told: Ended, code: number): void;
}

export function beginStep(cwd: string, env = process.env): Result<GitHubStep> {
  const { GITHUB_OUTPUT: outputs, GITHUB_STEP_SUMMARY: summary } = env;
  if (!outputs || !summary) {
    return fail("usage", "--github is for a step of GitHub Actions, and this is none", {
      hint: "GITHUB_OUTPUT and GITHUB_STEP_SUMMARY name its files",
    });
  }
  const word = randomUUID();
  writeError(`::stop-commands::${word}\n`);
  return succeed({
    end(told, code) {
      const state = readState(openProject(cwd));
      const reported = { ...told, decisions: state.ok ? openDecisions(state.value) : [] };
      fs.appendFileSync(summary, `${stepSummary(reported)}\n`);
      fs.appendFileSync(outputs, outputText(outputsOf(reported, code)));
      // Whatever came before, a command begins a line.
      writeError(`\n::${word}::\n${annotations(reported, cwd).join("")}`);
    },
  });
}

function outputsOf({ run, failure, decisions, pullRequest }: Reported, code: number): Outputs {
  return {
    status: run ? wordFor(run) : code === 3 ? "decision" : "failed",
    "exit-code": String(code),
    error: failure?.code ?? "",
    run: run?.id ?? "",
    commits: run?.squash ?? run?.landed.map(({ commit }) => commit).join(" ") ?? "",
    decisions: decisions.map(({ id }) => id).join(" "),
    "pr-url": pullRequest ?? "",
  };
}
type Outputs = Readonly<Record<string, string>>;

const wordFor = ({ ended = "complete" }: PlanRun): string =>
  ended === "asking" ? "decision" : ended;

const outputText = (outputs: Outputs): string =>
  Object.entries(outputs)
    .map(([name, value]) => {
      const end = randomUUID();
      return `${name}<<${end}\n${value}\n${end}\n`;
    })
    .join("");

/** A step shows ten. */
const mostAnnotations = 10;

function annotations({ run, failure, decisions }: Reported, cwd: string): string[] {
  const errors = failure?.code === "plan-invalid" ? planErrors(cwd, failure) : [];
  const failed = (run?.phases ?? []).flatMap((phase, at) =>
    phase.state.is === "failed"
      ? [{ title: `Phase ${run?.order[at]?.written}`, message: phase.state.error.message }]
      : [],
  );
  const asked = decisions.map(({ question, id, recommendation }) => ({
    title: "A decision is required",
    message: `${question} (autodev decide ${id} ${recommendation}; the summary has the options)`,
  }));
  const refused = failure && errors.length === 0 ? [{ title: failure.code, ...failure }] : [];
  return [...errors, ...refused, ...failed, ...asked].slice(0, mostAnnotations).map(annotation);
}

/** Each with its own line: a failure names the first. */
function planErrors(cwd: string, { file = "" }: Failure): Annotated[] {
  const opened = openPlan(openProject(cwd).root, file);
  const errors = opened.ok ? opened.value.compiled.errors : [];
  return errors.map((error) => ({ title: error.code, ...error }));
}

interface Annotated {
  readonly title: string;
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly hint?: string;
}

function annotation({ title, message, file, line, hint }: Annotated): string {
  const places = [
    ...(file === undefined ? [] : [`file=${property(file)}`]),
    ...(line === undefined ? [] : [`line=${line}`]),
    `title=${property(title)}`,
  ];
  return `::error ${places.join(",")}::${data(hint === undefined ? message : `${message}: ${hint}`)}\n`;
}

const data = (text: string): string => shown(text).replaceAll("%", "%25").slice(0, 4000);
const property = (text: string): string => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
