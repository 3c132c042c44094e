/**
 * The same with whole repositories and the shipped program: clones that have worked apart, each with
 * its journal, a real `git merge` or `git rebase`, and then `autodev status` and `autodev`, or
 * `autodev build`, in the clone where it was merged or in a fresh one.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { ending, freshFolder, type Ran, run } from "./rig.ts";
import { creates, git, planText, type Site, siteAt } from "./run-rig.ts";

export interface RepositoryMerge {
  readonly name: string;
  readonly kind: "flow" | "plan";
  /** Which of the lives that were led. */
  readonly ours: number;
  readonly theirs: number;
  readonly by: "default" | "ours" | "theirs" | "rebase";
  readonly where: "same" | "clone";
}

/** Every pair of lives, every way to merge them, both places. */
export function everyMerge(): RepositoryMerge[] {
  const all: RepositoryMerge[] = [];
  for (const kind of ["flow", "plan"] as const)
    for (const ours of lives[kind].keys())
      for (const theirs of lives[kind].keys())
        for (const by of ["default", "ours", "theirs", "rebase"] as const)
          for (const where of ["same", "clone"] as const)
            if (ours !== theirs)
              all.push({
                name: `${kind}-${ours}-${theirs}-${by}-${where}`,
                kind,
                ours,
                theirs,
                by,
                where,
              });
  return all;
}

/** What was done on a branch: commands of ours, or a person's line in the state file. */
type Deed = readonly string[] | { readonly note: string };

const build = ["build", "docs/plan.md", "--commit=auto", "--agent=apply", "--decide=recommended"];
const only = (...phases: string[]): string[] => [...build, "--only", ...phases];

const lives: Readonly<Record<RepositoryMerge["kind"], readonly (readonly Deed[])[]>> = {
  flow: [
    [["skip", "--yes"]],
    [
      ["skip", "--yes"],
      ["skip", "--yes"],
    ],
    [{ note: "Ask the customer." }],
    [["skip", "--yes"], { note: "Skipped on Tuesday." }],
    [{ note: "Look at the logs." }, ["skip", "--yes"]],
  ],
  plan: [[only("1")], [only("2")], [only("1", "2")], [only("2", "3")]],
};

export interface Grounds {
  readonly program: string;
  readonly scratch: string;
  /** By kind and life: made once, copied for each merge. */
  readonly lived: Map<string, Promise<Site>>;
}

export interface RepositoryFigures {
  repositories: number;
  "with conflicts": number;
  "phases gone on with": number;
}

export async function mergeRepositories(
  grounds: Grounds,
  merge: RepositoryMerge,
  figures: RepositoryFigures,
): Promise<string[]> {
  const { kind, ours, theirs, by } = merge;
  const [one, other] = [await lived(grounds, kind, ours), await lived(grounds, kind, theirs)];
  const site = siteAt(freshFolder(grounds.scratch, merge.name));
  fs.cpSync(one.folder, site.folder, { recursive: true });
  try {
    figures.repositories++;
    git(site, "fetch", "--quiet", other.repo, "main");
    const favour = by === "ours" || by === "theirs" ? [`-X${by}`] : [];
    const args =
      by === "rebase"
        ? ["rebase", "--quiet", "FETCH_HEAD"]
        : ["merge", "--quiet", ...favour, "--message=merged", "FETCH_HEAD"];
    spawnSync("git", args, { cwd: site.repo, env: site.env });
    const isOpen = git(site, "ls-files", "--unmerged") !== "";
    if (isOpen) figures["with conflicts"]++;
    const there = merge.where === "clone" && !isOpen ? clone(site) : site;
    if (isOpen) return await refuses(grounds, there, kind);
    return kind === "flow"
      ? await flowGoesOn(grounds, there)
      : await planGoesOn(grounds, there, by, figures);
  } finally {
    fs.rmSync(site.folder, { recursive: true, force: true });
  }
}

function clone(site: Site): Site {
  const there = siteAt(path.join(site.folder, "clone"));
  fs.mkdirSync(there.folder);
  git(site, "clone", "--quiet", site.repo, there.repo);
  return there;
}

// ── lives ──────────────────────────────────────────────────────────────────────────────────────

function lived(grounds: Grounds, kind: RepositoryMerge["kind"], which: number): Promise<Site> {
  const key = `${kind}-${which}`;
  const known = grounds.lived.get(key) ?? live(grounds, kind, which);
  grounds.lived.set(key, known);
  return known;
}

async function live(grounds: Grounds, kind: RepositoryMerge["kind"], which: number): Promise<Site> {
  const base = grounds.lived.get(kind) ?? begin(grounds, kind);
  grounds.lived.set(kind, base);
  const site = siteAt(freshFolder(grounds.scratch, `${kind}-${which}`));
  fs.cpSync((await base).folder, site.folder, { recursive: true });
  for (const deed of lives[kind][which] ?? []) {
    if ("note" in deed) fs.appendFileSync(stateIn(site), `\n## Notes\n${deed.note}\n`);
    else await autodev(grounds, site, ...deed).then(expectEnd(0));
  }
  commit(site, `life ${which}`);
  return site;
}

async function begin(grounds: Grounds, kind: RepositoryMerge["kind"]): Promise<Site> {
  const site = siteAt(freshFolder(grounds.scratch, kind));
  for (const [file, text] of Object.entries(files[kind])) {
    fs.mkdirSync(path.dirname(path.join(site.repo, file)), { recursive: true });
    fs.writeFileSync(path.join(site.repo, file), text);
  }
  git(site, "init", "--quiet", "--initial-branch=main", "--template=");
  commit(site, "first");
  if (kind === "flow") await autodev(grounds, site, "--no-input").then(expectEnd(0, 1, 3));
  commit(site, "begun");
  return site;
}

function commit(site: Site, message: string): void {
  git(site, "add", "--all");
  git(site, "commit", "--quiet", "--allow-empty", `--message=${message}`);
}

const phases = ["1", "2", "3", "4"];
const made = (id: string): string => `src/part-${id}.txt`;
const left = [
  "00_problem/problem.md",
  "01_solution/solution.md",
  "02_document/architecture.md",
  "02_tasks/done/01_first.md",
  "02_tasks/_dependencies_table.md",
  "03_implementation/implementation_report_first.md",
];

const files: Readonly<Record<RepositoryMerge["kind"], Readonly<Record<string, string>>>> = {
  plan: {
    "docs/plan.md": planText(
      "Four parts",
      phases.map((id) => ({
        id,
        name: `Part ${id}`,
        needs: [],
        body: creates(made(id), `part ${id}\n`),
      })),
    ),
  },
  flow: {
    ...Object.fromEntries(left.map((file) => [`_docs/${file}`, "# What is left of it\n"])),
    "_docs/_autodev_state.md": `# Autodev State

## Current Step
flow: greenfield
step: 8
name: Security Audit
status: not_started
sub_step:
  phase: 0
  name: awaiting-invocation
  detail: ""
retry_count: 0
cycle: 1
`,
  },
};

const stateIn = ({ repo }: Site): string => path.join(repo, "_docs/_autodev_state.md");

const autodev = ({ program }: Grounds, { repo, env }: Site, ...args: string[]): Promise<Ran> =>
  run([process.execPath, program, ...args], { cwd: repo, env, timeoutMs: 240_000 });

const expectEnd =
  (...codes: number[]) =>
  (ran: Ran): Ran => {
    if (codes.includes(ran.code ?? -1)) return ran;
    throw new Error(`a life could not be led: ${ending(ran)} ${ran.stdout.slice(-300)}`);
  };

// ── what is promised ───────────────────────────────────────────────────────────────────────────

/** Neither a look nor a start goes on over it; nothing of it is written over. */
async function refuses(
  grounds: Grounds,
  site: Site,
  kind: RepositoryMerge["kind"],
): Promise<string[]> {
  const wrong: string[] = [];
  const before = { files: filesOf(site), attempts: await started(grounds, site) };
  const inState = kind === "flow" && /^<{7} /m.test(fs.readFileSync(stateIn(site), "utf8"));
  const looked = inState ? await autodev(grounds, site, "status") : undefined;
  if (looked?.code === 0) wrong.push("status reads a conflict");
  const shown = looked === undefined ? "ours: theirs: " : looked.stdout + looked.stderr;
  if (!/ours: /.test(shown) || !/theirs: /.test(shown)) wrong.push("not both sides are shown");
  const args =
    kind === "flow" ? ["--no-input"] : build.filter((each) => !each.startsWith("--decide"));
  const tried = await autodev(grounds, site, ...args, ...(kind === "plan" ? ["--no-input"] : []));
  if (tried.code === 0) wrong.push("it goes on over a conflict");
  if (filesOf(site) !== before.files) wrong.push("a conflict is written over");
  if ((await started(grounds, site)).length > before.attempts.length)
    wrong.push("an agent is started over a conflict");
  return wrong;
}

/** Everything that people see, by its bytes. */
function filesOf({ repo }: Site): string {
  return fs
    .readdirSync(repo, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => !path.relative(repo, file).startsWith(".git"))
    .sort()
    .map((file) => `${file}\n${fs.readFileSync(file, "utf8")}`)
    .join("\0");
}

async function flowGoesOn(grounds: Grounds, site: Site): Promise<string[]> {
  const text = fs.readFileSync(stateIn(site), "utf8");
  const wrong: string[] = [];
  const looked = await autodev(grounds, site, "status", "--json");
  if (looked.code !== 0) return [`status refuses a merged file: ${ending(looked)}`];
  const { step } = JSON.parse(looked.stdout) as { step?: string };
  const merged = /^step: (.*)$/m.exec(text)?.[1];
  if (step !== merged) wrong.push(`status says step ${step}, the file ${merged}`);
  const went = await autodev(grounds, site, "--no-input");
  if (went.code === null || went.timedOut || /bug of ours/.test(went.stderr))
    wrong.push(`it breaks: ${ending(went)}`);
  const after = fs.readFileSync(stateIn(site), "utf8");
  for (const note of text.match(/^(?:Ask|Skipped|Look) .*\.$/gm) ?? [])
    if (!after.includes(`${note}\n`)) wrong.push(`a person's line is lost: ${note}`);
  // What people have skipped is over: it goes to the next one, which it asks about, and no further.
  const isOver = /^status: skipped$/m.test(text);
  const wanted = isOver ? String(Number(merged) + 1) : merged;
  const stands = /^step: (.*)$/m.exec(after)?.[1];
  if (stands !== wanted) wrong.push(`of step ${merged} it went to ${stands}, not to ${wanted}`);
  return wrong;
}

/** What the journal here or the merged files call complete is not done again; the rest is done once. */
async function planGoesOn(
  grounds: Grounds,
  site: Site,
  by: RepositoryMerge["by"],
  figures: RepositoryFigures,
): Promise<string[]> {
  const before = await started(grounds, site);
  const complete = new Set([...completeIn(site), ...(await landed(grounds, site))]);
  const went = await autodev(grounds, site, ...build, "--no-input");
  const attempts = (await started(grounds, site)).slice(before.length);
  figures["phases gone on with"] += attempts.length;
  const wrong: string[] = [];
  for (const id of attempts)
    if (complete.has(id)) wrong.push(`a complete phase is done again: ${id}`);
  if (new Set(attempts).size !== attempts.length) wrong.push(`done twice: ${attempts.join(" ")}`);
  // Whoever rebases has rewritten what was published: then people are asked.
  if (went.code !== 0 && !(by === "rebase" && went.code === 3))
    wrong.push(`it does not go on: ${ending(went)}`);
  const missing = phases.filter((id) => !fs.existsSync(path.join(site.repo, made(id))));
  if (went.code === 0 && missing.length > 0) wrong.push(`complete without ${missing.join(" ")}`);
  return wrong;
}

const completeIn = ({ repo }: Site): string[] =>
  phases.filter((id) => {
    const file = path.join(repo, `.autobuild/phases/phase-${id}.json`);
    return fs.existsSync(file) && /^ {2}"status": "complete"/m.test(fs.readFileSync(file, "utf8"));
  });

const started = (grounds: Grounds, site: Site): Promise<string[]> =>
  phasesOf(grounds, site, "attempt-started");
const landed = (grounds: Grounds, site: Site): Promise<string[]> =>
  phasesOf(grounds, site, "phase-landed");

async function phasesOf(grounds: Grounds, site: Site, type: string): Promise<string[]> {
  const log = await autodev(grounds, site, "log", "--json");
  return log.stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as { type: string; phase?: string })
    .flatMap((event) => (event.type === type && event.phase !== undefined ? [event.phase] : []));
}
