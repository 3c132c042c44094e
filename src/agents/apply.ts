/**
 * The agent that needs no model: it performs phases that spell out what they want, and refuses all
 * others by naming what is missing. It guesses nothing, and it cannot be talked into anything: the
 * brief's text is not read, only the phase as the plan's reader understood it.
 *
 * 1. Nothing is touched before everything is known to be spelled out, allowed and trusted.
 * 2. No path leaves the worktree, whatever links lie in it; git's and our own folders are closed.
 * 3. The plan is the authority: what is there with other content is replaced, and that is said.
 */
import { randomUUID } from "node:crypto";
import type { Stats } from "node:fs";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import type { Agent, AgentEvent, AgentOutcome, AgentRun, Brief } from "../agent.ts";
import { applyDiff } from "../core/plan/apply-diff.ts";
import { commitMessageFor } from "../core/plan/commit-message.ts";
import type { ErrorType, PhaseError } from "../core/plan/phase-error.ts";
import type { Phase, Place, SpelledCommand } from "../core/plan/plan.ts";
import type { AgentResult } from "../core/plan/result.ts";
import { type FileStep, spelledOut } from "../core/plan/spelled-out.ts";
import type { exec, Trusted } from "../exec.ts";

export interface ApplyDeps {
  phase(id: string): Phase | undefined;
  /**
   * The approved form of a block of commands; undefined: nobody has approved it. A block is one
   * script, so whoever mints it sees to it that its first failure ends it (`set -e`).
   */
  shell(text: string): Trusted | undefined;
  readonly exec: typeof exec;
}

export const createApplyAgent = (deps: ApplyDeps): Agent => ({
  name: "apply",
  async run(brief, run) {
    try {
      return await perform(deps, brief, { ...run, emit: quietly(run) });
    } catch (error) {
      return failed(errorFrom(error));
    }
  },
});

async function perform(deps: ApplyDeps, brief: Brief, run: AgentRun): Promise<AgentOutcome> {
  const began = performance.now();
  if (isStopped(run)) return { is: "stopped" };
  const phase = deps.phase(brief.phase);
  if (!phase) return failed(invalid(`the plan has no phase ${brief.phase}`));
  const { steps, commands, missing } = spelledOut(phase);
  const refusal = refusalOf(phase, missing, steps);
  if (refusal) return failed(refusal);
  const scripts: { command: SpelledCommand; trusted: Trusted }[] = [];
  for (const command of commands) {
    const trusted = deps.shell(command.text);
    if (!trusted) return failed(untrusted(command));
    scripts.push({ command, trusted });
  }

  const root = await fs.realpath(run.cwd);
  const changes = new Map<string, Change>();
  for (const step of steps) {
    if (isStopped(run)) return { is: "stopped" };
    const change = await performStep(root, step, run.emit);
    if (typeof change === "object") return failed(change);
    if (change === undefined) continue;
    note(changes, step.path, change);
    run.emit({ type: "file", path: step.path, change });
  }
  for (const { command, trusted } of scripts) {
    const left = run.timeoutMs - (performance.now() - began);
    const outcome = await runScript(deps, command, trusted, { ...run, timeoutMs: left });
    if (outcome) return outcome;
  }
  return { is: "done", result: resultOf(phase, brief, changes) };
}

type Change = "create" | "modify" | "delete";

const isStopped = ({ signal, killNow }: AgentRun): boolean => signal.aborted || killNow.aborted;

/** A display that fails is no reason to fail. */
const quietly =
  (run: AgentRun) =>
  (event: AgentEvent): void => {
    try {
      run.emit(event);
    } catch {
      // It has its own ways to complain.
    }
  };

// ── Refusals ────────────────────────────────────────────────────────────────────────────────

const invalid = (message: string, details?: string): PhaseError => ({
  type: "plan_invalid",
  message,
  ...(details === undefined ? {} : { details }),
});

const failed = (error: PhaseError): AgentOutcome => ({ is: "failed", error });

function refusalOf(
  phase: Phase,
  missing: readonly string[],
  steps: readonly FileStep[],
): PhaseError | undefined {
  const closed = steps.flatMap((step) => {
    const why = forbidden(step.path);
    return why === undefined ? [] : [`${named(step)} ${why}`];
  });
  const reasons = [...missing, ...closed];
  const [first, ...more] = reasons;
  if (first === undefined) return undefined;
  if (more.length === 0) return invalid(first);
  const message = `${reasons.length} things of phase ${phase.written} cannot be done as they are written: ${first}; …`;
  return invalid(message, reasons.join("\n"));
}

const untrusted = (command: SpelledCommand): PhaseError =>
  invalid(`\`${titleOf(command.text)}\` (${at(command.place)}) is not trusted`, command.text);

const at = ({ file, line }: Place): string => `${file}:${line}`;
const named = (step: FileStep): string => `${step.path} (${at(step.place)})`;

/** What the system says of a path that is the plan's fault is the plan's error. */
function errorFrom(error: unknown, step?: FileStep): PhaseError {
  const text = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const isPlans = step !== undefined && /^(?:ENAMETOOLONG|ENOTDIR|EISDIR|EINVAL|ELOOP)$/.test(code);
  return {
    type: isPlans ? "plan_invalid" : "agent_crash",
    message: step ? `${named(step)} cannot be written: ${code || text}` : text,
    ...(step ? { details: text } : {}),
  };
}

// ── Where a path leads ──────────────────────────────────────────────────────────────────────

/** Why no phase may touch that path; undefined: it may. */
function forbidden(file: string): string | undefined {
  if (/[\u0000-\u001f\u007f]/.test(file)) return "has control characters in its name";
  if (/^(?:[/~]|[A-Za-z]:)/.test(file)) return "is not relative to the repository";
  if (file.endsWith("/") || file === "" || file === ".") return "is a folder, not a file";
  const segments = file.split("/");
  if (segments.includes("..")) return "leads out of the repository";
  const plain = segments.filter((each) => each !== "" && each !== ".").map(asFileSystemsSeeIt);
  if (plain.some((each) => each === ".git" || /^git~\d+$/.test(each))) return "belongs to git";
  if (/^\.auto(?:build|dev)$/.test(plain[0] ?? "")) return "belongs to autodev";
  return undefined;
}

/** Some take .GIT, `.git. `, `.git::$INDEX_ALLOCATION` and .g<invisible>it for .git. */
const asFileSystemsSeeIt = (segment: string): string =>
  segment
    .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
    .toLowerCase()
    .replace(/:.*$/, "")
    .replace(/[. ]+$/, "");

type Target =
  | { readonly is: "absent"; readonly file: string }
  | { readonly is: "file"; readonly file: string; readonly mode: number }
  | { readonly is: "refused"; readonly why: string };

/**
 * Follows the path link by link; each of them has to lead to where it could have been written
 * without one. `last`: whether a link at the end is followed too, or is itself what is meant.
 */
async function follow(root: string, step: FileStep, last: "follow" | "keep"): Promise<Target> {
  const segments = step.path.split("/").filter((each) => each !== "" && each !== ".");
  let folder = root;
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    let here = path.join(folder, segment);
    let stat = await lookAt(here);
    if (!stat) return { is: "absent", file: path.join(here, ...segments.slice(index + 1)) };
    if (stat.isSymbolicLink() && !(isLast && last === "keep")) {
      const real = await fs.realpath(here).catch(() => undefined);
      if (real === undefined)
        return { is: "refused", why: "goes through a link that leads nowhere" };
      const inside = path.relative(root, real);
      const isOut =
        inside === ".." || inside.startsWith(`..${path.sep}`) || path.isAbsolute(inside);
      if (isOut) return { is: "refused", why: "leads out of the repository by a link" };
      const why = inside === "" ? undefined : forbidden(inside.replaceAll(path.sep, "/"));
      if (why !== undefined) return { is: "refused", why: `${why}, by a link` };
      here = real;
      stat = await fs.lstat(real);
    }
    if (isLast) {
      if (stat.isDirectory()) return { is: "refused", why: "is a folder, not a file" };
      if (!stat.isFile() && last === "follow") return { is: "refused", why: "is not a file" };
      return { is: "file", file: here, mode: stat.mode & 0o777 };
    }
    if (!stat.isDirectory()) return { is: "refused", why: `is below ${segment}, which is a file` };
    folder = here;
  }
  return { is: "refused", why: "is a folder, not a file" };
}

async function lookAt(file: string): Promise<Stats | undefined> {
  try {
    return await fs.lstat(file);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

// ── Files ───────────────────────────────────────────────────────────────────────────────────

/** What happened to the file; undefined: it was right before; an object: why it cannot be. */
async function performStep(
  root: string,
  step: FileStep,
  emit: AgentRun["emit"],
): Promise<Change | undefined | PhaseError> {
  try {
    const target = await follow(root, step, step.does === "delete" ? "keep" : "follow");
    if (target.is === "refused") return invalid(`${named(step)} ${target.why}`);
    const say = (what: string): void => emit({ type: "text", text: `${step.path} ${what}` });
    if (step.does === "delete") {
      if (target.is === "absent")
        return invalid(`${named(step)} is to be deleted, and is not there`);
      await fs.unlink(target.file);
      return "delete";
    }
    const mustExist = step.does === "write" ? step.mustExist : step.onto === "file";
    if (target.is === "absent" && mustExist) {
      return invalid(`${named(step)} is to be modified, and is not there`);
    }
    const before = target.is === "file" ? await fs.readFile(target.file) : undefined;
    const after = step.does === "write" ? contentOf(step.text, before) : patched(step, before);
    if (typeof after === "object") return after;
    const bytes = Buffer.from(after, "utf8");
    if (before?.equals(bytes)) {
      say("is already as the plan wants it");
      return undefined;
    }
    if (before && isWhole(step)) say("was there with other content: replaced, as the plan says");
    await replace(target.file, bytes, target.is === "file" ? target.mode : undefined);
    return before ? "modify" : "create";
  } catch (error) {
    return errorFrom(error, step);
  }
}

/** The plan says all that the file holds, and did not expect it to be there. */
const isWhole = (step: FileStep): boolean =>
  step.does === "write" ? !step.mustExist : step.does === "patch" && step.onto === "nothing";

/** A block's text as a file: with a final line end, and with those that the file has had. */
function contentOf(text: string, before: Buffer | undefined): string {
  const lines = text.replace(/\r\n?/g, "\n");
  const whole = lines === "" || lines.endsWith("\n") ? lines : `${lines}\n`;
  return before && hasOnlyCrlf(before) ? whole.replaceAll("\n", "\r\n") : whole;
}

function hasOnlyCrlf(bytes: Buffer): boolean {
  const text = bytes.toString("latin1");
  return text.includes("\r\n") && !/(?<!\r)\n/.test(text);
}

function patched(
  step: Extract<FileStep, { does: "patch" }>,
  before: Buffer | undefined,
): string | PhaseError {
  let text = "";
  try {
    const bytes = step.onto === "nothing" ? undefined : before;
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return invalid(`${named(step)} is to be modified, and is not text in UTF-8`);
  }
  for (const [index, diff] of step.diffs.entries()) {
    const result = applyDiff(text, diff, step.path);
    if (result.is === "applied") text = result.text;
    if (result.is === "misfit") {
      const which =
        step.diffs.length > 1 ? `diff ${index + 1} of ${step.diffs.length}` : "the diff";
      return invalid(
        `${which} of ${named(step)} does not apply: ${result.reason}`,
        diff.slice(0, 4000),
      );
    }
  }
  return text;
}

/** By renaming: the old file may be a hard link into somebody's cache. */
async function replace(file: string, bytes: Buffer, mode: number | undefined): Promise<void> {
  const folder = path.dirname(file);
  await fs.mkdir(folder, { recursive: true });
  const temporary = path.join(folder, `.autodev-tmp-${randomUUID()}`);
  try {
    await fs.writeFile(temporary, bytes, { flag: "wx" });
    const wanted = bytes.subarray(0, 2).toString("latin1") === "#!" ? 0o755 : mode;
    if (wanted !== undefined) await fs.chmod(temporary, wanted);
    await fs.rename(temporary, file);
  } catch (error) {
    await fs.rm(temporary, { force: true });
    throw error;
  }
}

// ── Commands ────────────────────────────────────────────────────────────────────────────────

/** The outcome of the phase, if this ends it; undefined: it went well. */
async function runScript(
  deps: ApplyDeps,
  { text }: SpelledCommand,
  trusted: Trusted,
  { cwd, env, timeoutMs, signal, killNow, access, network, marker, emit }: AgentRun,
): Promise<AgentOutcome | undefined> {
  if (signal.aborted || killNow.aborted) return { is: "stopped" };
  const title = `\`${titleOf(text)}\``;
  if (timeoutMs <= 0) return failed({ type: "timeout", message: `no time was left for ${title}` });
  const ended = await deps.exec(trusted, {
    cwd,
    env,
    timeoutMs,
    signal,
    killNow,
    ...(access && { access }),
    network,
    marker,
    onLine: (line) => emit({ type: "text", text: line }),
  });
  const passed = ended.code === 0 && !ended.timedOut && !ended.aborted;
  if (ended.notStarted === undefined) emit({ type: "command", command: text, passed });
  if (passed) return undefined;
  if (ended.aborted) return { is: "stopped" };
  const problem = (type: ErrorType, message: string): AgentOutcome =>
    failed({ type, message, details: ended.tail.join("\n").slice(-mostDetails) });
  if (ended.timedOut) return problem("timeout", `${title} did not end in time`);
  if (ended.notStarted !== undefined) {
    return problem("agent_crash", `${title} could not be started: ${ended.notStarted}`);
  }
  return problem("agent_crash", `${title} ended with ${ended.code ?? ended.signal}`);
}

const mostDetails = 8000;

/** The first line that does something, and whether there are more. */
function titleOf(text: string): string {
  const lines = text.split("\n").filter((line) => !/^\s*(?:#|$)/.test(line));
  const first = lines[0]?.trim() ?? "";
  return `${first.slice(0, 100)}${first.length > 100 || lines.length > 1 ? " …" : ""}`;
}

// ── The result ──────────────────────────────────────────────────────────────────────────────

/** What a file has been through, taken together. */
function note(changes: Map<string, Change>, file: string, change: Change): void {
  const before = changes.get(file);
  if (before === undefined) changes.set(file, change);
  else if (before === "create" && change === "delete") changes.delete(file);
  else if (before === "delete" && change === "create") changes.set(file, "modify");
  else if (before !== "create") changes.set(file, change);
}

function resultOf(phase: Phase, brief: Brief, changes: ReadonlyMap<string, Change>): AgentResult {
  const those = (wanted: Change): string[] =>
    [...changes].flatMap(([file, change]) => (change === wanted ? [file] : []));
  return {
    phase_id: brief.phase,
    status: "complete",
    tasks: { total: brief.tasks, completed: brief.tasks },
    gates: {},
    commit_message: commitMessageFor(phase, [...changes.keys()]),
    files: { created: those("create"), modified: those("modify"), deleted: those("delete") },
    plan_updated: false,
    error: null,
  };
}
