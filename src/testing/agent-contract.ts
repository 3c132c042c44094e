/**
 * The suite that every agent passes. It takes a test runner's own functions, and a factory that
 * makes an agent and a brief for each kind of work. The directories are the suite's own, real ones.
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

export function agentContract(
  name: string,
  make: (work: AgentWork) => AgentAtWork | Promise<AgentAtWork>,
  { describe, it, expect }: Runner,
): void {
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
      const plain = ["text", "thought", "file", "command", "usage"];
      const known = [...plain, "tool", "plan", "permission", "retry", "session", "raw"];
      for (const work of ["work", "fail"] as const) {
        const { events } = await started(work);
        expect(events.filter(({ type }) => !known.includes(type))).toEqual([]);
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
  });
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
