import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import type { AgentEvent, AgentOutcome, AgentRun, Brief } from "../agent.ts";
import { exec, mintTrusted } from "../exec.ts";
import { agentContract } from "../testing/agent-contract.ts";
import { createCommandAgent } from "./command.ts";

const brief: Brief = { phase: "2a", name: "Two", text: "# The brief\n", tasks: 2, attempt: 3 };

const agentFor = (script: string) =>
  createCommandAgent({ name: "puppet", command: mintTrusted(script), exec });

const result = (more: object = {}): string =>
  JSON.stringify({
    phase_id: "2a",
    status: "complete",
    tasks: { total: 2, completed: 2 },
    files: { created: ["made.txt"] },
    ...more,
  });
/** For a shell's single quotes: there are none in it. */
const printed = (text: string): string => `printf '%s\\n' '${text}'`;
const written = (text: string): string => `${printed(text)} > "$AUTODEV_RESULT"`;

agentContract(
  "the command agent",
  (work) => ({
    brief,
    agent: agentFor(
      {
        work: `cat > /dev/null; echo made > made.txt; ${written(result())}`,
        fail: written(result({ status: "failed", error: { type: "test_failure", message: "no" } })),
        endless: "echo going; while :; do sleep 0.2; done",
      }[work],
    ),
  }),
  { describe, it, expect },
);

interface Ran {
  readonly outcome: AgentOutcome;
  readonly events: AgentEvent[];
  readonly run: AgentRun;
}

async function ran(script: string, more: Partial<AgentRun> = {}): Promise<Ran> {
  const base = fs.mkdtempSync(path.join(os.tmpdir(), "autodev-command-"));
  const events: AgentEvent[] = [];
  const run: AgentRun = {
    cwd: path.join(base, "tree"),
    scratch: path.join(base, "scratch"),
    env: { AUTODEV_SLOT: "4" },
    timeoutMs: 30_000,
    signal: new AbortController().signal,
    killNow: new AbortController().signal,
    marker: "command-test",
    emit: (event) => events.push(event),
    ...more,
  };
  fs.mkdirSync(run.cwd);
  return { outcome: await agentFor(script).run(brief, run), events, run };
}

describe("a program that is an agent", () => {
  it("gets the brief as its input and as a file, and the rest by its environment", async () => {
    const { outcome, run } = await ran(
      `cat > input.txt; cp "$AUTODEV_BRIEF" brief.txt
       echo "$AUTODEV_PHASE $AUTODEV_ATTEMPT $AUTODEV_SLOT" > env.txt; pwd > pwd.txt
       ${written(result())}`,
    );
    expect(outcome.is).toBe("done");
    const read = (name: string): string => fs.readFileSync(path.join(run.cwd, name), "utf8");
    expect(read("input.txt")).toBe(brief.text);
    expect(read("brief.txt")).toBe(brief.text);
    expect(read("env.txt")).toBe("2a 3 4\n");
    expect(read("pwd.txt").trim()).toBe(fs.realpathSync(run.cwd));
    expect(fs.readdirSync(run.scratch).sort()).toEqual(["brief.md", "result.json"]);
  });

  it("may leave its input unread, however long", async () => {
    const agent = agentFor(printed(result()));
    const { run } = await ran("true");
    const long = { ...brief, text: "x".repeat(5_000_000) };
    expect((await agent.run(long, run)).is).toBe("done");
  });

  it.each([
    ["printed last", `echo '{"not":"it"}'; ${printed(result())}; echo bye`],
    ["printed over many lines", printed(JSON.stringify(JSON.parse(result()), undefined, 2))],
    ["printed in a fence", `echo done; echo '\`\`\`json'; ${printed(result())}; echo '\`\`\`'`],
    ["written, whatever is printed", `${written(result())}; echo '{"status":"nonsense"}'`],
    [
      "printed after any amount of noise",
      `head -c 20000000 /dev/zero | tr '\\0' '{' | fold -w 99; echo; ${printed(result())}`,
    ],
  ])("has its result read when it is %s", async (_, script) => {
    const { outcome } = await ran(script);
    expect(outcome).toMatchObject({ is: "done", result: { phase_id: "2a", status: "complete" } });
  });

  it("is shown while it works", async () => {
    const { events } = await ran(`echo one; echo two >&2; ${written(result())}`);
    expect(events).toContainEqual({ type: "text", text: "one" });
    expect(events).toContainEqual({ type: "text", text: "two" });
  });

  it.each([
    ["no result", "echo I am done", "parse_error", /no JSON object/],
    ["nothing at all", "true", "parse_error", /wrote no file .* printed nothing/],
    ["another phase's result", written(result({ phase_id: "9" })), "parse_error", /phase "9"/],
    [
      "a result of another shape",
      written('{"status":"complete"}'),
      "parse_error",
      /AUTODEV_RESULT: /,
    ],
    ["an empty result", ': > "$AUTODEV_RESULT"', "parse_error", /nothing in it/],
    [
      "a folder for a result",
      'mkdir "$AUTODEV_RESULT"',
      "parse_error",
      /not a file|cannot be read/,
    ],
    ["a pipe for a result", 'mkfifo "$AUTODEV_RESULT"', "parse_error", /not a file/],
    ["a link for a result", 'ln -s /etc/passwd "$AUTODEV_RESULT"', "parse_error", /is a link/],
    ["too long a result", 'head -c 2000000 /dev/zero > "$AUTODEV_RESULT"', "parse_error", /larger/],
    ["a crash", "echo oops >&2; exit 3", "agent_crash", /^puppet ended with 3$/],
    [
      "a crash after success",
      `${written(result())}; exit 3`,
      "agent_crash",
      /though its result says/,
    ],
    ["a death", "kill -9 $$", "agent_crash", /SIGKILL/],
    ["75 without a time", "exit 75", "agent_crash", /ended with 75/],
    ["75 with nonsense", "echo AUTODEV_LIMITED_UNTIL=later; exit 75", "agent_crash", /75/],
  ] as const)("fails by %s", async (_, script, type, message) => {
    const { outcome } = await ran(script);
    expect(outcome).toMatchObject({ is: "failed", error: { type } });
    expect(outcome.is === "failed" && outcome.error.message).toMatch(message);
  });

  it("tells its last lines when it crashes", async () => {
    const { outcome } = await ran("echo one; echo oops >&2; exit 3");
    expect(outcome).toMatchObject({ error: { details: expect.stringMatching(/one|oops/) } });
  });

  it.each([
    [{ type: "test_failure", message: "2 tests", details: "a\nb" }, "test_failure", "2 tests"],
    [{ type: "out of coffee", message: "hm" }, "task_incomplete", "hm"],
    [null, "task_incomplete", "puppet says that it has done 1 of 2 tasks"],
  ])("fails as it says itself: %j", async (error, type, message) => {
    const said = result({ status: "failed", tasks: { total: 2, completed: 1 }, error });
    for (const script of [written(said), `${written(said)}; exit 1`]) {
      const { outcome } = await ran(script);
      expect(outcome).toMatchObject({
        is: "failed",
        error: { type, message },
        result: { status: "failed" },
      });
    }
  });

  it.each([
    [
      "by its result",
      written('{"status":"limited","until":"2026-05-01T10:00:00Z","reason":"5 h"}'),
      "5 h",
    ],
    [
      "by its exit code",
      "echo AUTODEV_LIMITED_UNTIL=2026-05-01T10:00:00Z; echo; exit 75",
      "puppet has reached a usage limit",
    ],
    [
      "by its exit code, as an error",
      "echo AUTODEV_LIMITED_UNTIL=2026-05-01T10:00:00Z >&2; exit 75",
      "puppet has reached a usage limit",
    ],
  ])("is limited %s", async (_, script, reason) => {
    const { outcome } = await ran(script);
    expect(outcome).toEqual({ is: "limited", until: "2026-05-01T10:00:00Z", reason });
  });

  it("does not inherit the result of the attempt before", async () => {
    const { run } = await ran(written(result()));
    expect((await agentFor("true").run(brief, run)).is).toBe("failed");
    fs.rmSync(path.join(run.scratch, "brief.md"));
    const outside = path.join(run.cwd, "outside.txt");
    fs.symlinkSync(outside, path.join(run.scratch, "brief.md"));
    expect((await agentFor(printed(result())).run(brief, run)).is).toBe("done");
    expect(fs.existsSync(outside)).toBe(false);
  });

  it("that is not there fails", async () => {
    const agent = createCommandAgent({
      name: "nobody",
      command: { program: "no-such-program-of-ours", args: [] },
      exec,
    });
    const { run } = await ran("true");
    expect(await agent.run(brief, run)).toMatchObject({
      is: "failed",
      error: { type: "agent_crash", message: expect.stringMatching(/could not be started/) },
    });
  });

  it("whose folder for notes cannot be made fails", async () => {
    const { outcome } = await ran("true", { scratch: "/etc/passwd/scratch" });
    expect(outcome).toMatchObject({ is: "failed", error: { type: "agent_crash" } });
  });

  it("takes no more memory for what it prints", async () => {
    // Of this thread alone, since its neighbours run tests of their own; and without what is over.
    setFlagsFromString("--expose-gc");
    const tidy = runInNewContext("gc") as () => void;
    const held = (): number => {
      tidy();
      return process.memoryUsage().heapUsed + process.memoryUsage().external;
    };
    const before = held();
    const { outcome } = await ran(
      `yes ${"x".repeat(200)} | head -c 200000000; ${printed(result())}`,
      {
        emit: () => {},
      },
    );
    expect(outcome.is).toBe("done");
    expect(held() - before).toBeLessThan(20_000_000);
  });
});
