/**
 * The one way in which git is started for work. Nothing that a repository's own configuration
 * names is ever run: no hook, no file-system monitor, no filter, no diff or merge driver, no
 * helper. Drivers in the user's own (global) configuration are his, and stay: an LFS that he
 * installed works.
 *
 *  1. Paths and ids go as arguments or NUL-terminated input; pathspecs are literal.
 *  2. The repository is pinned (GIT_DIR, GIT_WORK_TREE): no `core.worktree`, no embedded bare
 *     repository and no `.git` file that an agent rewrote leads git elsewhere.
 *  3. Each call is a session of its own: when we are killed with our whole process group, a git that
 *     is half-way through a rename still finishes, and leaves no stale lock behind.
 *  4. What is written is on disk before git says so (`core.fsync=all`).
 */
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { type Failure, fail, type Result, succeed } from "../core/failure.ts";
import { found } from "../exec/find-program.ts";
import { shown } from "../safe-text.ts";
import { openPipes, type Pipes } from "./pipes.ts";
import { borrowStarters, type Starters } from "./starters.ts";

/** Which index, work tree and administrative folder a call is about. */
export interface GitPlaceOfWork {
  readonly gitDir: string;
  readonly commonDir: string;
  readonly workTree: string;
  /** A tree of ours: all files, whatever the user's own tree leaves out. */
  readonly whole?: true;
  /** Made by us a moment ago: nothing in its configuration has to be looked for. */
  readonly made?: true;
}

export interface GitCall {
  readonly args: readonly string[];
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  /** Codes that are answers, not failures; 0 always is one. */
  readonly expect?: readonly number[];
  readonly timeoutMs?: number;
  /** Whoever says more is ended there. */
  readonly mostBytes?: number;
}

export interface GitAnswer {
  readonly code: number;
  readonly out: Buffer;
  readonly text: string;
  /** What it said beside its answer: warnings. */
  readonly said: string;
  /** It had more to say than was wanted. */
  readonly cut?: true;
}

export interface Git extends Pipes {
  readonly place: GitPlaceOfWork;
  call(call: GitCall): Promise<Result<GitAnswer>>;
  /** Its output, without the line break at its end. */
  say(...args: string[]): Promise<Result<string>>;
  /** None of the gits that stay is left, wherever they were asked from. */
  end(): Promise<void>;
  /** The same repository, seen from another work tree or index. */
  at(place: Partial<GitPlaceOfWork>, env?: Readonly<Record<string, string>>): Git;
  /** What `git config` says; asked again only when a file of the configuration has changed. */
  configured(args: readonly string[]): Promise<Result<string>>;
  /** Programs that the repository's own configuration names: other people's git would run them. */
  programs(): Promise<Result<readonly (readonly [key: string, value: string])[]>>;
}

const always: readonly (readonly [string, string])[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.fsync", "all"],
  ["core.fsyncMethod", "fsync"],
  ["core.alternateRefsCommand", ""],
  ["core.sshCommand", "false"],
  ["core.gitProxy", ""],
  ["core.askPass", "true"],
  ["core.bare", "false"],
  ["core.quotePath", "false"],
  ["core.precomposeUnicode", "false"],
  ["credential.helper", ""],
  ["safe.bareRepository", "explicit"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["commit.gpgSign", "false"],
  ["submodule.recurse", "false"],
  ["diff.ignoreSubmodules", "dirty"],
  ["log.showSignature", "false"],
];

/** By the environment, where a key is never cut at a "=" in its name. */
function settings(blanked: readonly string[], whole: boolean): Record<string, string> {
  // A merge that is left to "false" is a conflict; to nothing at all, a failure of git's.
  const own = blanked.map(
    (key) => [key, /\.(?:required|driver)$/i.test(key) ? "false" : ""] as const,
  );
  const dense = whole ? [["core.sparseCheckout", "false"] as const] : [];
  const all = [...always, ...dense, ...own];
  return Object.fromEntries([
    ["GIT_CONFIG_COUNT", String(all.length)],
    ...all.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ]);
}

/** The user's own choice of name and of configuration files; everything else of GIT_* is a hook's. */
const kept = /^GIT_(?:(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL)|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM))$/;

let users: NodeJS.ProcessEnv | undefined;
const usersEnvironment = (): NodeJS.ProcessEnv => {
  users ??= Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_") || kept.test(name)),
  );
  return users;
};

function environment(
  place: GitPlaceOfWork,
  more: Readonly<Record<string, string>>,
): NodeJS.ProcessEnv {
  return {
    ...usersEnvironment(),
    LC_ALL: "C",
    GIT_DIR: place.gitDir,
    GIT_COMMON_DIR: place.commonDir,
    GIT_WORK_TREE: place.workTree,
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_LITERAL_PATHSPECS: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_EDITOR: "false",
    // No transport at all, whatever is configured: nothing is fetched behind our back.
    GIT_ALLOW_PROTOCOL: "",
    GIT_NO_LAZY_FETCH: "1",
    ...more,
  };
}

/** `starters`: for whoever calls it all the time. */
export function openGit(place: GitPlaceOfWork, { starters = 0 } = {}): Git {
  const own = starters > 0 ? borrowStarters(starters) : undefined;
  let calls = 0;
  const start: Starters["start"] = (call) =>
    own && ++calls > fewCalls ? own.start(call) : here(call);
  const watch = configWatch(start);
  const pipes = new Map<string, Pipes>();
  const answers = new Map<string, { readonly stamp: string; readonly text: string }>();
  const make = (where: GitPlaceOfWork, env: Readonly<Record<string, string>>): Git => {
    const git: Git = {
      ...pipesAt(where, env),
      place: where,
      async call(call) {
        const local = await watch.local(where);
        if (!local.ok) return local;
        return spawnGit(
          start,
          where,
          { ...call, env: { ...env, ...call.env } },
          local.value.drivers,
        );
      },
      async say(...args) {
        const answer = await git.call({ args });
        return answer.ok ? succeed(answer.value.text.replace(/\n$/, "")) : answer;
      },
      async configured(args) {
        const stamp = await watch.stamp(where);
        if (!stamp.ok) return stamp;
        const key = JSON.stringify([where.gitDir, where.commonDir, args]);
        const known = answers.get(key);
        if (known !== undefined && known.stamp === stamp.value) return succeed(known.text);
        const told = await git.call({ args: ["config", ...args], expect: [1] });
        if (!told.ok) return told;
        if (stamp.value !== undefined)
          answers.set(key, { stamp: stamp.value, text: told.value.text });
        return succeed(told.value.text);
      },
      async programs() {
        const local = await watch.local(where);
        return local.ok ? succeed(local.value.programs) : local;
      },
      async end() {
        await Promise.all([...[...pipes.values()].map((each) => each.end()), own?.end()]);
      },
      at: (elsewhere, more = {}) => make({ ...where, ...elsewhere }, { ...env, ...more }),
    };
    return git;
  };
  /** One for each store of objects, wherever one looks at it from. */
  const pipesAt = (where: GitPlaceOfWork, env: Readonly<Record<string, string>>): Pipes => {
    const store = Object.fromEntries(
      Object.entries(env).filter(([name]) => isOfObjects.test(name)),
    );
    const key = JSON.stringify([where.commonDir, store]);
    const known = pipes.get(key) ?? openPipes(pipesOptions(where, store));
    pipes.set(key, known);
    return known;
  };
  return make(place, {});
}

const isOfObjects = /^GIT_(?:ALTERNATE_)?OBJECT_/;

/** A run of a phase or two is over before starters of its own would have paid for themselves. */
const fewCalls = 80;

const pipesOptions = (place: GitPlaceOfWork, env: Readonly<Record<string, string>>) => ({
  scratch: path.join(place.commonDir, "autodev", "scratch"),
  start: () => ({
    program: gitProgram(),
    cwd: place.commonDir,
    // Read once, when it starts; neither reading nor writing an object asks any driver.
    env: { ...environment(place, env), ...settings([], place.whole === true) },
  }),
  refusal: (command: string, said: string, signal: string | null): Failure =>
    diskFull(place) ?? gitFailure([command], said, signal),
});

interface ConfigWatch {
  local(place: GitPlaceOfWork): Promise<Result<LocalConfig>>;
  /** Another one: some file has changed. Undefined: what is configured depends on more than files. */
  stamp(place: GitPlaceOfWork): Promise<Result<string | undefined>>;
}

/**
 * The drivers that the repository's own configuration names, to be blanked one by one: git has no
 * switch for all of them. A file is asked again whenever it has changed.
 */
function configWatch(start: Starters["start"]): ConfigWatch {
  const known = new Map<string, { readonly stamp: string; readonly says: Promise<ConfigFile> }>();
  const read = (place: GitPlaceOfWork, file: string): Promise<ConfigFile> => {
    const stamp = stampOf(file);
    const before = known.get(file);
    if (before?.stamp === stamp) return before.says;
    const says =
      stamp === absent ? Promise.resolve(saysNothing) : readConfigFile(start, place, file);
    known.set(file, { stamp, says });
    return says;
  };
  /** With everything that they include. */
  const readAll = async (
    place: GitPlaceOfWork,
    files: string[],
  ): Promise<Result<readonly (readonly [string, string])[]>> => {
    const entries: (readonly [string, string])[] = [];
    for (let at = 0; at < files.length; at++) {
      if (at > mostIncludes) return tooManyIncludes(place);
      const says = await read(place, files[at] ?? "");
      entries.push(...says.entries);
      for (const file of says.includes) if (!files.includes(file)) files.push(file);
    }
    return succeed(entries);
  };
  return {
    async local(place) {
      if (place.made) return succeed(nothingNamed);
      const entries = await readAll(place, localFiles(place));
      if (!entries.ok) return entries;
      const named = entries.value.map(([key]) => key).filter((key) => driverKey.test(key));
      return succeed({
        drivers: [...new Set(named)],
        programs: entries.value.filter(
          ([key, value]) => programKey.test(key) && !isSwitch.test(value),
        ),
      });
    },
    async stamp(place) {
      const files = [...localFiles(place), ...usersFiles()];
      const entries = await readAll(place, files);
      if (!entries.ok) return entries;
      const conditional = entries.value.some(([key]) => /^includeif\./i.test(key));
      return succeed(conditional ? undefined : files.map(stampOf).join(" "));
    },
  };
}

const localFiles = (place: GitPlaceOfWork): string[] => [
  path.join(place.commonDir, "config"),
  path.join(place.gitDir, "config.worktree"),
];

/** Where git looks for what a user, or a whole machine, has configured. */
function usersFiles(): string[] {
  const { env } = process;
  const home = env["HOME"] ?? os.homedir();
  const global =
    env["GIT_CONFIG_GLOBAL"] === undefined
      ? [
          path.join(home, ".gitconfig"),
          path.join(env["XDG_CONFIG_HOME"] || path.join(home, ".config"), "git", "config"),
        ]
      : [env["GIT_CONFIG_GLOBAL"]];
  return [...global, env["GIT_CONFIG_SYSTEM"] ?? "/etc/gitconfig"];
}

const nothingNamed: LocalConfig = { drivers: [], programs: [] };

const tooManyIncludes = ({ commonDir }: GitPlaceOfWork): ReturnType<typeof fail> =>
  fail("git", `${commonDir}/config includes more than ${mostIncludes} files: nothing was run`, {
    file: path.join(commonDir, "config"),
    hint: "look at its include.path settings: nobody needs that many",
  });

interface LocalConfig {
  readonly drivers: readonly string[];
  readonly programs: readonly (readonly [key: string, value: string])[];
}

interface ConfigFile {
  readonly entries: readonly (readonly [key: string, value: string])[];
  /** Whatever the condition: what does not hold here may hold in a work tree of ours. */
  readonly includes: readonly string[];
}

const saysNothing: ConfigFile = { entries: [], includes: [] };
const absent = "-";
const mostIncludes = 100;

function stampOf(file: string): string {
  const stat = fs.statSync(file, { throwIfNoEntry: false, bigint: true });
  // Not by the time of its content, which anybody can set.
  return stat ? `${stat.ctimeNs}-${stat.ino}-${stat.size}` : absent;
}

const driverKey =
  /^(?:filter\..*\.(?:clean|smudge|process|required)|diff\..*\.(?:textconv|command)|merge\..*\.driver)$/is;

const programKey =
  /(?:^alias\.|\.(?:fsmonitor|hookspath|sshcommand|editor|pager|gitproxy|askpass|alternaterefscommand|program|helper|command|cmd|textconv|driver|clean|smudge|process|external|uploadpack|receivepack|packobjectshook|difffilter|vcs)$)/i;
const isSwitch = /^(?:true|false|yes|no|on|off|\d*)$/i;

async function readConfigFile(
  start: Starters["start"],
  place: GitPlaceOfWork,
  file: string,
): Promise<ConfigFile> {
  const ask = async (...args: string[]): Promise<string[]> => {
    const call = { args: ["config", "--file", file, "--no-includes", "--null", ...args] };
    const listed = await spawnGit(start, place, { ...call, expect: [1, 3, 128] }, []);
    return listed.ok ? listed.value.text.split("\0").filter((entry) => entry !== "") : [];
  };
  const entries = (await ask("--list")).map((entry) => {
    const end = entry.indexOf("\n");
    return end < 0
      ? ([entry, "true"] as const)
      : ([entry.slice(0, end), entry.slice(end + 1)] as const);
  });
  const includes = entries.some(([key]) => isInclude.test(key))
    ? await ask("--type=path", "--get-regexp", "^include(if[.].*)?[.]path$")
    : [];
  return {
    entries,
    // Git has expanded them; ".." is left to the kernel, which follows links first.
    includes: includes
      .map((entry) => entry.slice(entry.indexOf("\n") + 1))
      .map((named) => (path.isAbsolute(named) ? named : `${path.dirname(file)}/${named}`)),
  };
}

const isInclude = /^include(?:if\..*)?\.path$/is;

let program: string | undefined;

/** By its whole path: each call would search PATH anew, a folder after the other. */
const gitProgram = (): string => {
  program ??= found("git", process.env["PATH"] ?? "") ?? "git";
  return program;
};

const patience = 10 * 60_000;

async function spawnGit(
  start: Starters["start"],
  place: GitPlaceOfWork,
  call: GitCall,
  blanked: readonly string[],
): Promise<Result<GitAnswer>> {
  const { code, signal, out, err, error } = await start({
    program: gitProgram(),
    args: call.args,
    cwd: fs.existsSync(place.workTree) ? place.workTree : place.commonDir,
    env: { ...environment(place, call.env ?? {}), ...settings(blanked, place.whole === true) },
    input: call.input,
    timeoutMs: call.timeoutMs ?? patience,
    mostBytes: call.mostBytes,
  });
  if (error === "ENOBUFS") {
    const first = out.subarray(0, call.mostBytes);
    return succeed({ code: 0, out: first, text: first.toString("utf8"), said: "", cut: true });
  }
  if (error !== undefined && error !== "ETIMEDOUT") return noGit(error);
  const said = err.toString("utf8");
  if (code === 0 || (code !== null && call.expect?.includes(code))) {
    return succeed({ code, out, text: out.toString("utf8"), said });
  }
  const ended = error === undefined ? signal : "timeout";
  return { ok: false, failure: diskFull(place) ?? gitFailure(call.args, said, ended) };
}

/** From this very thread: for a command that asks git a few things. */
const here: Starters["start"] = ({ program, args, cwd, env, input, timeoutMs, mostBytes }) =>
  new Promise((resolve) => {
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let left = mostBytes ?? Number.POSITIVE_INFINITY;
    let why: string | undefined;
    const end = (code: number | null, signal: string | null, error?: string): void => {
      clearTimeout(timer);
      resolve({
        code,
        signal,
        out: Buffer.concat(out),
        err: Buffer.concat(err),
        ...(error === undefined ? {} : { error }),
      });
    };
    const child = spawn(program, [...args], {
      cwd,
      env,
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      detached: true,
    });
    const kill = (reason: string): void => {
      why ??= reason;
      child.kill("SIGKILL");
    };
    const timer = setTimeout(() => kill("ETIMEDOUT"), timeoutMs);
    child.stdout?.on("data", (bytes: Buffer) => {
      if (left >= 0) out.push(bytes);
      left -= bytes.length;
      if (left < 0) kill("ENOBUFS");
    });
    child.stderr?.on("data", (bytes: Buffer) => err.push(bytes));
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
    child.on("error", (error) => end(null, null, "code" in error ? String(error.code) : "unknown"));
    child.on("close", (code, signal) => end(code, signal, why));
  });

function noGit(code: string): ReturnType<typeof fail> {
  return fail("git", `git cannot be started (${code})`, {
    hint: code === "ENOENT" ? "install git 2.38 or newer" : "try again",
  });
}

/** Git does not always say why it could not write. */
function diskFull({ commonDir }: GitPlaceOfWork): Failure | undefined {
  const { bavail, bsize, ffree, files } = fs.statfsSync(commonDir);
  const full = bavail * bsize < 128 * 1024 || (files > 0 && ffree < 4);
  if (!full) return undefined;
  const { failure } = fail("disk", `no space is left on the disk of ${commonDir} (ENOSPC)`, {
    file: commonDir,
    hint: "free some space, then run the same command again: it goes on where it was",
  });
  return failure;
}

function gitFailure(args: readonly string[], said: string, ended: string | null): Failure {
  const lines = said.split("\n").filter((line) => line.trim() !== "");
  const why = shown(lines[0] ?? (ended ? `it ended with ${ended}` : "it gives no reason"));
  const command = args.find((arg, at) => /^[a-z]/.test(arg) && args[at - 1] !== "-c") ?? "git";
  const { failure } = fail(ended ? "git-died" : "git", `git ${command} failed: ${why}`, {
    details: lines.slice(0, 12).map((line) => shown(line)),
    hint: hintFor(said),
  });
  return failure;
}

function hintFor(said: string): string {
  const lock = /Unable to create '([^']+\.lock)'/.exec(said)?.[1];
  if (lock) return `another git is at work, or one was killed: if none runs, rm ${shown(lock)}`;
  if (/No space left on device/.test(said))
    return "free some space, then run the same command again";
  if (/Permission denied|Read-only file system/.test(said))
    return "make the repository writable, then run the same command again";
  return "git fsck tells whether the repository is sound; then run the same command again";
}
