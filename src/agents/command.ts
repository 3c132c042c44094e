/**
 * Any program can be an agent: it reads a brief and writes a result. The brief is its input, and
 * lies in the file $AUTODEV_BRIEF; the result goes to the file $AUTODEV_RESULT, or else is the
 * last JSON object that it prints. What it prints otherwise is shown and forgotten.
 *
 * | it ends with                                        | the outcome                         |
 * | --------------------------------------------------- | ----------------------------------- |
 * | 0 and a result that is complete                     | done                                |
 * | a result that is failed, whatever the exit code     | failed, with its error              |
 * | `{"status":"limited","until":…}`; or 75 and, as the | limited                             |
 * | last line, `AUTODEV_LIMITED_UNTIL=<time>`           |                                     |
 * | 0 and no result that can be read                    | failed: parse_error                 |
 * | anything else                                       | failed: agent_crash, or timeout     |
 */
import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import type { Agent, AgentOutcome, AgentRun, Brief } from "../agent.ts";
import type { ErrorType } from "../core/plan/phase-error.ts";
import { isUntil, mostResultLength, readClaim } from "../core/plan/read-result.ts";
import { failureSaid } from "../core/plan/result.ts";
import type { Ended, exec, OwnProgram, Trusted } from "../exec.ts";

export interface CommandDeps {
  readonly name: string;
  readonly command: Trusted | OwnProgram;
  readonly exec: typeof exec;
}

export const createCommandAgent = (deps: CommandDeps): Agent => ({
  name: deps.name,
  async run(brief, run) {
    try {
      return await perform(deps, brief, run);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return failed("agent_crash", `${deps.name} could not be started: ${why}`);
    }
  },
});

async function perform(deps: CommandDeps, brief: Brief, run: AgentRun): Promise<AgentOutcome> {
  if (run.signal.aborted || run.killNow.aborted) return { is: "stopped" };
  const [briefFile, resultFile] = [
    path.join(run.scratch, "brief.md"),
    path.join(run.scratch, "result.json"),
  ];
  await fs.mkdir(run.scratch, { recursive: true });
  // Never through a link that an earlier attempt may have left there.
  for (const file of [briefFile, resultFile]) await fs.rm(file, { recursive: true, force: true });
  await fs.writeFile(briefFile, brief.text, { flag: "wx" });
  const printed = lastOf(mostResultLength);
  let last = "";
  const ended = await deps.exec(deps.command, {
    cwd: run.cwd,
    env: {
      ...run.env,
      AUTODEV_BRIEF: briefFile,
      AUTODEV_RESULT: resultFile,
      AUTODEV_PHASE: brief.phase,
      AUTODEV_ATTEMPT: String(brief.attempt),
    },
    input: brief.text,
    timeoutMs: run.timeoutMs,
    signal: run.signal,
    killNow: run.killNow,
    ...(run.access && { access: run.access }),
    network: run.network,
    marker: run.marker,
    onLine: (line, stream) => {
      if (stream === "out") printed.add(line);
      if (line.trim() !== "") last = line.trim();
      show(run, line);
    },
  });
  if (ended.aborted) return { is: "stopped" };
  const written = await readWritten(resultFile);
  const claim = written.is === "absent" ? claimIn(printed.text(), brief) : claimOf(written, brief);
  return outcomeOf(deps.name, ended, claim, last, run);
}

type Claim = ReturnType<typeof readClaim>;

function outcomeOf(
  name: string,
  ended: Ended,
  claim: Claim,
  last: string,
  run: AgentRun,
): AgentOutcome {
  const details = ended.tail.join("\n").slice(-mostDetails);
  if (ended.timedOut) {
    return failed("timeout", `${name} was not done after ${seconds(run.timeoutMs)}`, details);
  }
  if (ended.notStarted !== undefined) {
    return failed("agent_crash", `${name} could not be started: ${ended.notStarted}`);
  }
  const until = /^AUTODEV_LIMITED_UNTIL=(\S+)$/.exec(last)?.[1];
  if (ended.code === limitedCode && until !== undefined && isUntil(until)) {
    return { is: "limited", until, reason: `${name} has reached a usage limit` };
  }
  if (typeof claim === "object") {
    if (claim.status === "limited") {
      const reason = claim.reason ?? `${name} has reached a usage limit`;
      return { is: "limited", until: claim.until, reason };
    }
    if (claim.status === "failed") return failureSaid(name, claim);
    if (ended.code === 0) {
      return { is: "done", result: claim, ...(ended.left ? { left: ended.left } : {}) };
    }
  }
  if (ended.code === 0) {
    return failed(
      "parse_error",
      `the result of ${name} cannot be read: ${claim as string}`,
      details,
    );
  }
  const end = ended.code === null ? `was ended by ${ended.signal}` : `ended with ${ended.code}`;
  const said = typeof claim === "object" ? ", though its result says complete" : "";
  return failed("agent_crash", `${name} ${end}${said}`, details);
}

/** EX_TEMPFAIL, as sysexits.h has it: try again later. */
const limitedCode = 75;
const mostDetails = 8000;

const failed = (type: ErrorType, message: string, details = ""): AgentOutcome => ({
  is: "failed",
  error: { type, message, ...(details === "" ? {} : { details }) },
});

const seconds = (ms: number): string =>
  ms < 120_000 ? `${Math.round(ms / 100) / 10} s` : `${Math.round(ms / 60_000)} min`;

/** A display that fails is no reason to fail. */
function show(run: AgentRun, text: string): void {
  try {
    run.emit({ type: "text", text });
  } catch {
    // It has its own ways to complain.
  }
}

// ── Reading the result ──────────────────────────────────────────────────────────────────────

const claimIn = (text: string, { phase }: Brief): Claim =>
  text.trim() === ""
    ? "it wrote no file $AUTODEV_RESULT and printed nothing"
    : readClaim(text, phase);

function claimOf(written: Exclude<Written, { is: "absent" }>, { phase }: Brief): Claim {
  if (written.is === "unreadable") return `$AUTODEV_RESULT ${written.why}`;
  const claim = readClaim(written.text, phase);
  return typeof claim === "string" ? `$AUTODEV_RESULT: ${claim}` : claim;
}

type Written =
  | { readonly is: "absent" }
  | { readonly is: "unreadable"; readonly why: string }
  | { readonly is: "read"; readonly text: string };

/** The program may have left anything there: a link, a pipe, a folder, a disk full of zeros. */
async function readWritten(file: string): Promise<Written> {
  try {
    // On Windows the last two are undefined, which adds nothing.
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    const handle = await fs.open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) return { is: "unreadable", why: "is not a file" };
      if (stat.size > mostResultLength) return { is: "unreadable", why: "is larger than 1 MB" };
      return { is: "read", text: await handle.readFile("utf8") };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "ENOENT") return { is: "absent" };
    return { is: "unreadable", why: code === "ELOOP" ? "is a link" : `cannot be read (${code})` };
  }
}

const newline = 10;

/**
 * The end of a text that comes line by line, in memory that does not grow: as bytes in one place,
 * since lines that are kept for a moment and then dropped are what makes a heap large.
 */
function lastOf(most: number): { add(line: string): void; text(): string } {
  let kept = Buffer.alloc(0);
  let length = 0;
  return {
    add(line) {
      const text = line.length < most ? line : line.slice(-most + 1);
      const more = Buffer.byteLength(text) + 1;
      if (length + more > kept.length) {
        const last = kept.subarray(Math.max(0, length - most), length);
        // A letter has at most three bytes for each unit of its length.
        const room = Math.min(4 * most, 2 * (last.length + more));
        if (kept.length < room) kept = Buffer.concat([last], room);
        else last.copy(kept);
        length = last.length;
      }
      length += kept.write(text, length);
      kept[length++] = newline;
    },
    text: () => kept.toString("utf8", Math.max(0, length - most), length),
  };
}
