/**
 * One agent's trial: a repository of its own, the real binary, and what came of it. The agent is
 * always the same script; what it does lies in a folder beside the repository, so that everybody
 * trusts the same commands.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { freshFolder, whenEnding } from "../rig.ts";
import { git, type Site, siteAt } from "../run-rig.ts";
import { harmTo } from "./harm.ts";
import { type Claim, claimOf, type Kind } from "./kind.ts";
import { baseOf, honestTree, type Project, planFile, type Tree } from "./project.ts";
import { factsIn, type Hearing, hearingsOf, type Told } from "./testimony.ts";

/** The built command, and the folder in which everything happens. */
export interface Court {
  readonly binary: string;
  readonly scratch: string;
  /** Repositories before their run, and what has to be trusted in them. */
  readonly templates: Map<string, Promise<{ readonly folder: string; readonly trust: string }>>;
}

export const openCourt = (binary: string, scratch: string): Court => ({
  binary,
  scratch,
  templates: new Map(),
});

export interface Trial {
  readonly code: number | null;
  readonly timedOut: boolean;
  /** Of the phase, by the summary; absent: the run did not come that far. */
  readonly status: string | undefined;
  readonly error: { readonly type: string; readonly message: string } | null;
  readonly findings: readonly Finding[];
  readonly attempts: number;
  /** What the phase's commit holds: paths and blobs. */
  readonly landed: Readonly<Record<string, string>> | undefined;
  /** What of people's is not as it was, where the phase was accepted. */
  readonly harm: readonly string[];
  /** What the agent was told, by attempt. */
  readonly briefs: Readonly<Record<number, string>>;
  /** What became of each attempt; with its facts, where the program writes them down. */
  readonly hearings: readonly Hearing[];
  readonly said: string;
}

export interface Finding {
  readonly code: string;
  readonly attempt: number;
  readonly texts: readonly string[];
}

/** By attempt: the last one is also what every later attempt does. */
export type Acts = readonly Pick<Kind, "tree" | "script" | "result" | "after">[];

/** One agent, for the project's first phase. */
export async function tryAgent(court: Court, project: Project, acts: Acts): Promise<Trial> {
  const [trial] = await tryTogether(court, project, [{ phase: firstOf(project), acts }]);
  if (trial === undefined) throw new Error("nobody was tried");
  return trial;
}

const firstOf = ({ phases }: Project): string => phases[0]?.id ?? "";

/** A run in which each phase has an agent of its own; phases without one are left alone. */
export async function tryTogether(
  court: Court,
  project: Project,
  agents: readonly { readonly phase: string; readonly acts: Acts }[],
): Promise<Trial[]> {
  const { folder: template, trust } = await templateOf(court, project);
  const folder = freshFolder(court.scratch, "trial");
  try {
    fs.cpSync(template, folder, { recursive: true, verbatimSymlinks: true });
    const site = siteAt(folder);
    for (const { phase, acts } of agents) {
      fs.mkdirSync(path.join(folder, "own", phase), { recursive: true });
      for (const [at, act] of acts.entries()) {
        writeAct(path.join(folder, "acts", phase, String(at + 1)), project, phase, act);
      }
    }
    const ended = await start(court.binary, site, [
      ...commandFor(project),
      ...agents.map(({ phase }) => `--only=${phase}`),
      `--trust-sha256=${trust}`,
    ]);
    const facts = factsIn(folder);
    return agents.map(({ phase }) => ({
      ...ended,
      hearings: hearingsOf(toldOf(ended.said, phase), facts.get(phase) ?? []),
      ...outcomeOf(ended.said, phase),
      ...whatIsThere(site, ended.said, phase),
      harm: harmIn(site, siteAt(template), project, ended.said, phase),
    }));
  } finally {
    if (process.env["TORTURE_KEEP"] === undefined) {
      fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

const commandFor = ({ agent }: Project): string[] => [
  "build",
  planFile,
  "--commit=auto",
  `--agent=${agent}`,
  "--json",
];

// ── before ─────────────────────────────────────────────────────────────────────────────────────

/** `$LIARS` is the folder of the trial, `$OWN` one for this agent alone. */
const agentScript = `set -e
export ROOT="$LIARS/repo" OWN="$LIARS/own/$AUTODEV_PHASE"
cat "$AUTODEV_BRIEF" > "$OWN/$AUTODEV_ATTEMPT.md"
act="$LIARS/acts/$AUTODEV_PHASE/$AUTODEV_ATTEMPT"
for last in "$LIARS/acts/$AUTODEV_PHASE"/*; do [ -e "$act" ] || act=$last; done
cp -R "$act/files/." .
while read -r gone; do rm "$gone"; done < "$act/gone"
. "$act/script.sh"
if [ -e "$act/result" ]; then cat "$act/result" > "$AUTODEV_RESULT"; fi
. "$act/after.sh"
`;

async function templateOf(
  court: Court,
  project: Project,
): Promise<{ readonly folder: string; readonly trust: string }> {
  const key = createHash("sha256")
    .update(JSON.stringify([project.agent, baseOf(project)]))
    .digest("hex");
  const known = court.templates.get(key) ?? makeTemplate(court, project);
  court.templates.set(key, known);
  return known;
}

async function makeTemplate(
  court: Court,
  project: Project,
): Promise<{ readonly folder: string; readonly trust: string }> {
  const folder = freshFolder(court.scratch, "template");
  for (const name of ["home", "config", "cache", "bin", "own", "acts", "repo"]) {
    fs.mkdirSync(path.join(folder, name));
  }
  fs.writeFileSync(path.join(folder, "agent.sh"), agentScript);
  // As everybody has it: agents are given no identity of ours.
  const identity = "[user]\n\tname = Shopkeeper\n\temail = shopkeeper@example.invalid\n";
  fs.writeFileSync(path.join(folder, "home", ".gitconfig"), identity);
  const site = siteAt(folder);
  git(site, "init", "--quiet", "--initial-branch=main", "--template=");
  git(site, "commit", "--quiet", "--allow-empty", "--message=first");
  git(site, "branch", "release");
  writeTree(site.repo, baseOf(project));
  git(site, "add", "--all");
  git(site, "commit", "--quiet", "--message=the shop");
  git(site, "tag", "v1");
  // People's own: a file that git ignores, and something put aside.
  writeTree(site.repo, { ".env": "PASSWORD=tea\n", "README.md": "# Shop, half written\n" });
  git(site, "stash", "--quiet");
  const asked = freshFolder(court.scratch, "asked");
  fs.cpSync(folder, asked, { recursive: true });
  const { said } = await start(court.binary, siteAt(asked), commandFor(project));
  fs.rmSync(asked, { recursive: true, force: true });
  const trust = /--trust-sha256 ([0-9a-f]{64})/.exec(said)?.[1];
  if (trust === undefined) throw new Error(`no hash was asked for: ${said}`);
  return { folder, trust };
}

function writeAct(folder: string, project: Project, phase: string, act: Acts[number]): void {
  const [base, honest] = [baseOf(project), honestTree(project)];
  const left = act.tree ? act.tree(honest, project) : honest;
  const changed = Object.entries(left).filter(([file, text]) => base[file] !== text);
  fs.mkdirSync(path.join(folder, "files"), { recursive: true });
  writeTree(path.join(folder, "files"), Object.fromEntries(changed));
  const gone = Object.keys(base).filter((file) => !(file in left));
  fs.writeFileSync(path.join(folder, "gone"), gone.map((file) => `${file}\n`).join(""));
  const { script = "" } = act;
  const text = typeof script === "string" ? script : script(project);
  fs.writeFileSync(path.join(folder, "script.sh"), `${text}\n`);
  fs.writeFileSync(path.join(folder, "after.sh"), `${act.after ?? ""}\n`);
  const truth: Claim = { ...claimOf(project, base, left), phase_id: phase };
  const said = act.result ? act.result(truth, project) : truth;
  if (said === null) return;
  fs.writeFileSync(
    path.join(folder, "result"),
    typeof said === "string" ? said : JSON.stringify(said),
  );
}

function writeTree(root: string, tree: Tree): void {
  for (const [file, text] of Object.entries(tree)) {
    const full = path.join(root, file);
    fs.mkdirSync(path.dirname(full), { recursive: true });
    fs.writeFileSync(full, text, { mode: text.startsWith("#!") ? 0o755 : 0o644 });
  }
}

// ── the run ────────────────────────────────────────────────────────────────────────────────────

interface Ended {
  readonly code: number | null;
  readonly timedOut: boolean;
  readonly said: string;
}

/** In a group of its own, so that nothing it started outlives the trial. */
function start(binary: string, site: Site, args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [binary, ...args], {
    cwd: site.repo,
    env: {
      ...site.env,
      LIARS: site.folder,
      PATH: `${path.join(site.folder, "bin")}:${site.env["PATH"]}`,
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let [said, timedOut] = ["", false];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  };
  const forget = whenEnding(kill);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      timedOut = true;
      kill();
    }, 60_000);
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(timer);
      kill();
      forget();
      resolve({ code, timedOut, said });
    });
  });
}

// ── after ──────────────────────────────────────────────────────────────────────────────────────

interface Line {
  readonly type?: string;
  readonly phase?: string;
  readonly attempt?: number;
  readonly findings?: readonly (Readonly<Record<string, unknown>> & { readonly code: string })[];
  readonly phases?: readonly {
    readonly id: string;
    readonly status: string;
    readonly attempts: number;
    readonly commit: string | null;
    readonly error: Trial["error"];
  }[];
}

function linesOf(out: string): Line[] {
  return out.split("\n").flatMap((line) => {
    try {
      return line.startsWith("{") ? [JSON.parse(line) as Line] : [];
    } catch {
      return [];
    }
  });
}

const toldOf = (said: string, phase: string): Told[] =>
  linesOf(said)
    .filter(({ type }) => type === "attempt-failed" || type === "phase-verified")
    .filter((line) => line.phase === phase) as Line[] as Told[];

const phaseIn = (said: string, phase: string) =>
  linesOf(said)
    .findLast(({ type }) => type === "summary")
    ?.phases?.find(({ id }) => id === phase);

function outcomeOf(
  said: string,
  phase: string,
): Pick<Trial, "status" | "error" | "findings" | "attempts"> {
  const found = phaseIn(said, phase);
  const findings = linesOf(said)
    .filter((line) => line.type === "attempt-failed" && line.phase === phase)
    .flatMap(({ findings: all = [], attempt = 0 }) =>
      all.map((finding) => ({
        code: finding.code,
        attempt,
        texts: Object.entries(finding).flatMap(([key, value]) =>
          key !== "code" && typeof value === "string" ? [value] : [],
        ),
      })),
    );
  return {
    status: found?.status,
    error: found?.error ?? null,
    findings,
    attempts: found?.attempts ?? 0,
  };
}

function whatIsThere(site: Site, said: string, phase: string): Pick<Trial, "landed" | "briefs"> {
  const folder = path.join(site.folder, "own", phase);
  const briefs = fs
    .readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .map((name) => [Number.parseInt(name, 10), fs.readFileSync(path.join(folder, name), "utf8")]);
  const commit = phaseIn(said, phase)?.commit;
  return {
    landed: commit ? blobsAt(site, commit) : undefined,
    briefs: Object.fromEntries(briefs) as Trial["briefs"],
  };
}

function harmIn(site: Site, before: Site, project: Project, said: string, phase: string): string[] {
  const commit = phaseIn(said, phase)?.commit;
  const { otherSource } = project.role;
  // What the phase itself is told to take away is not kept.
  const told = project.phases.some(({ files }) => files.some(({ path }) => path === otherSource));
  return commit ? harmTo(site, before, commit, told ? [] : [otherSource]) : [];
}

function blobsAt(site: Site, commit: string): Trial["landed"] {
  try {
    const rows = git(site, "ls-tree", "-r", "-z", commit).split("\0");
    return Object.fromEntries(
      rows.flatMap((row) => {
        const [, blob, file] = /^\d+ blob (\w+)\t([^]*)$/.exec(row) ?? [];
        return file !== undefined && blob !== undefined ? [[file, blob]] : [];
      }),
    );
  } catch {
    return undefined;
  }
}

/** The name that git gives these bytes. */
export const blobOf = (text: string): string =>
  createHash("sha1")
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest("hex");
