import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bundle } from "../torture/rig.ts";
import { type Ended, type ExecOptions, exec, mintTrusted, sweep } from "./exec.ts";

let folder: string;
let bundled: string;

beforeAll(async () => {
  folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "autodev-exec-")));
  bundled = await bundle("src/exec.ts", { out: path.join(folder, "exec.cjs") });
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

let counter = 0;
/** In the arguments of a process, it finds that process and no other. */
const fresh = (): string => `${3000 + ++counter}.${process.pid}${Date.now() % 100_000}`;

const run = (line: string, options: Partial<ExecOptions> = {}): Promise<Ended> =>
  exec(mintTrusted(line), { cwd: folder, marker: `test-${process.pid}`, ...options });

/** Whoever has this text among its arguments and lives. */
function alive(text: string): number[] {
  return fs.readdirSync("/proc").flatMap((name) => {
    try {
      const args = fs.readFileSync(`/proc/${name}/cmdline`, "latin1").split("\0");
      return /^\d+$/.test(name) && args.includes(text) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

async function until(holds: () => boolean, ms = 3000): Promise<void> {
  for (const end = performance.now() + ms; !holds() && performance.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** What a Node of its own prints. */
const said = (script: string): Promise<string> =>
  new Promise((resolve) => {
    const node = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    node.stdout.on("data", (chunk) => (text += String(chunk)));
    node.once("close", () => resolve(text));
  });

/** Everything that children do to get away, each as `sleep <seconds>`. */
const family = (seconds: string): string => `
  sleep ${seconds} &
  setsid sleep ${seconds} &
  (setsid sleep ${seconds} >/dev/null 2>&1 </dev/null &)
  (env -i setsid sleep ${seconds} >/dev/null 2>&1 </dev/null &)
  (trap '' TERM; exec sleep ${seconds}) &
  (trap '' TERM; setsid sleep ${seconds} &)
  wait`;
const familySize = 6;

/** Tried as a user would; how it is called by us is what is tested. */
const noBubblewrap =
  spawnSync("bwrap", ["--dev-bind", "/", "/", "--unshare-pid", "true"]).status !== 0;
const modes = [
  ["in a namespace", "", false],
  ["without a namespace", "1", false],
  ["in bubblewrap (skipped where it cannot be had)", "own", noBubblewrap],
] as const;

describe.each(modes)("a command, %s", (_, noNamespace, isAbsent) => {
  beforeEach(({ skip }) => skip(isAbsent, "bubblewrap is not on this machine, or may do nothing"));
  const before = process.env.AUTODEV_NO_NAMESPACE;
  beforeEach(() => {
    process.env.AUTODEV_NO_NAMESPACE = noNamespace;
  });
  afterEach(() => {
    if (before === undefined) delete process.env.AUTODEV_NO_NAMESPACE;
    else process.env.AUTODEV_NO_NAMESPACE = before;
  });

  it("is where this test means it to be", async () => {
    const { tail } = await run("echo $PPID");
    expect(tail[0] === "1").toBe(noNamespace !== "1");
  });

  it.each([0, 1, 7, 127, 128, 129, 200, 255])("ends with code %i", async (code) => {
    expect(await run(`exit ${code}`)).toMatchObject({ code, signal: null, timedOut: false });
  });

  it.each(["KILL", "TERM", "SEGV", "ABRT", "PIPE"])("dies by SIG%s, silently", async (name) => {
    const ended = await run(`kill -${name} $$`);
    expect(ended).toMatchObject({ code: null, signal: `SIG${name}`, tail: [] });
  });

  it("prints on both streams, in order, and is told in lines", async () => {
    const heard: string[] = [];
    const ended = await run(
      "echo one; sleep 0.05; printf 'two\\r\\n' >&2; sleep 0.05; printf three",
      {
        onLine: (line, stream) => heard.push(`${stream} ${line}`),
      },
    );
    expect(heard).toEqual(["out one", "err two", "out three"]);
    expect(ended).toMatchObject({ tail: ["one", "two", "three"], lines: 3, bytes: 14 });
  });

  it("tells how many it has left behind; who is dead already does not count", async () => {
    const quiet = ">/dev/null 2>&1 </dev/null";
    expect(await run("(exit 3) & sleep 0.05; exit 0")).toMatchObject({ code: 0, left: 0 });
    const three = `for n in 1 2 3; do (setsid sleep ${fresh()} ${quiet} &); done; sleep 0.1`;
    expect(await run(three)).toMatchObject({ code: 0, left: 3 });
  });

  it("keeps the last lines only", async () => {
    const ended = await run("seq 100000", { tailLines: 3 });
    expect(ended).toMatchObject({ tail: ["99998", "99999", "100000"], lines: 100_000 });
    expect((await run("seq 1000")).tail).toHaveLength(200);
    expect((await run("seq 10", { tailLines: 0 })).tail).toEqual([]);
  });

  it("reads its input, and nothing when there is none", async () => {
    const input = "naïve\n".repeat(100_000);
    expect((await run("wc -c", { input })).tail).toEqual([String(Buffer.byteLength(input))]);
    expect((await run("cat; readlink /proc/self/fd/0")).tail).toEqual(["/dev/null"]);
    expect(await run("exit 3", { input })).toMatchObject({ code: 3 });
  });

  it("is data to every shell but its own", async () => {
    const odd = ["$(touch owned)", "`id`", "a'b\"c", "", "-n", "x\ny", "*"];
    const ended = await exec(
      { program: "printf", args: ["<%s>\n", ...odd] },
      { cwd: folder, marker: "m" },
    );
    expect(ended.tail.join("\n")).toBe(odd.map((each) => `<${each}>`).join("\n"));
    expect(fs.existsSync(path.join(folder, "owned"))).toBe(false);
  });

  it.each([
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "ACTIONS_RUNTIME_TOKEN",
    "ACTIONS_ID_TOKEN_REQUEST_URL",
    "GITHUB_ENV",
    "GITHUB_PATH",
    "GITHUB_OUTPUT",
    "GITHUB_STEP_SUMMARY",
  ])("does not hand on %s", async (name) => {
    process.env[name] = "of the runner";
    try {
      const { tail } = await run("env; echo end");
      expect(tail.at(-1)).toBe("end");
      expect(tail.join("\n")).not.toContain("of the runner");
    } finally {
      delete process.env[name];
    }
  });

  it("hands on what only tells where it runs", async () => {
    process.env["GITHUB_REPOSITORY"] = "o/r";
    try {
      expect((await run('echo "$GITHUB_REPOSITORY"')).tail).toEqual(["o/r"]);
    } finally {
      delete process.env["GITHUB_REPOSITORY"];
    }
  });

  it("has the user's environment, without git's, with its own on top and the marker", async () => {
    process.env.GIT_DIR = "/elsewhere";
    try {
      const ended = await run('echo "$GIT_DIR|$HOME|$MINE|$GIT_EDITOR|$AUTODEV_RUN_ID"', {
        env: { MINE: "yes", GIT_EDITOR: "true" },
        marker: "the-run",
      });
      expect(ended.tail).toEqual([`|${process.env.HOME ?? ""}|yes|true|the-run`]);
    } finally {
      delete process.env.GIT_DIR;
    }
  });

  it("heeds signals as it would at a terminal, which it does not have", async () => {
    const seconds = fresh();
    const line = `grep -E 'Sig(Blk|Ign)' /proc/self/status; (: </dev/tty) 2>/dev/null || echo none`;
    const ending = run(`${line}; sleep ${seconds}; true`, { timeoutMs: 200 });
    await until(() => alive(seconds).length === 1);
    const sessionOf = (pid: number): string | undefined =>
      fs.readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[3];
    expect(sessionOf(alive(seconds)[0] as number)).not.toBe(sessionOf(process.pid));
    expect((await ending).tail).toEqual([
      "SigBlk:\t0000000000000000",
      "SigIgn:\t0000000000000000",
      "none",
    ]);
  });

  it("is killed with all that it started when its time is over", async () => {
    const seconds = fresh();
    const ending = run(family(seconds), { timeoutMs: 400 });
    await until(() => alive(seconds).length === familySize);
    expect(alive(seconds)).toHaveLength(familySize);
    expect(await ending).toMatchObject({ code: null, signal: "SIGKILL", timedOut: true });
    expect(alive(seconds)).toEqual([]);
  });

  it("takes along what it leaves behind, and is not waited for because of it", async () => {
    const seconds = fresh();
    const started = performance.now();
    const line = `${family(seconds).replace("wait", "")} sleep 0.2; echo done; exit 4`;
    expect(await run(line)).toMatchObject({ code: 4, tail: ["done"] });
    expect(performance.now() - started).toBeLessThan(2000);
    expect(alive(seconds)).toEqual([]);
  });

  it("is asked to stop, and may say a last word", async () => {
    const stop = new AbortController();
    const ended = await run(
      "trap 'echo bye; exit 9' TERM; echo ready; while :; do sleep 0.02; done",
      { signal: stop.signal, onLine: (line) => line === "ready" && stop.abort() },
    );
    expect(ended).toMatchObject({ code: 9, aborted: true, timedOut: false });
    expect(ended.tail).toContain("bye");
  });

  it("that does not stop is killed with all others after its grace", async () => {
    const seconds = fresh();
    const stop = new AbortController();
    const ending = run(`trap '' TERM; ${family(seconds)}`, { signal: stop.signal, graceMs: 200 });
    await until(() => alive(seconds).length === familySize);
    const asked = performance.now();
    stop.abort();
    expect(await ending).toMatchObject({ signal: "SIGKILL", aborted: true });
    expect(performance.now() - asked).toBeGreaterThan(190);
    expect(alive(seconds)).toEqual([]);
  });

  it("is killed at once when there is no patience left", async () => {
    const [stop, killNow] = [new AbortController(), new AbortController()];
    const seconds = fresh();
    const ending = run(`trap '' TERM; ${family(seconds)}`, {
      signal: stop.signal,
      killNow: killNow.signal,
    });
    await until(() => alive(seconds).length === familySize);
    stop.abort();
    const asked = performance.now();
    killNow.abort();
    expect(await ending).toMatchObject({ signal: "SIGKILL", aborted: true });
    expect(performance.now() - asked).toBeLessThan(1000);
    expect(alive(seconds)).toEqual([]);
  });

  it("is killed even when that comes the moment after its start", async () => {
    const seconds = fresh();
    for (const timeoutMs of [0, 1, 2, 3, 5, 8]) {
      expect(await run(`sleep ${seconds}`, { timeoutMs })).toMatchObject({ timedOut: true });
    }
    await until(() => alive(seconds).length === 0, 200);
    expect(alive(seconds)).toEqual([]);
  });

  it("hears that it is to stop even when that is said the moment after its start", async () => {
    for (const ms of [0, 1, 2, 3, 4, 6, 8, 12]) {
      const stop = new AbortController();
      const asked = performance.now();
      setTimeout(() => stop.abort(), ms);
      expect(await run("sleep 60; :", { signal: stop.signal })).toMatchObject({ aborted: true });
      expect(performance.now() - asked).toBeLessThan(2000);
    }
  });

  it("may kill its parent, its group and who listens for us, but not us", async () => {
    const seconds = fresh();
    await run(`kill -9 $PPID; sleep ${seconds}`, { timeoutMs: 300 });
    await run(`sleep ${seconds} & kill -9 0`);
    // Our listener in the namespace; nowhere else would a command be number 3.
    await run(`[ $$ = 3 ] && kill -9 2; setsid sleep ${seconds} & sleep ${seconds}`, {
      timeoutMs: 200,
    });
    expect(alive(seconds)).toEqual([]);
  });

  it("is one of fifty, of which one alone is stopped", async () => {
    const stop = new AbortController();
    const ends = await Promise.all(
      Array.from({ length: 50 }, (__, n) =>
        run(n === 25 ? "sleep 60" : `sleep 0.3; echo ${n}; exit ${n}`, {
          marker: "one-run",
          ...(n === 25 ? { timeoutMs: 100 } : { signal: stop.signal }),
        }),
      ),
    );
    expect(ends[25]).toMatchObject({ timedOut: true });
    for (const [n, end] of ends.entries()) {
      if (n !== 25) expect(end).toMatchObject({ code: n, tail: [String(n)] });
    }
  });

  it("ends without a trace in the others, from the first of a process to the last", async () => {
    const script = `
      const { exec, mintTrusted } = require(${JSON.stringify(bundled)});
      const one = (n) =>
        exec(mintTrusted("sleep 0." + (n < 10 ? n : 95) + "; exit " + n), { cwd: "/", marker: "m" });
      Promise.all(Array.from({ length: 25 }, (_, n) => one(n))).then((ends) =>
        console.log(ends.map(({ code }) => code).join()));`;
    expect((await said(script)).trim()).toBe(Array.from({ length: 25 }, (__, n) => n).join());
  });

  it("leaves nothing when we are killed, whenever that is", async () => {
    const seconds = fresh();
    const script = `
      const { exec, mintTrusted } = require(${JSON.stringify(bundled)});
      const options = { cwd: "/", marker: "killed-${seconds}" };
      process.stdout.write("now");
      exec(mintTrusted(${JSON.stringify(family(seconds))}), options);
      exec({ program: "sleep", args: ["${seconds}"] }, options);`;
    const started = async (): Promise<() => boolean> => {
      const node = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "ignore"] });
      await new Promise((resolve) => node.stdout.once("data", resolve));
      return () => node.kill("SIGKILL");
    };
    const killIt = await started();
    await until(() => alive(seconds).length >= familySize + 1);
    expect(alive(seconds).length).toBeGreaterThanOrEqual(familySize + 1);
    killIt();
    await until(() => alive(seconds).length === 0, 1000);
    expect(alive(seconds)).toEqual([]);
    // At moments when nothing is set up yet, or half of it.
    for (let ms = 0; ms < 40; ms += 4) {
      const killEarly = await started();
      await new Promise((resolve) => setTimeout(resolve, ms));
      killEarly();
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    await until(() => alive(seconds).length === 0, 900);
    expect(alive(seconds)).toEqual([]);
  });

  it("prints a lot in little memory, with lines and without", async () => {
    const script = `
      const { exec, mintTrusted } = require(${JSON.stringify(bundled)});
      const run = (line) => exec(mintTrusted(line), { cwd: "/", marker: "m" });
      (async () => {
        await run("head -c 30000000 /dev/zero");
        const before = process.memoryUsage.rss();
        let most = before;
        setInterval(() => { most = Math.max(most, process.memoryUsage.rss()); }, 5).unref();
        const lines = "yes ${"x".repeat(79)} | head -c 100000000";
        const ends = [await run(lines), await run("head -c 100000000 /dev/zero | tr '\\\\0' x")];
        const [many, one] = ends;
        console.log(JSON.stringify({
          grown: most - before, bytes: [many.bytes, one.bytes], lines: [many.lines, one.lines],
          length: one.tail[0].length, end: one.tail[0].slice(-8),
        }));
      })();`;
    const told = await said(script);
    const { grown, ...rest } = JSON.parse(told) as { grown: number };
    expect(grown).toBeLessThan(60e6);
    expect(rest).toEqual({
      bytes: [100e6, 100e6],
      lines: [100e6 / 80, 1],
      length: 8192 + 8,
      end: " … [cut]",
    });
  });

  it("prints characters and secrets that arrive in pieces", async () => {
    const secret = "s3cr3t/välue+1";
    const pieces = [...Buffer.from(`a ${secret} b 🎉\n`)].map((byte) => `\\${byte.toString(8)}`);
    const half = pieces.length >> 1;
    const line = [
      pieces.slice(0, 5),
      pieces.slice(5, half),
      pieces.slice(half, -4),
      pieces.slice(-4),
    ]
      .map((part) => `printf '${part.join("")}'`)
      .join("; sleep 0.03; ");
    const heard: string[] = [];
    const ended = await run(line, {
      env: { MY_API_KEY: secret },
      onLine: (each) => heard.push(each),
    });
    expect(heard).toEqual(["a [masked] b 🎉"]);
    expect(ended.tail).toEqual(heard);
  });

  it("prints no part of a secret where a line is cut", async () => {
    const secret = "0123456789".repeat(30);
    for (const before of [7900, 8100, 8192, 11_900, 12_200]) {
      const line = `printf %0${before}d 0; printf %s "$MY_TOKEN"; head -c 20000 /dev/zero | tr '\\0' x`;
      const { tail } = await run(line, { env: { MY_TOKEN: secret } });
      expect(tail).toHaveLength(1);
      expect(tail[0]).not.toContain("123");
      expect(tail[0]?.length).toBeLessThanOrEqual(8200);
    }
  });
});

describe("a command that is not started", () => {
  const options = (): ExecOptions => ({ cwd: folder, marker: "m" });

  it("says which program is missing", async () => {
    const ended = await exec({ program: "no-such-program", args: [] }, options());
    expect(ended).toMatchObject({ code: null, notStarted: "no-such-program is not on PATH" });
  });

  it("says which folder is missing", async () => {
    const ended = await run("true", { cwd: path.join(folder, "gone") });
    expect(ended.notStarted).toBe(`${path.join(folder, "gone")} is not a folder`);
  });

  it("is never a file of the repository's", async () => {
    fs.writeFileSync(path.join(folder, "planted"), "#!/bin/sh\n", { mode: 0o755 });
    const env = { PATH: `.::${path.basename(folder)}` };
    for (const program of ["./planted", path.join(folder, "planted"), "planted", ""]) {
      const ended = await exec({ program, args: [] }, { ...options(), env });
      expect(ended.notStarted).toBeDefined();
    }
  });

  it("is one with an argument that no program can be given", async () => {
    for (const argument of ["a\0b", "x".repeat(3_000_000)]) {
      const ended = await exec({ program: "echo", args: [argument] }, options());
      expect(ended.notStarted).toBeDefined();
    }
  });

  it("is one that was to stop before it began", async () => {
    const ended = await run("touch began", { signal: AbortSignal.abort() });
    expect(ended).toMatchObject({ aborted: true });
    expect(ended.notStarted).toBeDefined();
    expect(fs.existsSync(path.join(folder, "began"))).toBe(false);
  });
});

describe("a sweep", () => {
  it("kills what carries the marker and all below it, and nothing else", async () => {
    const [seconds, others] = [fresh(), fresh()];
    const started = (duration: string, marker: string): void => {
      const line = `sleep ${duration} & env -i sleep ${duration} & wait`;
      const env = { ...process.env, AUTODEV_RUN_ID: marker };
      spawn("sh", ["-c", line], { env, detached: true, stdio: "ignore" }).unref();
    };
    started(seconds, "swept");
    started(others, "swept-2");
    await until(() => alive(seconds).length === 2 && alive(others).length === 2);
    expect(await sweep("swept")).toBe(3);
    expect(alive(seconds)).toEqual([]);
    expect(alive(others)).toHaveLength(2);
    expect(await sweep("swept-2")).toBe(3);
    expect(await sweep("swept-2")).toBe(0);
  });
});
