/**
 * An agent that is spoken to: a program that works by itself for a long time and tells what it does,
 * line by line, in its own dialect. Here is what all dialects have in common: the process, its end,
 * and what that end is worth.
 *
 *  1. A terminal event outranks the exit code; without one the agent has failed.
 *  2. A result is what fits our schema, wherever it came from; nothing else is one.
 *  3. What stands in the way of every agent (no login, a limit, a service that is down) is no failed
 *     attempt: trying again at once would only burn another.
 *  4. A session that is gone is no reason to fail: the same brief is given to a new one.
 */
import * as fs from "node:fs/promises";
import * as path from "node:path";
import type { Agent, AgentEvent, AgentOutcome, AgentRun, Brief } from "../agent.ts";
import { type Moment, type Trouble, troubleAsAnswer, troubleIn } from "../core/agent/trouble.ts";
import { cutLine } from "../exec/streams.ts";
import type { Ended, exec, OwnProgram, Talk, Trusted } from "../exec.ts";
import type { Ask, Conversation, Dialect, Ending, Permission, Words } from "./dialect.ts";
import { outcomeOf, troubleOf } from "./ending.ts";

export interface SpokenDeps {
  readonly name: string;
  readonly dialect: Dialect;
  readonly exec: typeof exec;
  readonly settings: SpokenSettings;
  /** The repository: its program is not taken from in there, whatever PATH says. */
  readonly root?: string | undefined;
  /** Of a result. */
  readonly schema: unknown;
  /** A tool of ours that takes the result, where the program has no way of its own. */
  openResultTool(brief: Brief): Promise<ResultTool>;
  moment(): Moment;
}

export interface SpokenSettings {
  readonly model?: string;
  readonly permission?: Permission;
  readonly args?: readonly string[];
}

export interface ResultTool {
  readonly url: string;
  /** What was handed in last, and fitted. */
  submitted(): unknown;
  close(): Promise<void>;
}

export const createSpokenAgent = (deps: SpokenDeps): Agent => ({
  name: deps.name,
  speaks: deps.dialect.name,
  resumes: deps.dialect.capabilities.resume,
  ...(deps.dialect.pieceIn && { pieceIn: deps.dialect.pieceIn }),
  async run(brief, run) {
    if (run.signal.aborted || run.killNow.aborted) return { is: "stopped" };
    try {
      const { outcome, trouble } = await once(deps, brief, run);
      if (trouble?.kind !== "session_not_found" || !run.resume) return outcome;
      tell(run, { type: "text", text: `its session is gone: ${deps.name} begins anew` });
      const { resume: _, ...anew } = run;
      return (await once(deps, brief, anew)).outcome;
    } catch (error) {
      const message = `${deps.name} could not be started: ${reasonOf(error)}`;
      return { is: "failed", error: { type: "agent_crash", kind: "spawn", message } };
    }
  },
});

interface Once {
  readonly outcome: AgentOutcome;
  readonly trouble?: Trouble;
}

async function once(deps: SpokenDeps, brief: Brief, run: AgentRun): Promise<Once> {
  const { dialect, settings } = deps;
  const tool =
    dialect.capabilities.structured === "tool" ? await deps.openResultTool(brief) : undefined;
  try {
    const ask: Ask = {
      prompt: brief.text,
      schema: deps.schema,
      cwd: run.cwd,
      scratch: run.scratch,
      permission: settings.permission ?? "full",
      ...(settings.model !== undefined && { model: settings.model }),
      ...(settings.args && { args: settings.args }),
      ...(run.resume && dialect.capabilities.resume && { resume: run.resume }),
      ...(tool && { resultTool: { url: tool.url } }),
      ...(run.maxCost !== undefined && { maxCost: run.maxCost }),
    };
    const heard = await conversation(deps, ask, brief, run);
    const trouble = troubleOf(heard.ended, heard.ending, {
      said: (text) => troubleIn(text, deps.moment()),
      answered: (text) => troubleAsAnswer(text, deps.moment()),
      submitted: tool?.submitted(),
      waitingFor: heard.waitingFor,
      lastWords: heard.lastWords,
    });
    const outcome = outcomeOf({
      name: deps.name,
      phase: brief.phase,
      run,
      ...heard,
      submitted: tool?.submitted(),
      trouble,
    });
    return { outcome, ...(trouble && { trouble }) };
  } finally {
    await tool?.close();
  }
}

interface HeardOut {
  readonly ended: Ended;
  readonly ending: Ending | undefined;
  /** Why it was trying again, when that is the last that was heard of it. */
  readonly waitingFor: string | undefined;
  /** What it said beside its dialect: some say only there why they cannot begin. */
  readonly lastWords: readonly string[];
}

/** From the first word to the last process. */
async function conversation(
  { dialect, exec, root }: SpokenDeps,
  ask: Ask,
  brief: Brief,
  run: AgentRun,
): Promise<HeardOut> {
  const launch = dialect.launch(ask);
  await writeFiles(run.scratch, launch.files ?? {});
  const talk = dialect.converse(ask);
  const leaving = new AbortController();
  let ending: Ending | undefined;
  let to: Talk | undefined;
  let patience: NodeJS.Timeout | undefined;
  let waitingFor: string | undefined;
  const lastWords: string[] = [];
  const utter = ({ say = [], hangUp }: Words): void => {
    for (const line of say) to?.say(line);
    if (hangUp) to?.hangUp();
  };
  const finish = (): void => {
    to?.hangUp();
    // Done and still there: some wait for a server or a child of theirs for ever.
    patience ??= setTimeout(() => leaving.abort(), afterLastWordMs);
  };
  const onStop = (): void => {
    const words = talk.interrupt();
    if (words.length === 0) return leaving.abort();
    // Asked in its own words it ends its tools and keeps its session whole.
    utter({ say: words });
    patience ??= setTimeout(() => leaving.abort(), afterInterruptMs);
  };
  const hear = (line: string): void => {
    tell(run, { type: "raw", line });
    const heard = understood(talk, line);
    for (const event of heard.events) {
      waitingFor = event.type === "retry" ? event.why : undefined;
      tell(run, event);
    }
    if (heard.ending && !ending) {
      ending = heard.ending;
      finish();
    }
    utter(heard);
  };
  const { program, args, shell } = launch;
  const command: Trusted | OwnProgram = shell ?? { program, args };
  try {
    run.signal.addEventListener("abort", onStop);
    // While the files were written, nobody was listening yet.
    if (run.signal.aborted) leaving.abort();
    const ended = await exec(command, {
      cwd: run.cwd,
      env: {
        ...run.env,
        AUTODEV_PHASE: brief.phase,
        AUTODEV_ATTEMPT: String(brief.attempt),
        ...whereUnset(launch.defaults, run.env),
        ...launch.env,
      },
      talk(opened) {
        to = opened;
        utter(talk.begin());
      },
      timeoutMs: run.timeoutMs,
      ...(run.idleMs !== undefined && { idleMs: run.idleMs }),
      signal: leaving.signal,
      killNow: run.killNow,
      ...(run.access && { access: run.access }),
      network: run.network,
      outside: root,
      marker: run.marker,
      lineBytes: mostLineBytes,
      tailLines: 60,
      onLine: (line, stream) => {
        const isSpoken = stream === "out" && line.startsWith("{");
        if (isSpoken) return hear(line);
        // Words beside the dialect: nobody reads more of them than a line's beginning.
        keepLast(lastWords, line);
        const words = cutLine(line);
        if (stream === "out") hear(words);
        else tell(run, { type: "raw", line: stderrLine(words) });
      },
    });
    return { ended: leftByItself(ended, run), ending, waitingFor, lastWords };
  } finally {
    clearTimeout(patience);
    run.signal.removeEventListener("abort", onStop);
  }
}

/** Not the dialect's own lines: they are full of what it reads and writes, which may be anything. */
function keepLast(words: string[], line: string): void {
  if (words.push(cutLine(line, mostOfWord)) > mostLastWords) words.shift();
}
/** An error may stand before a long trace of where it came from. */
const [mostLastWords, mostOfWord] = [100, 2000];

const whereUnset = (
  defaults: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(defaults).filter(
      ([name]) => env[name] === undefined && process.env[name] === undefined,
    ),
  );

/** How long a program may stay after its last word, before it is asked to go. */
const afterLastWordMs = 3000;
const afterInterruptMs = 2000;
/** One event can hold a whole file. */
const mostLineBytes = 4 * 1024 ** 2;

/** We asked it to go because it was done: nobody interrupted anything. */
const leftByItself = (ended: Ended, run: AgentRun): Ended => ({
  ...ended,
  aborted: run.signal.aborted || run.killNow.aborted,
});

/** A dialect that stumbles over a line has met something new; the work goes on. */
function understood(talk: Conversation, line: string): ReturnType<Conversation["hear"]> {
  try {
    return talk.hear(line);
  } catch {
    return { events: [] };
  }
}

const stderrLine = (line: string): string => JSON.stringify({ stderr: line });

async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await fs.mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, path.basename(name));
    // Never through a link that an earlier attempt may have left there.
    await fs.rm(file, { recursive: true, force: true });
    await fs.writeFile(file, text, { flag: "wx", mode: 0o600 });
  }
}

/** A display that fails is no reason to fail. */
function tell(run: AgentRun, event: AgentEvent): void {
  try {
    run.emit(event);
  } catch {
    // It has its own ways to complain.
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
