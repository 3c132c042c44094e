/**
 * What an agent can write: its own work tree, git's objects and refs, and the rest of the machine;
 * not the user's files, not our memory, not what git or the gates are told to do. The kernel sees
 * to it, where it lets us; elsewhere the verification does what it can.
 */
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { stateFileNames } from "../core/flow/state-names.ts";
import { browserProfiles } from "../exec/browser-profiles.ts";
import type { Access } from "../exec.ts";
import { uiFolder } from "../trust.ts";
import type { RunSite } from "./run-site.ts";

export function accessOf(
  site: RunSite,
  { cwd, scratch }: { readonly cwd: string; readonly scratch: string },
): Access[] {
  const { root } = site.project;
  const { commonDir, gitDir } = site.git.place;
  // As a rule the tree, its folder and the shared one are the same: each place is closed once.
  const closed = (...places: string[]): Access[] =>
    [...new Set(places)].map((place) => ({ path: place, writable: false }));
  const open = (...places: string[]): Access[] =>
    places.map((place) => ({ path: place, writable: true }));
  // Somebody's home, or the place of temporary files: whoever works needs those.
  const isNeeded = (folder: string): boolean =>
    [os.homedir(), os.tmpdir()].some((place) => isIn(place, folder));
  const trees = treesOf(commonDir, site.folders.attempts);
  return [
    ...closed(...[root, ...trees.map(({ tree }) => tree)].filter((tree) => !isNeeded(tree))),
    ...open(commonDir),
    ...closed(...ofGit.map((name) => path.join(commonDir, name))),
    ...closed(
      ...[commonDir, gitDir, ...trees.map(({ admin }) => admin)].flatMap((admin) =>
        ["HEAD", "index"].map((name) => path.join(admin, name)),
      ),
    ),
    ...closed(path.join(commonDir, "autodev"), ...refFiles(site)),
    ...closed(...site.closed),
    ...open(scratch, cwd),
    ...outOfSight(),
  ];
}

/** With what lies there, whoever reads it could answer questions in a person's name. */
export const privatePlaces = (): string[] => {
  const folders = [uiFolder(), ...browserProfiles()];
  // What lies in one of them is out of sight with it.
  const files = loginFiles().filter((file) => !folders.some((folder) => isIn(file, folder)));
  return [...folders, ...files];
};

/** Where a fleet's login is written down: ours, and what PostgreSQL's library reads by itself. */
export function loginFiles(env: NodeJS.ProcessEnv = begun): string[] {
  const ours = env["AUTODEV_DATABASE_URL_FILE"];
  // On a machine without a fleet they are of somebody else's databases.
  if (ours === undefined && env["AUTODEV_DATABASE_URL"] === undefined) return [];
  const home = env["HOME"] || os.homedir();
  const usual = [".pgpass", ".pg_service.conf"].map((name) => path.join(home, name));
  const all = [ours, env["PGPASSFILE"], env["PGSERVICEFILE"], ...usual];
  return [...new Set(all)].filter((file) => file !== undefined && fs.existsSync(file)) as string[];
}

/** As it was before the address was taken out of it. */
const begun = { ...process.env };

export const outOfSight = (): Access[] =>
  privatePlaces().map((place) => ({ path: place, writable: false, hidden: true }));

/** Who works by a skill writes below `_docs/`, but not the state file: that is ours. */
export function docsAccess(
  root: string,
  { commonDir, gitDir }: { readonly commonDir: string; readonly gitDir: string },
  scratch: string,
): Access[] {
  const docs = path.join(root, "_docs");
  const isNeeded = [os.homedir(), os.tmpdir()].some((place) => isIn(place, root));
  const states = stateFileNames
    .map((name) => path.join(docs, name))
    .filter((file) => fs.existsSync(file));
  const closed = [...new Set([...(isNeeded ? [] : [root]), commonDir, gitDir])];
  return [
    ...closed.map((place) => ({ path: place, writable: false })),
    ...[docs, scratch].map((place) => ({ path: place, writable: true })),
    ...states.map((place) => ({ path: place, writable: false })),
    ...outOfSight(),
  ];
}

/** The work trees that people have of this repository, beside the one that the run is in. */
function treesOf(commonDir: string, attempts: string): { tree: string; admin: string }[] {
  const main = path.basename(commonDir) === ".git" ? path.dirname(commonDir) : undefined;
  const linked = namesIn(path.join(commonDir, "worktrees")).flatMap((name) => {
    const admin = path.join(commonDir, "worktrees", name);
    try {
      const tree = path.dirname(fs.readFileSync(path.join(admin, "gitdir"), "utf8").trim());
      return path.dirname(tree) === attempts ? [] : [{ tree, admin }];
    } catch {
      return [];
    }
  });
  return [...(main === undefined ? [] : [{ tree: main, admin: commonDir }]), ...linked];
}

const namesIn = (folder: string): string[] => (fs.existsSync(folder) ? fs.readdirSync(folder) : []);

/** What is published goes there: nobody else puts anything on it while he works for us. */
const refFiles = ({ git, run }: Pick<RunSite, "git" | "run">): string[] => {
  const { target } = run();
  return target.startsWith("refs/") ? [path.join(git.place.commonDir, target)] : [];
};

/** Only what is there can be closed: a folder that is missing could be made, and filled. */
export function prepareConfinement(site: RunSite): void {
  const { closed, git } = site;
  const { commonDir } = git.place;
  looseTarget(site);
  const own = ["hooks", "info"].map((name) => path.join(commonDir, name));
  for (const folder of [...closed, ...own]) makeSure(folder);
  prepareHiding();
}

/** The same for what nobody is to see, for those who work elsewhere too. */
export const prepareHiding = (): void => makeSure(uiFolder());

function makeSure(folder: string): void {
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {
    // A disk that is full or read-only keeps an agent from it as well.
  }
}

/** A packed ref has no file that could be closed; git reads a loose one first. */
function looseTarget(site: RunSite): void {
  const { targetAt } = site.run();
  for (const file of refFiles(site)) {
    try {
      if (!isCommit.test(targetAt) || fs.existsSync(file)) continue;
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, `${targetAt}\n`, { flag: "wx" });
    } catch {
      // Somebody's git was faster.
    }
  }
}

const isCommit = /^[0-9a-f]{40,64}$/;

/** What other people's git would run or believe. */
const ofGit = ["config", "config.worktree", "hooks", "info", "refs/autobuild"];

const isIn = (place: string, folder: string): boolean =>
  place === folder || place.startsWith(`${folder}${path.sep}`);
