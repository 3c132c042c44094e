/**
 * Programs of others, each installed from the registry by its exact version on the first full run
 * and kept in `.peers/`. One that cannot be installed is told with the reason, never left out.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";

export interface Peer {
  readonly name: string;
  readonly version: string;
  /** What it is not without, `name@version`. */
  readonly beside?: readonly string[];
  /** Of the package: there when it has been installed. */
  readonly proof: string;
  /** Its optional parts are other companies' agents, which none of what we call needs. */
  readonly omitOptional?: true;
  /** Without its own script it leaves no program, or nothing is compiled. */
  readonly needsScript?: true;
}

export const peerName = ({ name, version }: Peer): string => `${name} ${version}`;

const [installMinutes, scriptMinutes] = [5, 15];

/** A folder whose `node_modules` has it; a string says why there is none. */
export type Installed = { readonly folder: string } | string;

export function install(peer: Peer): Installed {
  const { name, version, beside = [], proof, omitOptional, needsScript } = peer;
  const folder = path.resolve("bench", ".peers", `${name.replace("/", "+")}-${version}`);
  const at = path.join("node_modules", name, proof);
  if (fs.existsSync(path.join(folder, at))) return { folder };
  const fresh = `${folder}.new`;
  fs.rmSync(fresh, { recursive: true, force: true });
  fs.mkdirSync(fresh, { recursive: true });
  console.log(`installing ${name}@${version} into ${path.relative("", folder)} …`);
  const wanted = [`${name}@${version}`, ...beside];
  const flags = ["--ignore-scripts", "--no-save", ...(omitOptional ? ["--omit=optional"] : [])];
  const failed =
    npm(fresh, installMinutes, "install", ...flags, ...wanted) ??
    (needsScript && npm(fresh, scriptMinutes, "rebuild", "--ignore-scripts=false", name)) ??
    (fs.existsSync(path.join(fresh, at)) ? undefined : `it has no ${proof} on this system`);
  if (failed !== undefined) {
    fs.rmSync(fresh, { recursive: true, force: true });
    return `${name}@${version} could not be installed: ${failed}`;
  }
  fs.renameSync(fresh, folder);
  return { folder };
}

/** Undefined: it has done what it should. */
function npm(folder: string, minutes: number, ...args: string[]): string | undefined {
  const { status, error, stderr } = spawnSync(
    "npm",
    [...args, "--no-audit", "--no-fund", "--prefix", folder],
    { cwd: folder, stdio: ["ignore", "ignore", "pipe"], encoding: "utf8", timeout: minutes * 6e4 },
  );
  if (status === 0) return undefined;
  const told = /npm error (?!code|errno|syscall).*/u.exec(stderr ?? "")?.[0];
  return error?.message ?? told ?? `npm ${args[0]} ended with ${status}`;
}

/**
 * What comes before a command so that it, and all that it starts, has no network; undefined: this
 * machine does not let us.
 */
export function withoutNetwork(): readonly string[] | undefined {
  const before = ["unshare", "--user", "--map-root-user", "--net", "--"];
  const [command = "", ...args] = before;
  return spawnSync(command, [...args, "true"]).status === 0 ? before : undefined;
}

/** Reports, looks for newer versions and first greetings are switched off, by everybody's own switch. */
export const silent: Readonly<Record<string, string>> = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  DISABLE_TELEMETRY: "1",
  DO_NOT_TRACK: "1",
  NO_UPDATE_NOTIFIER: "1",
  OPENSPEC_TELEMETRY: "0",
  TASKMASTER_SKIP_AUTO_UPDATE: "1",
  TURBO_TELEMETRY_DISABLED: "1",
};
