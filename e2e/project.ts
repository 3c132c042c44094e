/** A project in a place of its own, with real agents on PATH that ask a scripted model. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type AgentName, programOf, settle } from "./agents.ts";
import { environmentIn, makePlace, type Place, putFiles } from "./place.ts";

const root = process.cwd();
export const binary = join(root, "dist/cli/main.cjs");

export interface Ran {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
}

export interface Project {
  readonly place: Place;
  readonly env: Readonly<Record<string, string>>;
  git(...args: readonly string[]): string;
  autodev(...args: readonly string[]): Promise<Ran>;
  /** The same, to be ended by whoever started it. */
  start(...args: readonly string[]): ChildProcess & { readonly ended: Promise<Ran> };
  /** Says yes to what the repository has run. */
  trust(plan: string): Promise<string>;
  remove(): void;
}

/** `agents`: who is on PATH, and where each finds its model. */
export function makeProject(
  agents: Readonly<Partial<Record<AgentName, string>>>,
  files: Readonly<Record<string, string>>,
): Project {
  const place = makePlace();
  const programs = join(place.home, "bin");
  mkdirSync(programs);
  let env: Record<string, string> = environmentIn(place);
  for (const [name, model] of Object.entries(agents) as [AgentName, string][]) {
    env = { ...env, ...settle(name, place, model) };
    symlinkSync(programOf(name, join(root, "e2e")), join(programs, name));
  }
  env["PATH"] = `${programs}:${env["PATH"]}`;
  putFiles(place.tree, files);
  const git = (...args: readonly string[]): string =>
    execFileSync("git", args, { cwd: place.tree, env, encoding: "utf8" });
  git("init", "--quiet", "--initial-branch=main");
  git("config", "user.name", "Dev");
  git("config", "user.email", "dev@example.com");
  git("add", "--all");
  git("commit", "--quiet", "--message=Begin");
  const start: Project["start"] = (...args) => {
    const child = spawn(process.execPath, [binary, ...args], {
      cwd: place.tree,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [out, err] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    const ended = new Promise<Ran>((resolve) => {
      child.once("close", (code, signal) => resolve({ code, signal, out, err }));
    });
    return Object.assign(child, { ended });
  };
  const autodev: Project["autodev"] = (...args) => start(...args).ended;
  return {
    place,
    env,
    git,
    autodev,
    start,
    async trust(plan) {
      const { err } = await autodev("build", plan, "--commit=auto");
      const hash = /--trust-sha256 ([0-9a-f]{64})/.exec(err)?.[1];
      if (hash === undefined) throw new Error(`nothing is to be trusted: ${err}`);
      return hash;
    },
    remove: place.remove,
  };
}

/** All that was recorded, oldest first. */
export async function eventsOf<Recorded>(project: Project): Promise<Recorded[]> {
  const { out } = await project.autodev("log", "--json");
  return out
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Recorded);
}

/** For who asks why. */
export const told = ({ code, out, err }: Ran): string => `${code}\n${out}\n${err}`;

export async function until(is: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let tries = 600; tries > 0; tries--) {
    if (await is()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`waited in vain: ${what}`);
}
