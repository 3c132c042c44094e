/** The PostgreSQL that tests and developers start: it keeps what is committed, and leaves nothing behind. */
import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { findPostgres, type Postgres, startPostgres } from "../scripts/postgres.mjs";
import { eventually, makeFolder, run } from "./rig.ts";

const binaries = findPostgres();
const script = fileURLToPath(new URL("../scripts/postgres.mjs", import.meta.url));

/** Debian's and most others' have it; a set of binaries may be without. */
const psql = [path.join(binaries ?? "", "psql"), "/usr/bin/psql"].find((file) =>
  fs.existsSync(file),
);

async function sql(url: string, statement: string): Promise<string> {
  const args = ["--no-psqlrc", "--tuples-only", "--no-align", "--command", statement, url];
  const ran = await run(psql as string, args, { cwd: "/" });
  expect(ran, ran.all).toMatchObject({ code: 0 });
  return ran.out.trim();
}

/** The states of the processes that are there, by pid. */
const living = (): ReadonlyMap<number, { parent: number; state: string; command: string }> =>
  new Map(
    fs
      .readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        try {
          const stat = fs.readFileSync(`/proc/${name}/stat`, "utf8");
          const [state = "", parent = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
          const command = fs.readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
          return state === "Z"
            ? []
            : [[Number(name), { parent: Number(parent), state, command }] as const];
        } catch {
          return [];
        }
      }),
  );

const family = (pid: number): number[] => [
  pid,
  ...[...living()].filter(([, { parent }]) => parent === pid).map(([each]) => each),
];

const stillThere = (pids: readonly number[]): number[] => {
  const all = living();
  return pids.filter((pid) => all.has(pid));
};

/** The kernel may still be busy with the end of one that has let go of everything. */
const nothingIsLeftOf = (pids: readonly number[]): Promise<void> =>
  eventually("nothing is left", () => stillThere(pids).length === 0, 10_000);

const started: Postgres[] = [];
async function start(options?: Parameters<typeof startPostgres>[0]): Promise<Postgres> {
  const postgres = await startPostgres(options);
  started.push(postgres);
  return postgres;
}
/** Of a test that has failed, whoever it started would stay for ever. */
const spawned: ChildProcess[] = [];
function begin(
  args: readonly string[],
  env = process.env,
): ChildProcessByStdio<null, Readable, null> {
  const stdio: ["ignore", "pipe", "ignore"] = ["ignore", "pipe", "ignore"];
  const child = spawn(process.execPath, [script, ...args], { env, stdio });
  spawned.push(child);
  return child;
}
afterAll(async () => {
  for (const child of spawned) child.kill("SIGKILL");
  for (const postgres of started) await postgres.remove();
});

const missing = [
  ...(binaries === undefined ? ["PostgreSQL's binaries"] : []),
  ...(psql === undefined ? ["psql"] : []),
  ...(fs.existsSync("/proc/self/stat") ? [] : ["/proc"]),
];
const isImpossible = missing.length > 0;
const why = isImpossible ? ` (skipped: ${missing.join(" and ")} not here)` : "";

describe.skipIf(isImpossible)(`a PostgreSQL of one's own${why}`, () => {
  let one: Postgres;

  it("answers, on loopback alone, for two hundred clients, with fsync", async () => {
    one = await start();
    expect(await sql(one.url, "SELECT 1")).toBe("1");
    const names = ["listen_addresses", "max_connections", "fsync", "data_directory"];
    const values = names.map((name) => `current_setting('${name}')`).join(" || ' ' || ");
    expect(await sql(one.url, `SELECT ${values}`)).toBe(`127.0.0.1 200 on ${one.data}`);
    expect(await sql(one.url, "SELECT current_user")).toBe("autodev");
    expect(fs.statSync(one.data).mode & 0o777).toBe(0o700);
  });

  it("makes a database by any name, and says why it cannot", async () => {
    const name = `it's a "test" ü%`;
    const url = await one.createDatabase(name);
    expect(await sql(url, "SELECT current_database()")).toBe(name);
    await expect(one.createDatabase(name)).rejects.toThrow(/already exists/);
  });

  it("keeps what is committed when it is stopped at once, and when all of it is killed", async () => {
    await sql(one.url, "CREATE TABLE kept (what text)");
    await sql(one.url, "INSERT INTO kept VALUES ('stopped')");
    const before = family(one.pid());
    expect(before.length).toBeGreaterThan(3);
    await one.stop("immediate");
    await nothingIsLeftOf(before);
    expect(() => one.pid()).toThrow(/not running/);
    await one.start();

    await sql(one.url, "INSERT INTO kept VALUES ('killed')");
    const between = family(one.pid());
    await one.kill();
    await nothingIsLeftOf(between);
    await one.start();
    expect(await sql(one.url, "SELECT string_agg(what, ' ') FROM kept")).toBe("stopped killed");
    expect(one.url).toContain(`:${one.port}/`);
  });

  it("is not met by another", async () => {
    const two = await start({ fast: true });
    expect(two.port).not.toBe(one.port);
    expect(await sql(two.url, "SELECT current_setting('fsync')")).toBe("off");
    await two.createDatabase("mine");
    await two.kill();
    expect(await sql(one.url, "SELECT count(*) FROM pg_database WHERE datname = 'mine'")).toBe("0");
    const { data, port } = one;
    await expect(startPostgres({ data: two.data, port })).rejects.toThrow(/could not bind/);
    await expect(startPostgres({ data })).rejects.toThrow(/lock file .* already exists/s);
    expect(await sql(one.url, "SELECT 1")).toBe("1");
  });

  it("ends when who started it is killed, and takes its folder along", async () => {
    const owner = begin(["start", "--fast"]);
    let said = "";
    owner.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
    await eventually("it says where it is", () => said.endsWith("/postgres\n"), 15_000);
    const data = await sql(said.trim(), "SELECT current_setting('data_directory')");
    const pid = Number(fs.readFileSync(path.join(data, "postmaster.pid"), "utf8").split("\n")[0]);
    const keeper = living().get(pid)?.parent as number;
    const all = [owner.pid as number, keeper, ...family(pid)];
    expect(stillThere(all)).toEqual(all);
    owner.kill("SIGKILL");
    await nothingIsLeftOf(all);
    expect([...living().values()].filter(({ command }) => command.includes(data))).toEqual([]);
    expect(fs.existsSync(path.dirname(data))).toBe(false);
  });

  it("ends when who started it is killed before it runs", async () => {
    const folder = makeFolder("killed-early");
    // As folders for temporary files are: another user removes what is its own there.
    fs.chmodSync(folder, 0o1777);
    const env = { ...process.env, TMPDIR: folder };
    const owner = begin(["start", "--fast"], env);
    const ofIt = (): unknown[] =>
      [...living().values()].filter(({ command }) => command.includes(folder));
    await eventually("it is at work", () => ofIt().length > 0, 15_000);
    owner.kill("SIGKILL");
    await eventually("nothing is left", () => ofIt().length === 0, 15_000);
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  it("runs one command beside it and ends as that did", async () => {
    const command = `echo "$AUTODEV_DATABASE_URL"; "$0" --no-psqlrc -c 'SHOW data_directory' -At "$AUTODEV_DATABASE_URL"`;
    const args = [script, "run", "--fast", "--", "sh", "-c", `${command}; exit 7`, psql as string];
    const ran = await run(process.execPath, args, { cwd: "/" });
    expect(ran).toMatchObject({ code: 7, err: "" });
    const [url = "", data = ""] = ran.out.split("\n");
    expect(url).toMatch(/^postgresql:\/\/autodev@127\.0\.0\.1:\d+\/postgres$/);
    expect(data).not.toBe("");
    expect(fs.existsSync(data)).toBe(false);
  });

  it("is told to end, and keeps a folder that was given", async () => {
    const data = path.join(makeFolder("postgres"), "data");
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const child = begin(["start", "--data", data, "--fast"]);
      let said = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
      const ended = new Promise((resolve) => child.once("exit", resolve));
      await eventually("it says where it is", () => said.endsWith("\n"), 15_000);
      child.kill(signal);
      expect(await ended).toBe(0);
      expect(fs.existsSync(path.join(data, "PG_VERSION"))).toBe(true);
      expect(fs.existsSync(path.join(data, "postmaster.pid"))).toBe(false);
    }
  });
});

it("says how it is called", async () => {
  for (const args of [[], ["run"], ["start", "--port", "0"]]) {
    const ran = await run(process.execPath, [script, ...args], { cwd: "/" });
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toMatch(/postgres\.mjs start|--port takes/);
  }
});
