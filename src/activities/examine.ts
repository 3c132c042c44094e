/**
 * The doctor's rounds: every kind of damage has a finding that names the one command that mends
 * it. Examining changes nothing; mending keeps what it replaces.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { readConfig } from "../config.ts";
import { Event } from "../core/event.ts";
import { type Failure, type Result, succeed } from "../core/failure.ts";
import type { Finding } from "../core/finding.ts";
import { conflictSides } from "../core/flow/state-file.ts";
import { stateFileNames } from "../core/flow/state-names.ts";
import { placeIn } from "../core/flow/whereabouts.ts";
import type { Settings } from "../core/settings.ts";
import { found } from "../exec/find-program.ts";
import { type Detected, detectStack, settled, treeIn } from "../stack.ts";
import { hold, look, type Project } from "./hold.ts";
import { openFlow } from "./open-flow.ts";

export type Side = "ours" | "theirs";

export function examine(project: Project): Finding[] {
  const findings = [...machine(project), ...project.store.examine()];
  const broken = findings.some((finding) => finding.level === "error");
  if (!broken) findings.push(...events(project));
  for (const failure of stateFileFailures(project))
    findings.push(stateFileFinding(project, failure));
  const looked = look(project);
  if (looked.ok) {
    const { here, state } = looked.value;
    for (const correction of here.corrections) {
      findings.push({ code: "correction", level: "warning", message: correction, fix: "autodev" });
    }
    const { flow, step, name, status } = here.state;
    findings.push({
      code: "position",
      level: "ok",
      message: `${flow}, step ${step} ${name}, ${status} (from ${here.source}; ${Object.keys(state.decisions).length} decisions on record)`,
    });
  }
  return findings;
}

/** Does what `fix: autodev doctor --fix` promises; says what it did. */
export async function mend(project: Project, options: { take?: Side }): Promise<Result<string[]>> {
  const said: string[] = [];
  const repaired = await project.store.repair(project.world.holder("autodev doctor --fix"));
  if (!repaired.ok) return repaired;
  said.push(...repaired.value);
  if (!project.repository) return succeed(said);

  let replaced = false;
  for (const failure of stateFileFailures(project)) {
    const mended = await mendStateFile(project, failure, options.take);
    if (!mended.ok) return mended;
    said.push(...mended.value);
    replaced ||= mended.value.length > 0;
  }
  const looked = look(project);
  const stale = looked.ok && looked.value.here.verdict.is === "stale";
  if (!replaced && !stale) return succeed(said);

  // Opening writes the file anew: from the journal, from the side that was taken, or by a scan.
  const held = await hold(project, "autodev doctor --fix");
  if (!held.ok) return held;
  const nobody = { ask: async () => succeed(undefined), by: "nobody" };
  const opened = await openFlow(project, held.value, nobody);
  await held.value.release();
  if (!opened.ok && opened.failure.code !== "decision-required") return opened;
  const file = held.value.state.stateFile?.path;
  if (file) said.push(`${file} is written anew`);
  return succeed(said);
}

async function mendStateFile(
  project: Project,
  failure: Failure,
  take: Side | undefined,
): Promise<Result<string[]>> {
  const file = failure.file;
  if (!file || !settableAside.has(failure.code)) return succeed([]);
  const read = project.store.readProjection(file);
  const sides = read.ok && read.value !== undefined ? conflictSides(read.value) : undefined;
  if (sides && !take) return succeed([]);
  const opened = await project.store.open(project.world.holder("autodev doctor --fix"));
  if (!opened.ok) return opened;
  const session = opened.value;
  try {
    const at = project.world.now();
    const aside = sides ? await session.keepCopy(file, at) : await session.setAside(file, at);
    if (!aside.ok) return aside;
    const said = [`${file} is kept as it was at ${aside.value}`];
    if (sides && take) {
      const written = await session.writeProjection(file, sides[take], { durable: true });
      if (!written.ok) return written;
      said.push(`${file} holds ${take === "ours" ? "our" : "their"} side now`);
    }
    return succeed(said);
  } finally {
    await session.release();
  }
}

/** What is wrong with the bytes; what is wrong with the path is for a person to mend. */
const settableAside = new Set([
  "state-file-binary",
  "state-file-encoding",
  "state-file-too-large",
  "state-file-conflict",
  "state-file-duplicate",
  "state-file-no-position",
]);

function stateFileFailures(project: Project): Failure[] {
  const failures: Failure[] = [];
  for (const name of stateFileNames) {
    const file = `_docs/${name}`;
    const read = project.store.readProjection(file);
    if (!read.ok) failures.push(read.failure);
  }
  if (failures.length > 0) return failures;
  const looked = look(project);
  if (!looked.ok && looked.failure.code.startsWith("state-file")) failures.push(looked.failure);
  return failures;
}

function stateFileFinding(project: Project, failure: Failure): Finding {
  const { code, message, file, line, hint } = failure;
  const read = file ? project.store.readProjection(file) : undefined;
  const sides = read?.ok && read.value !== undefined ? conflictSides(read.value) : undefined;
  const both =
    sides && file
      ? `; ours: ${placeIn({ path: file, text: sides.ours })}; theirs: ${placeIn({ path: file, text: sides.theirs })}`
      : "";
  return {
    code,
    level: "error",
    message: message + both,
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line }),
    fix: settableAside.has(code)
      ? `autodev doctor --fix${sides ? " --take=ours" : ""}`
      : (hint ?? "autodev doctor --fix"),
  };
}

/** Records of ours that a present autodev would not write: seen before they surprise a fold. */
function events(project: Project): Finding[] {
  const whole = project.store.read({ whole: true });
  if (!whole.ok) return [];
  for (const { seq, events } of whole.value.after) {
    for (const [at, event] of events.entries()) {
      const parsed = Event.safeParse(event);
      if (parsed.success) continue;
      const type = String((event as { type?: unknown }).type);
      return [
        {
          code: "journal-event",
          level: "warning",
          message: `event ${seq + at} (${type}) is not of a form that this autodev knows; it is kept and passed over`,
          fix: "npm install --global autodev@latest",
        },
      ];
    }
  }
  return [];
}

// ── what the project is built with ─────────────────────────────────────────────────────────────

/** What a build here would find, going by the files as they lie; a build itself looks at a commit. */
export interface StackView {
  readonly language: string | null;
  readonly framework: string | null;
  readonly packageManager: string | null;
  readonly testFramework: string | null;
  readonly linter: string | null;
  readonly formatter: string | null;
  readonly setup: Omit<GateView, "name"> | null;
  readonly gates: readonly GateView[];
}

export interface GateView {
  readonly name: string;
  /** Null: it is skipped. */
  readonly command: string | null;
  /** Where the command comes from, or why there is none. */
  readonly why: string;
}

const configFile = ".autodev/config.yaml";

export function examineStack({ root }: Project): { stack: StackView; findings: Finding[] } {
  const config = readConfig(root);
  const { paths, read } = treeIn(root);
  const detected = detectStack(paths, read);
  const stack = viewOf(detected, config.ok ? config.value : {});
  const findings = config.ok ? [] : [configFinding(config.failure)];
  return { stack, findings: [...findings, ...stackFindings(stack)] };
}

const configFinding = ({ message, file, line, hint }: Failure): Finding => ({
  code: "config",
  level: "error",
  message,
  ...(file !== undefined && { file }),
  ...(line !== undefined && { line }),
  fix: hint ?? `mend ${configFile}`,
});

function viewOf(detected: Detected, settings: Settings): StackView {
  const { stack, gates, setup } = settled(detected, settings);
  const whyOf = (thing: string, own: unknown): string =>
    own === undefined
      ? (detected.because.find(({ what }) => what === thing)?.why ?? "")
      : `${configFile} says so`;
  return {
    language: stack.language,
    framework: stack.framework,
    packageManager: stack.package_manager,
    testFramework: stack.test_framework,
    linter: stack.linter,
    formatter: stack.formatter,
    setup: setup === undefined ? null : { command: setup, why: whyOf("setup", settings.setup) },
    gates: gates.map(({ name, command, reason }) => ({
      name,
      command,
      why: reason ?? whyOf(`gate ${name}`, settings.gates?.[name]),
    })),
  };
}

function stackFindings(stack: StackView): Finding[] {
  const { language, framework, packageManager, testFramework, linter, formatter } = stack;
  const parts = [framework, packageManager, testFramework, linter, formatter];
  const known = [...new Set(parts.filter((part) => part !== null))];
  const findings: Finding[] = [
    language === null
      ? { code: "stack", level: "note", message: "stack: no language was recognised" }
      : { code: "stack", level: "ok", message: `stack: ${[language, ...known].join(", ")}` },
  ];
  if (stack.setup !== null) {
    const { command, why } = stack.setup;
    findings.push({ code: "setup", level: "ok", message: `set-up: ${command} (${why})` });
  }
  for (const gate of stack.gates) findings.push(gateFinding(gate));
  const isUnchecked = stack.gates.every(({ command }) => command === null);
  if (isUnchecked && language !== null) {
    findings.push({
      code: "no-gates",
      level: "warning",
      message: "no gate can be run here: nothing would check what an agent did",
      fix: `add to ${configFile}: gates: { test: "<your command>" }`,
    });
  }
  return findings;
}

function gateFinding({ name, command, why }: GateView): Finding {
  if (command === null) {
    return { code: "gate", level: "note", message: `gate ${name} is skipped: ${why}` };
  }
  const message = `gate ${name}: ${command} (${why})`;
  const program = programOf(command);
  if (program === undefined || found(program, process.env["PATH"] ?? "") !== undefined) {
    return { code: "gate", level: "ok", message };
  }
  return {
    code: "gate-program",
    level: "warning",
    message: `${message}: ${program} is not on this machine`,
    fix: `install ${program}, or settle it in ${configFile}: gates: { ${name}: false }`,
  };
}

/** Undefined: it is the project's own, or the shell's. */
function programOf(command: string): string | undefined {
  const [, first = ""] = /^(?:[A-Za-z_]\w*=\S*\s+)*(\S+)/.exec(command) ?? [];
  return /^[\w.+-]+$/.test(first) && !builtins.has(first) ? first : undefined;
}

const builtins = new Set(["cd", "export", "set", "exit", "exec", "eval", "if", "for", "while"]);

// ── the machine ────────────────────────────────────────────────────────────────────────────────

function machine(project: Project): Finding[] {
  const findings: Finding[] = [];
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const nodeFits = major > 20 || (major === 20 && minor >= 19);
  findings.push({
    code: "node",
    level: nodeFits ? "ok" : "error",
    message: `Node ${process.versions.node}${nodeFits ? "" : " is too old: 20.19 or later is needed"}`,
    ...(!nodeFits && { fix: "install Node 20.19 or later" }),
  });
  const git = versionOf("git", /git version (\S+)/);
  findings.push({
    code: "git",
    level: git ? "ok" : "error",
    message: git ? `git ${git}` : "git is not on this machine",
    ...(!git && { fix: "install git" }),
  });
  if (process.platform === "linux") {
    const flock = versionOf("flock", /(\d[\d.]*)/);
    findings.push({
      code: "flock",
      level: flock === undefined ? "error" : "ok",
      message:
        flock === undefined
          ? "flock is not on this machine; nothing can be recorded without it"
          : `flock ${flock}`,
      ...(flock === undefined && { fix: "install util-linux" }),
    });
  }
  if (!project.repository) {
    findings.push({
      code: "no-repository",
      level: "warning",
      message: `${project.root} is not in a git repository; autodev keeps its memory in one`,
      fix: "git init",
    });
    return findings;
  }
  for (const folder of [project.repository.commonDir, path.join(project.root, "_docs")]) {
    const code = fs.existsSync(folder) ? refusesWrites(folder) : "";
    if (!code) continue;
    const file = path.relative(project.root, folder) || folder;
    const readOnly = code === "EROFS";
    findings.push({
      code: readOnly ? "read-only" : "not-writable",
      level: "error",
      message: readOnly
        ? `${file} is on a read-only file system: one can look, but nothing is recorded`
        : `${file} cannot be written by this user`,
      file,
      fix: readOnly
        ? `mount -o remount,rw "$(findmnt -nT ${file} -o TARGET)"`
        : `chmod u+rwx ${file}`,
    });
  }
  const free = freeMegabytes(project.repository.commonDir);
  if (free !== undefined && free < 50) {
    findings.push({
      code: "disk-full",
      level: free < 1 ? "error" : "warning",
      message: `${free} MB are free where the journal lies`,
      fix: "make room on the disk",
    });
  }
  return findings;
}

function versionOf(command: string, pattern: RegExp): string | undefined {
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const { stdout, error } = spawnSync(command, ["--version"], { encoding: "utf8", timeout: 5000 });
  return error ? undefined : (pattern.exec(stdout ?? "")?.[1] ?? "of an unknown version");
}

function refusesWrites(folder: string): string {
  try {
    fs.accessSync(folder, fs.constants.W_OK | fs.constants.X_OK);
    return "";
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : "";
  }
}

function freeMegabytes(folder: string): number | undefined {
  try {
    const { bavail, bsize } = fs.statfsSync(folder);
    return Math.floor((bavail * bsize) / 1_000_000);
  } catch {
    return undefined;
  }
}

/** A container's user may have no name. */
function userName(userInfo: () => { username: string }): string {
  try {
    return userInfo().username;
  } catch {
    return "";
  }
}

/** For a report that leaves the machine: no home, no name, nothing that looks like a secret. */
export function masked(text: string): string {
  const { homedir, userInfo, hostname } = process.getBuiltinModule("node:os");
  const own: [string, string][] = [
    [homedir(), "~"],
    [hostname(), "<host>"],
    [userName(userInfo), "<user>"],
  ];
  let safe = text;
  for (const [secret, mask] of own) {
    const whole = new RegExp(`(?<![\\w-])${secret.replace(/[^\w]/g, "\\$&")}(?![\\w-])`, "g");
    if (secret.length > 2 && secret !== "root") safe = safe.replace(whole, mask);
  }
  return safe
    .replace(/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, "<secret>")
    .replace(/\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}\b/g, "<mail>")
    .replace(
      /\b(sk|pk|ghp|gho|ghs|github_pat|glpat|xox[abp]|npm|AKIA)[-_]?[A-Za-z0-9_-]{12,}/g,
      "<secret>",
    )
    .replace(/\b(bearer|token|password|secret|api[-_]?key)(["'\s:=]+)[^\s"',}]+/gi, "$1$2<secret>");
}
