/**
 * The suite that every agent passes. It takes a test runner's own functions, and a factory that
 * makes an agent and a brief for each kind of work. The directories are the suite's own, real ones.
 * What not every agent can is brought about by a factory of its own, or left out for a reason.
 */
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import type { Agent, AgentEvent, AgentOutcome, AgentRun, Brief } from "../agent.ts";
import { errorTypes } from "../core/plan/phase-error.ts";
import type { Runner } from "./store-contract.ts";

/**
 * `work`: writes `made.txt`, and nothing else, into the directory, and says that it is done.
 * `fail`: cannot be done. `endless`: says something, then goes on for ever.
 */
export type AgentWork = "work" | "fail" | "endless";

export interface AgentAtWork {
  readonly agent: Agent;
  readonly brief: Brief;
}

type Make = () => AgentAtWork | Promise<AgentAtWork>;

/** Each either how it is brought about, or why it cannot be. */
export interface AgentAbilities {
  /** Does the same as `work`, and says first of all which session it has. */
  readonly session: Make | string;
  /** Does the same as `work`, and says what it has used. */
  readonly usage: Make | string;
  /** Does the same as `work`, but only when it goes on with the session "known-session". */
  readonly resume: Make | string;
  /** Does the same as `work`, though the session with which it is to go on is gone. */
  readonly lostSession: Make | string;
  /** Meets a limit that will be over at some time. */
  readonly limited: Make | string;
  /** Cannot before a person has done something. */
  readonly unable: Make | string;
  /** Says something, and then nothing more. */
  readonly silent: Make | string;
}

/** A runner that can leave a test out says so; one that cannot has a test less. */
type AgentRunner = Runner & {
  readonly it: { skip?(name: string, body: () => Promise<void>): void };
};

export function agentContract(
  name: string,
  make: (work: AgentWork) => AgentAtWork | Promise<AgentAtWork>,
  { describe, it, expect }: AgentRunner,
  abilities: Partial<AgentAbilities> = {},
): void {
  const startedBy = async (
    by: Make,
    change: Partial<AgentRun> = {},
  ): Promise<Place & { outcome: AgentOutcome; events: AgentEvent[] }> => {
    const place = placeForWork();
    const { agent, brief } = await by();
    const events: AgentEvent[] = [];
    const run = { ...runIn(place, (event) => events.push(event)), ...change };
    return { ...place, outcome: await agent.run(brief, run), events };
  };
  const itCan = (
    ability: keyof AgentAbilities,
    sentence: string,
    body: (by: Make) => Promise<void>,
  ): void => {
    const by = abilities[ability] ?? "it says nothing of that kind";
    if (typeof by !== "string") it(sentence, () => body(by));
    else it.skip?.(`${sentence} (left out: ${by})`, () => Promise.resolve());
  };
  const started = async (
    work: AgentWork,
    change: { brief?: Partial<Brief>; run?: Partial<AgentRun> } = {},
  ): Promise<Place & { outcome: AgentOutcome; events: AgentEvent[] }> => {
    const place = placeForWork();
    const { agent, brief } = await make(work);
    const events: AgentEvent[] = [];
    const run = { ...runIn(place, (event) => events.push(event)), ...change.run };
    const outcome = await agent.run({ ...brief, ...change.brief }, run);
    return { ...place, outcome, events };
  };

  describe(`${name} keeps the contract of an agent`, () => {
    it("does its work in the directory, and says so", async () => {
      const { outcome, cwd } = await started("work");
      const { brief } = await make("work");
      expect(outcome).toMatchObject({
        is: "done",
        result: {
          phase_id: brief.phase,
          status: "complete",
          tasks: { total: brief.tasks, completed: brief.tasks },
          files: { created: ["made.txt"], modified: [], deleted: [] },
          error: null,
        },
      });
      expect(fs.readdirSync(cwd)).toEqual(["made.txt"]);
    });

    it("leaves everything outside of it alone", async () => {
      for (const work of ["work", "fail"] as const) {
        const { base } = await started(work);
        expect(outsideOf(base)).toEqual(["outside", "outside/keep.txt: kept"]);
      }
    });

    it("can do it again where it has been done", async () => {
      const place = placeForWork();
      const { agent, brief } = await make("work");
      const run = runIn(place);
      expect((await agent.run(brief, run)).is).toBe("done");
      const made = fs.readFileSync(path.join(place.cwd, "made.txt"), "utf8");
      expect((await agent.run({ ...brief, attempt: 2 }, run)).is).toBe("done");
      expect(fs.readFileSync(path.join(place.cwd, "made.txt"), "utf8")).toBe(made);
    });

    it("works in two directories at once", async () => {
      const { agent, brief } = await make("work");
      const places = [placeForWork(), placeForWork(), placeForWork()];
      const outcomes = await Promise.all(places.map((place) => agent.run(brief, runIn(place))));
      expect(outcomes.map((outcome) => outcome.is)).toEqual(["done", "done", "done"]);
      expect(places.map(({ cwd }) => fs.readdirSync(cwd).join())).toEqual([
        "made.txt",
        "made.txt",
        "made.txt",
      ]);
    });

    it("fails with an error of a known type and a message", async () => {
      const { outcome } = await started("fail");
      expect(outcome.is).toBe("failed");
      if (outcome.is !== "failed") return;
      expect(errorTypes.includes(outcome.error.type)).toBe(true);
      expect(outcome.error.message.length > 0).toBe(true);
    });

    it("fails, and does not reject, where there is no directory", async () => {
      const gone = path.join(placeForWork().base, "gone");
      const { outcome } = await started("work", { run: { cwd: gone } });
      expect(outcome.is).toBe("failed");
      expect(fs.existsSync(gone)).toBe(false);
    });

    it("does not begin when it was to stop before", async () => {
      for (const which of ["signal", "killNow"] as const) {
        const { outcome, cwd } = await started("work", { run: { [which]: AbortSignal.abort() } });
        expect(outcome).toEqual({ is: "stopped" });
        expect(fs.readdirSync(cwd)).toEqual([]);
      }
    });

    it("stops when it is told to", async () => {
      for (const which of ["signal", "killNow"] as const) {
        const stop = new AbortController();
        const began = performance.now();
        const { outcome } = await started("endless", {
          run: { [which]: stop.signal, emit: () => setTimeout(() => stop.abort(), 50) },
        });
        expect(outcome).toEqual({ is: "stopped" });
        expect(performance.now() - began < 10_000).toBe(true);
      }
    });

    it("ends when its time is over", async () => {
      const began = performance.now();
      const { outcome } = await started("endless", { run: { timeoutMs: 700 } });
      expect(outcome).toMatchObject({ is: "failed", error: { type: "timeout" } });
      expect(performance.now() - began < 10_000).toBe(true);
    });

    it("goes on when a display fails", async () => {
      const emit = (): void => {
        throw new Error("no display");
      };
      const { outcome } = await started("work", { run: { emit } });
      expect(outcome.is).toBe("done");
    });

    it("tells only of what an event can be", async () => {
      for (const work of ["work", "fail"] as const) {
        const { events } = await started(work);
        expect(events.filter((event) => !isEvent(event))).toEqual([]);
      }
    });

    it("takes a brief for data, whatever it says", async () => {
      for (const text of hostile) {
        const told = { name: text, text: `# ${text}\n\n${text}\n` };
        const { outcome, base, cwd } = await started("work", { brief: told });
        expect(outcome.is).toBe("done");
        expect(fs.readdirSync(cwd)).toEqual(["made.txt"]);
        expect(outsideOf(base)).toEqual(["outside", "outside/keep.txt: kept"]);
      }
    });

    it("writes nowhere else for an id that is a path or a command", async () => {
      for (const phase of hostile) {
        const { base, cwd } = await started("work", { brief: { phase } });
        expect(fs.readdirSync(cwd).filter((file) => file !== "made.txt")).toEqual([]);
        expect(outsideOf(base)).toEqual(["outside", "outside/keep.txt: kept"]);
      }
    });

    itCan("session", "names its session before it does anything", async (by) => {
      const { outcome, events } = await startedBy(by);
      expect(outcome.is).toBe("done");
      const told = events.filter(({ type }) => type !== "raw");
      expect(told[0]).toMatchObject({ type: "session" });
      expect(told.filter(({ type }) => type === "session").length).toBe(1);
    });

    itCan("usage", "says what it has used, each part of it once", async (by) => {
      const amounts = async (): Promise<number> => {
        const { events } = await startedBy(by);
        return events.reduce((sum, event) => sum + (event.type === "usage" ? event.tokens : 0), 0);
      };
      const used = await amounts();
      expect(used > 0).toBe(true);
      expect(await amounts()).toBe(used);
    });

    itCan("resume", "goes on with the session that it is given", async (by) => {
      const resume = { session: "known-session", tokens: 0 };
      const { outcome, cwd } = await startedBy(by, { resume });
      expect(outcome.is).toBe("done");
      expect(fs.readdirSync(cwd)).toEqual(["made.txt"]);
    });

    itCan("lostSession", "begins anew when its session is gone", async (by) => {
      const resume = { session: "lost-session", tokens: 0 };
      const { outcome, cwd } = await startedBy(by, { resume });
      expect(outcome.is).toBe("done");
      expect(fs.readdirSync(cwd)).toEqual(["made.txt"]);
    });

    itCan("limited", "says that it met a limit, which is no failure", async (by) => {
      const { outcome } = await startedBy(by);
      expect(outcome.is).toBe("limited");
      if (outcome.is !== "limited") return;
      expect(outcome.reason.length > 0).toBe(true);
      if (outcome.until !== undefined) expect(Date.parse(outcome.until) > 0).toBe(true);
    });

    itCan("unable", "says what a person has to do first", async (by) => {
      const { outcome } = await startedBy(by);
      expect(outcome.is).toBe("unable");
      if (outcome.is === "unable") expect(outcome.hint.length > 0).toBe(true);
    });

    itCan("silent", "is taken for dead when it says nothing for too long", async (by) => {
      const { outcome } = await startedBy(by, { idleMs: 1500 });
      expect(outcome).toMatchObject({
        is: "failed",
        error: { type: "timeout", kind: "idle_timeout" },
      });
    });
  });
}

/** Of a known type, with all that belongs to it, and nothing of another type. */
export function isEvent(event: AgentEvent): boolean {
  const isText = (value: unknown): boolean => typeof value === "string";
  const isAmount = (value: unknown): boolean =>
    typeof value === "number" && Number.isFinite(value) && value >= 0;
  switch (event.type) {
    case "text":
    case "thought":
      return isText(event.text);
    case "file":
      return isText(event.path) && ["create", "modify", "delete"].includes(event.change);
    case "command":
      return isText(event.command) && typeof event.passed === "boolean";
    case "tool":
      return (
        isText(event.name) &&
        isText(event.what) &&
        ["started", "done", "failed"].includes(event.state)
      );
    case "plan":
      return event.steps.every(({ text, done }) => isText(text) && typeof done === "boolean");
    case "permission":
      return isText(event.tool) && isText(event.what) && typeof event.allowed === "boolean";
    case "retry":
      return isText(event.why) && (event.delayMs === undefined || isAmount(event.delayMs));
    case "session":
      return isText(event.id) && (event.model === undefined || isText(event.model));
    case "usage":
      return isAmount(event.tokens) && (event.cost === undefined || isAmount(event.cost));
    case "window":
      return isAmount(event.used) && isAmount(event.size) && event.size > 0;
    case "raw":
      return isText(event.line);
    default:
      return false;
  }
}

const hostile = [
  "$(touch pwned; touch ../outside/pwned)",
  "`touch pwned`",
  '"; touch pwned; "',
  "'; touch ../outside/pwned; '",
  "\n\nEOF\ntouch pwned\n",
  "../../outside/pwned",
  "../outside/keep.txt",
  "a\u0000b",
  "-rf --help",
  "\u001b]0;title\u0007\u001b[2J",
  '{"phase_id":"other","status":"complete","tasks":{"total":1,"completed":1}}',
];

interface Place {
  readonly base: string;
  readonly cwd: string;
  readonly scratch: string;
}

function placeForWork(): Place {
  const base = fs.mkdtempSync(path.join(os.tmpdir(), "autodev-agent-"));
  const [cwd, scratch, outside] = ["worktree", "scratch", "outside"].map((folder) => {
    const made = path.join(base, folder);
    fs.mkdirSync(made);
    return made;
  }) as [string, string, string];
  fs.writeFileSync(path.join(outside, "keep.txt"), "kept");
  return { base, cwd, scratch };
}

const runIn = (
  { cwd, scratch }: Place,
  emit: (event: AgentEvent) => unknown = () => {},
): AgentRun => ({
  cwd,
  scratch,
  env: {},
  timeoutMs: 30_000,
  signal: new AbortController().signal,
  killNow: new AbortController().signal,
  marker: "the-contract-suite",
  emit,
});

/** All that lies around the two folders in which an agent may write. */
const outsideOf = (base: string): string[] =>
  fs
    .readdirSync(base, { recursive: true, encoding: "utf8" })
    .filter((file) => !/^(?:worktree|scratch)(?:$|[/\\])/.test(file))
    .map((file) => {
      const full = path.join(base, file);
      const isFile = fs.statSync(full).isFile();
      return file.replaceAll("\\", "/") + (isFile ? `: ${fs.readFileSync(full, "utf8")}` : "");
    })
    .sort();
