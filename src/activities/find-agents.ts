/**
 * Which agents there are on this machine, of what version, and whether somebody is logged in.
 *
 *  1. Nothing of a repository is run: no program that lies in it, not even when PATH leads there, and
 *     none of ours starts inside it, where its `.tool-versions` or `.npmrc` would have a say.
 *  2. Of a secret only its place is told, never a character of it.
 *  3. Whoever takes too long has no version; that is no failure.
 */
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import type { Login } from "../core/agent/choose.ts";
import { type FileSign, type KnownAgent, knownAgents, versionIn } from "../core/agent/known.ts";
import { found, foundOutside, isInside } from "../exec/find-program.ts";
import type { Ended, exec as realExec } from "../exec.ts";

export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The repository that we are in, if any. */
  readonly root?: string;
  readonly exec: typeof realExec;
  /** In the environment of everything that is started. */
  readonly marker: string;
}

export interface FoundAgent {
  readonly known: KnownAgent;
  readonly program: Presence;
  /** Undefined: it did not say. */
  readonly version?: string;
  /** Of one that is not there nobody knows. */
  readonly login?: LoginSeen;
}

export type Presence =
  | { readonly is: "there"; readonly path: string }
  | { readonly is: "missing" }
  /** It lies in the repository, and is not run. */
  | { readonly is: "inside"; readonly path: string };

export interface LoginSeen {
  readonly is: Login;
  /** A variable, a file or a command; never what is in it. */
  readonly by: string;
}

const seen = new Map<string, Promise<FoundAgent>>();

/** All at once; looked at once in the life of a process. */
export const findAgents = (
  machine: Machine,
  wanted: readonly KnownAgent[] = knownAgents,
): Promise<FoundAgent[]> =>
  Promise.all(
    wanted.map((known) => {
      const key = [known.name, machine.root, machine.env["PATH"], machine.env["HOME"]].join("\0");
      const looking = seen.get(key) ?? lookAt(known, machine);
      seen.set(key, looking);
      return looking;
    }),
  );

async function lookAt(known: KnownAgent, machine: Machine): Promise<FoundAgent> {
  const program = presenceOf(known.program, machine);
  if (program.is !== "there") return { known, program };
  const [version, login] = await Promise.all([versionOf(known, machine), loginTo(known, machine)]);
  return { known, program, ...(version !== undefined && { version }), login };
}

// ── the program ────────────────────────────────────────────────────────────────────────────────

export function presenceOf(
  program: string,
  { env, root }: Pick<Machine, "env" | "root">,
): Presence {
  const outside = foundOutside(program, env["PATH"] ?? "", root);
  if (outside !== undefined) return { is: "there", path: outside };
  const inside = found(program, env["PATH"] ?? "");
  return inside === undefined ? { is: "missing" } : { is: "inside", path: inside };
}

const longestMs = 10_000;

/** They are asked what they are, and not to renew themselves or to tell anybody. */
const quietly = {
  NO_COLOR: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  COPILOT_AUTO_UPDATE: "false",
  OPENCODE_DISABLE_AUTOUPDATE: "1",
};

async function ask(
  { program }: KnownAgent,
  args: readonly string[],
  { exec, env, root, marker }: Machine,
): Promise<{ ended: Ended; out: readonly string[] }> {
  const out: string[] = [];
  const ended = await exec(
    { program, args },
    {
      cwd: neutralGround(env, root),
      env: { ...quietly, PATH: env["PATH"] },
      outside: root,
      timeoutMs: longestMs,
      marker,
      tailLines: 20,
      onLine: (line, stream) => {
        if (stream === "out" && out.length < 50) out.push(line);
      },
    },
  );
  return { ended, out };
}

/** The user's home, where only the user's own settings are; unless that is the repository. */
function neutralGround(env: Machine["env"], root: string | undefined): string {
  const home = homeIn(env);
  const isFolder = fs.statSync(home, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder && !isInside(home, root) ? home : path.parse(home).root;
}

const homeIn = (env: Machine["env"]): string => {
  const given = env["HOME"];
  return given && path.isAbsolute(given) ? given : os.homedir();
};

async function versionOf(known: KnownAgent, machine: Machine): Promise<string | undefined> {
  const { ended, out } = await ask(known, known.version, machine);
  return versionIn(out) ?? versionIn(ended.tail);
}

// ── the login ──────────────────────────────────────────────────────────────────────────────────

async function loginTo(known: KnownAgent, machine: Machine): Promise<LoginSeen> {
  const { variables, command, files, perhaps } = known.login;
  const variable = variables.find((name) => isSet(machine.env, name));
  if (variable !== undefined) return { is: "yes", by: variable };
  const told = command && (await saidBy(known, command, machine));
  if (told?.is === "yes") return told;
  const file = told ? undefined : files.map((each) => signIn(each, machine.env)).find(isText);
  if (file !== undefined) return { is: "yes", by: file };
  const maybe =
    perhaps.variables.find((name) => isSet(machine.env, name)) ??
    perhaps.files.map((each) => signIn(each, machine.env)).find(isText);
  if (maybe !== undefined) return { is: "unknown", by: maybe };
  return told ?? { is: "no", by: "nothing that would tell so" };
}

const isText = (text: string | undefined): text is string => text !== undefined;
const isSet = (env: Machine["env"], name: string): boolean => (env[name] ?? "") !== "";

/** Undefined: it gave no answer, for whatever reason. */
async function saidBy(
  known: KnownAgent,
  args: readonly string[],
  machine: Machine,
): Promise<LoginSeen | undefined> {
  const { ended } = await ask(known, args, machine);
  if (ended.code === null || ended.timedOut) return undefined;
  return { is: ended.code === 0 ? "yes" : "no", by: [known.program, ...args].join(" ") };
}

/** Its name as people write it, if it is there and holds what it has to. */
function signIn(sign: FileSign, env: Machine["env"]): string | undefined {
  const given = sign.variable === undefined ? undefined : env[sign.variable];
  const home = homeIn(env);
  const folder = given && path.isAbsolute(given) ? given : path.join(home, sign.below);
  const full = path.join(folder, sign.file);
  if (!holds(full, sign.holds)) return undefined;
  return full.startsWith(`${home}${path.sep}`) ? `~${full.slice(home.length)}` : full;
}

const mostRead = 1024 ** 2;

function holds(file: string, text: string | undefined): boolean {
  try {
    const stat = fs.statSync(file);
    if (!stat.isFile() || stat.size === 0) return false;
    if (text === undefined) return true;
    return stat.size <= mostRead && fs.readFileSync(file, "utf8").includes(text);
  } catch {
    return false;
  }
}
