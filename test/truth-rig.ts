/**
 * What the tests of truth stand on: small projects whose tests Node runs by itself, agents that do
 * what a script says, and the receipts that a run leaves.
 */
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { expect } from "vitest";
import { hashIn, type PhaseFileView } from "./build-rig.ts";
import {
  makePlanProject,
  type PhaseText,
  type PlanProject,
  planFile,
  planText,
  projectAt,
} from "./plan-project.ts";
import { autodevIn, makeFolder, type Ran } from "./rig.ts";

// ── a project with tests ───────────────────────────────────────────────────────────────────────

/** One test for each name; those that begin with "fails" fail. */
export const testsOf = (...names: readonly string[]): string =>
  [
    'const test = require("node:test");',
    'const assert = require("node:assert");',
    'const { sum } = require("./sum.js");',
    ...names.map((name) => {
      const told = name.startsWith("fails") ? 3 : 2;
      return `test(${JSON.stringify(name)}, () => assert.equal(sum(1, 1), ${told}));`;
    }),
    "",
  ].join("\n");

export const nodeGate = "node --test";

export interface TestedShape {
  readonly phases?: readonly PhaseText[];
  readonly agent?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  /** The whole of `.autodev/config.yaml`, less the agent; `node --test` is the only gate otherwise. */
  readonly config?: string;
  /** The agent is shut in, as it is unless a project says otherwise. */
  readonly confined?: boolean;
  readonly name?: string;
  readonly root?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Committed as it is; an agent is chosen with `--agent=mine`. */
export function makeTested(shape: TestedShape = {}): PlanProject {
  const { phases = [{ id: "1", files: { "a.txt": "a" } }], agent, files = {}, confined } = shape;
  const project = makePlanProject({
    phases,
    ...(agent && { agent }),
    ...(shape.name !== undefined && { name: shape.name }),
    ...(shape.root !== undefined && { root: shape.root }),
    ...(shape.env && { env: shape.env }),
  });
  const settings = shape.config ?? `gates: { test: ${JSON.stringify(nodeGate)} }\n`;
  const shutIn = confined ? "" : ", confined: false";
  const agents = agent ? `agents: { mine: { command: 'sh "$PLAN_AGENT"'${shutIn} } }\n` : "";
  project.write(".autodev/config.yaml", `${settings}${agents}`);
  project.write("sum.js", "exports.sum = (a, b) => a + b;\n");
  for (const [file, text] of Object.entries(files)) project.write(file, text);
  project.commit("base");
  return project;
}

export const auto = [planFile, "--commit=auto"];
export const byAgent = [...auto, "--agent=mine"];

export { type PhaseText, type PlanProject, planFile, planText };

/** The one question that stands open is answered. */
export async function answer(project: PlanProject, letter: string): Promise<string> {
  const open = (await project.decisions()).filter(({ status }) => status === "open");
  expect(open).toHaveLength(1);
  const [decision] = open;
  const ran = await autodevIn(
    { cwd: project.root, env: project.env },
    "decide",
    decision?.id ?? "",
    letter,
  );
  expect(ran.code, ran.all).toBe(0);
  return decision?.question ?? "";
}

export const openQuestions = async (project: PlanProject): Promise<string[]> =>
  (await project.decisions())
    .filter(({ status }) => status === "open")
    .map(({ question }) => question);

// ── what a run leaves ──────────────────────────────────────────────────────────────────────────

export interface GateView {
  readonly passed: boolean | null;
  readonly skipped?: boolean;
  readonly command: string | null;
  readonly output_summary: string;
  readonly [key: string]: unknown;
}

export interface TruthView extends PhaseFileView {
  readonly quality_gates: Readonly<Record<string, GateView>>;
}

export const phaseIn = (project: PlanProject, id: string): TruthView =>
  JSON.parse(project.read(`.autobuild/phases/phase-${id}.json`)) as TruthView;

export const codesIn = (project: PlanProject, id: string): string[] =>
  (phaseIn(project, id).verification?.findings ?? []).map(({ code }) => code);

export const logOf = (project: PlanProject): string =>
  project.read(".autobuild/logs/execution.log").replace(/^\[\d{4}-[^\]]+Z\] /gm, "");

// ── receipts ───────────────────────────────────────────────────────────────────────────────────

export interface EvidenceView {
  readonly run: string;
  readonly phase: string;
  readonly onto: string;
  readonly tree: string;
  readonly previous: string | null;
  readonly [key: string]: unknown;
}

export const trailer = (project: PlanProject, commit: string, name: string): string[] =>
  project
    .git("log", "-1", `--format=%(trailers:key=Autobuild-${name},valueonly)`, commit)
    .split("\n")
    .filter((line) => line !== "");

export function evidenceOf(project: PlanProject, commit: string): EvidenceView {
  const [id = ""] = trailer(project, commit, "Evidence");
  return JSON.parse(project.git("cat-file", "blob", id)) as EvidenceView;
}

export interface AuditView {
  readonly ran: Ran;
  readonly holds: boolean;
  readonly commits: readonly {
    readonly commit: string;
    readonly ours: boolean;
    readonly holds?: boolean;
    readonly phases?: readonly string[];
    readonly findings?: readonly {
      readonly code: string;
      readonly level: string;
      readonly message: string;
    }[];
    readonly gates?: readonly { readonly name: string; readonly passed: boolean | null }[];
  }[];
}

/** `autodev audit … --json`, with trust in whatever it asks trust for. */
export async function audit(project: PlanProject, ...args: string[]): Promise<AuditView> {
  const ran = await tryAudit(project, ...args, "--json");
  return { ran, ...(JSON.parse(ran.out) as Omit<AuditView, "ran">) };
}

export async function tryAudit(project: PlanProject, ...args: string[]): Promise<Ran> {
  const call = (hash: string | undefined): Promise<Ran> => {
    const trust = hash === undefined ? [] : ["--trust-sha256", hash];
    return autodevIn(
      { cwd: project.root, env: project.env, timeout: 60_000 },
      "audit",
      ...args,
      ...trust,
    );
  };
  const like = project.read(".autodev/config.yaml");
  const first = await call(trusted.get(like));
  const hash = hashIn(first);
  if (first.code !== 3 || hash === undefined) return first;
  trusted.set(like, hash);
  return call(hash);
}

/** What was trusted in another test is likely to be what is asked for here. */
const trusted = new Map<string, string>();

/** Codes of what is wrong with the only commit. */
export const wrongWith = ({ commits }: AuditView): string[] =>
  (commits[0]?.findings ?? []).filter(({ level }) => level === "error").map(({ code }) => code);

/** A clone over the file protocol, as from anywhere: only branches come along. */
export function freshClone(project: PlanProject, ...options: readonly string[]): PlanProject {
  const target = path.join(makeFolder("clone"), "project");
  execFileSync("git", ["clone", "--quiet", ...options, `file://${project.root}`, target]);
  return projectAt(fs.realpathSync(target));
}
