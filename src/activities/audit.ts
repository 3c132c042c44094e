/**
 * Checks commits that runs have made once more, from the commits alone: in a fresh clone, by
 * anybody, at any time. What the evidence says is compared with what is found now.
 */
import { configPath, parseConfig } from "../config.ts";
import { type Audited, type AuditFacts, auditCommit } from "../core/audit.ts";
import { Evidence, type Trailers, trailersOf } from "../core/evidence.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import { phaseNamed } from "../core/plan/edits.ts";
import type { Phase } from "../core/plan/plan.ts";
import type { Claim } from "../core/plan/progress.ts";
import type { Gate, GateOutcome } from "../core/plan/run-event.ts";
import { isInTaskFolder } from "../core/plan/task-folder.ts";
import type { Settings } from "../core/settings.ts";
import { verify } from "../core/verification.ts";
import { readPlan, type Source } from "../formats/read-plan.ts";
import { type Git, openGit } from "../git/call.ts";
import { commitAt, fileAt, readBlob, treeOf } from "../git/objects.ts";
import { changesBetween } from "../git/trees.ts";
import { removeFolder } from "../git/worktrees.ts";
import type { TrustPlace } from "../trust.ts";
import { type Approval, type ApprovalOptions, type AskTrust, approve } from "./approve.ts";
import { dependencyFolder } from "./clean-checkout.ts";
import { surfacesOf } from "./gate-surface.ts";
import { treeFacts } from "./gather-facts.ts";
import type { Project } from "./hold.ts";
import { runGates } from "./run-gates.ts";
import { foldersOf } from "./run-site.ts";
import { stackAt } from "./start-run.ts";

export interface AuditWorld {
  readonly askTrust: AskTrust;
  readonly by: string;
  readonly cache: string;
  readonly trust: TrustPlace;
  readonly signal: AbortSignal;
  /** As each commit is done. */
  onCommit(audited: AuditedCommit): void;
  tell(text: string): void;
}

export interface AuditOptions {
  /** A commit, or a range of them: `main~5..main`. */
  readonly commits: string;
  readonly gates: boolean;
  readonly gateMinutes: number;
  readonly sha256?: string;
}

export type AuditedCommit = {
  readonly commit: string;
  readonly subject: string;
} & (
  | { readonly is: "not-ours" }
  | (Audited & {
      readonly is: "ours";
      readonly run: string;
      readonly phases: readonly string[];
      readonly gates?: readonly GateOutcome[];
    })
);

/** Oldest first. */
export async function auditCommits(
  project: Project,
  options: AuditOptions,
  world: AuditWorld,
): Promise<Result<AuditedCommit[]>> {
  const { repository } = project;
  if (!repository) return fail("no-repository", `${project.root} is not in a git repository`);
  const git = openGit({ ...repository, workTree: repository.root });
  const commits = await listed(git, options.commits);
  if (!commits.ok) return commits;
  const audited: AuditedCommit[] = [];
  try {
    for (const commit of commits.value) {
      const each = await auditOne(project, git, commit, options, world);
      if (!each.ok) return each;
      audited.push(each.value);
      world.onCommit(each.value);
      if (world.signal.aborted) return fail("interrupted", "stopped, as asked");
    }
    return succeed(audited);
  } finally {
    await removeFolder(world.cache);
    await removeFolder(dependencyFolder(world.cache));
  }
}

async function listed(git: Git, commits: string): Promise<Result<string[]>> {
  const hint = "autodev audit HEAD, or autodev audit main~5..main";
  if (!commits.includes("..")) {
    const commit = await commitAt(git, commits);
    const isTree = commit === undefined || /\^\{(?!commit)/.test(commits);
    return isTree ? fail("usage", `${commits} names no commit here`, { hint }) : succeed([commit]);
  }
  const told = await git.call({
    args: ["rev-list", "--reverse", "--end-of-options", commits, "--"],
    expect: [128, 129],
  });
  if (!told.ok) return told;
  if (told.value.code !== 0) return fail("usage", `${commits} names no commits here`, { hint });
  const all = told.value.text.split("\n").filter((line) => line !== "");
  return all.length === 0
    ? fail("usage", `there is no commit in ${commits}`, { hint })
    : succeed(all);
}

async function auditOne(
  project: Project,
  git: Git,
  commit: string,
  options: AuditOptions,
  world: AuditWorld,
): Promise<Result<AuditedCommit>> {
  const message = await git.say("log", "-1", "--format=%B", commit);
  if (!message.ok) return message;
  const [subject = ""] = message.value.split("\n");
  const trailers = trailersOf(message.value);
  if (!trailers) return succeed({ commit, subject, is: "not-ours" });
  const parents = await git.say("log", "-1", "--format=%P", commit);
  const tree = await treeOf(git, commit);
  if (!parents.ok) return parents;
  if (!tree.ok) return tree;
  const [parent = ""] = parents.value.split(" ");
  const receipts = await readReceipts(git, trailers);
  const ground = await groundOf(git, commit, receipts.evidence);
  if (!ground.ok) return ground;
  const site: AuditSite = {
    project,
    git,
    commit,
    parent,
    trailers,
    world,
    options,
    ...ground.value,
  };
  const gates = options.gates ? await gatesAgain(site, receipts) : succeed(undefined);
  if (!gates.ok) return gates;
  const found = await foundBetween(site, receipts, message.value, gates.value ?? []);
  if (!found.ok) return found;
  const onto = receipts.evidence.at(-1)?.onto ?? "";
  const [was, is] = [await treeOf(git, onto), await treeOf(git, parent)];
  const facts: AuditFacts = {
    ...receipts,
    ...found.value,
    parent,
    tree: tree.value,
    trailers,
    onSameTree: was.ok && is.ok && was.value === is.value,
    gates: gates.value,
  };
  return succeed({
    commit,
    subject,
    is: "ours",
    run: trailers.run,
    phases: trailers.phases,
    ...auditCommit(facts),
    ...(gates.value && { gates: gates.value }),
  });
}

// ── the receipt ────────────────────────────────────────────────────────────────────────────────

type Receipts = Pick<AuditFacts, "evidence" | "absent" | "unreadable">;

async function readReceipts(git: Git, trailers: Trailers): Promise<Receipts> {
  const [evidence, absent, unreadable]: [Evidence[], string[], string[]] = [[], [], []];
  for (const id of trailers.evidence) {
    const blob = await readBlob(git, id);
    if (!blob.ok) {
      absent.push(id);
      continue;
    }
    const read = Evidence.safeParse(parsed(blob.value.toString("utf8")));
    if (read.success) evidence.push(read.data);
    else unreadable.push(id);
  }
  return { evidence, absent, unreadable };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// ── what it was checked with ───────────────────────────────────────────────────────────────────

interface Ground {
  readonly settings: Settings;
  readonly gates: readonly Gate[];
  readonly setup?: string;
  readonly dependencies?: Parameters<typeof runGates>[0]["dependencies"];
}

interface AuditSite extends Ground {
  readonly project: Project;
  readonly git: Git;
  readonly commit: string;
  readonly parent: string;
  readonly trailers: Trailers;
  readonly world: AuditWorld;
  readonly options: AuditOptions;
}

/** The commands of the evidence, where there is one; else what the commit's own files say. */
async function groundOf(
  git: Git,
  commit: string,
  evidence: readonly Evidence[],
): Promise<Result<Ground>> {
  const text = await fileAt(git, commit, configPath);
  const settings = text ? parseConfig(text.toString("utf8")) : succeed<Settings>({});
  if (!settings.ok) return settings;
  const stack = await stackAt(git, commit, settings.value);
  if (!stack.ok) return stack;
  const { gates, setup, dependencies } = stack.value;
  const seen = evidence.at(-1)?.gates ?? [];
  // What the evidence does not know of, or left out without a decision, is run all the same.
  const own = gates.filter(({ name }) => {
    const known = seen.find((gate) => gate.name === name);
    return !known || (known.command === null && !/dropped/.test(known.summary));
  });
  const ran = seen.filter(({ name }) => own.every((gate) => gate.name !== name));
  return succeed({
    settings: settings.value,
    gates: [...own, ...ran.map(({ name, command }) => ({ name, command }))],
    ...(setup !== undefined && { setup }),
    ...(dependencies && { dependencies }),
  });
}

const approvalFor = (site: AuditSite, commit: string): ApprovalOptions => ({
  git: site.git,
  commit,
  place: site.world.trust,
  gates: site.gates,
  ...(site.setup !== undefined && { setup: site.setup }),
  settings: site.settings,
  agents: [],
  phases: [],
});

async function gatesAgain(
  site: AuditSite,
  { evidence }: Receipts,
): Promise<Result<readonly GateOutcome[]>> {
  const { project, git, commit, world, options, gates } = site;
  const approval: Result<Approval> = await approve(approvalFor(site, commit), {
    ask: world.askTrust,
    by: world.by,
    now: project.world.now,
    partial: true,
    ...(options.sha256 !== undefined && { sha256: options.sha256 }),
  });
  if (!approval.ok) return approval;
  const folders = foldersOf(project.root, git.place.commonDir, world.cache);
  const never = new AbortController().signal;
  // Failures that people had accepted before the run are no news.
  const accepted = Object.fromEntries(
    (evidence.at(-1)?.gates ?? []).map(({ name, known = [] }) => [name, known]),
  );
  const ran = await runGates(
    {
      git,
      folders,
      setup: approval.value.setup,
      ...(site.dependencies && { dependencies: site.dependencies }),
      checkoutFiles: site.settings.checkout?.files ?? [],
      gateMs: options.gateMinutes * 60_000,
      signal: world.signal,
      killNow: never,
      tell: (news) => {
        if ("gate" in news) world.tell(`gate ${news.gate}: ${news.command}`);
        else if ("notice" in news) world.tell(news.notice);
      },
      gate: (name) => approval.value.gate(name),
    },
    { id: site.trailers.run, baseline: { commit, accepted, dropped: [], unverified: false } },
    { slot: 0, commit, gates },
  );
  if (!ran.ok) return ran;
  return ran.value.stopped ? fail("interrupted", "stopped, as asked") : succeed(ran.value.outcomes);
}

// ── what the commit did ────────────────────────────────────────────────────────────────────────

/** The same checks as when it landed, as far as a commit alone tells. */
async function foundBetween(
  site: AuditSite,
  { evidence }: Receipts,
  message: string,
  gates: readonly GateOutcome[],
): Promise<Result<Pick<AuditFacts, "found" | "unknownPhases">>> {
  const { git, commit, parent, trailers } = site;
  if (parent === "") return succeed({ found: [], unknownPhases: undefined });
  const changes = await changesBetween(git, parent, commit);
  if (!changes.ok) return changes;
  const files = changes.value
    .map(({ path }) => path)
    .filter((path) => /\.(?:md|markdown|json)$/.test(path));
  const known = evidence.at(-1)?.plan;
  const inFolder = known === undefined ? [] : files.filter((file) => isInTaskFolder(known, file));
  const plan = await planIn(git, commit, trailers.phases, [
    ...(inFolder.length > 0 ? [inFolder] : []),
    ...(known === undefined ? files : [known, ...files]).map((file) => [file]),
  ]);
  const planned = phaseOfAll(plan?.phases ?? []);
  const own = changes.value.filter(({ path }) => plan?.files.includes(path) !== true);
  const claim: Claim = { status: "complete", tasksTotal: 0, tasksCompleted: 0, message };
  const surfaces = surfacesOf((at) => approvalFor(site, at));
  const subject = { planned, claim, onto: parent, commit, changes: own };
  // What the project could check before: a gate that was not there may have been introduced.
  const before = await stackAt(git, parent, site.settings);
  if (!before.ok) return before;
  const facts = await treeFacts({ git, ...surfaces }, before.value.gates, subject);
  if (!facts.ok) return facts;
  const found = verify({
    ...facts.value,
    phase: planned,
    claim,
    traces: {},
    others: new Map(),
    toolsChanged: [],
    hooksChanged: [],
    // Gates that fail are told by the audit itself; counts are compared with the evidence's.
    gates: gates.filter(({ passed }) => passed !== false),
    countsBefore: {},
  });
  return succeed({ found, unknownPhases: plan?.unknown });
}

/** What they declare and say, together: who did what of it cannot be told apart in one commit. */
const phaseOfAll = (phases: readonly Phase[]): Phase => {
  const nowhere = { file: "", line: 1, column: 1, from: 0, to: 0 };
  return {
    id: "",
    written: phases.map(({ written }) => written).join(", "),
    name: "",
    dependsOn: [],
    parallelWith: [],
    status: "complete",
    statuses: [],
    tasks: phases.flatMap(({ tasks }) => tasks),
    definitionOfDone: phases.flatMap(({ definitionOfDone }) => definitionOfDone),
    checkpoints: [],
    files: phases.flatMap(({ files }) => files),
    commands: phases.flatMap(({ commands }) => commands),
    place: phases[0]?.place ?? nowhere,
    text: phases.map(({ text }) => text).join("\n"),
    hasWork: phases.length > 0,
  };
};

interface PlanOfCommit {
  readonly files: readonly string[];
  readonly phases: readonly Phase[];
  /** Ids that it does not have. */
  readonly unknown: readonly string[];
}

/** The first document, or folder of them, that has one of them; else the first that is a plan at all. */
async function planIn(
  git: Git,
  commit: string,
  ids: readonly string[],
  candidates: readonly (readonly string[])[],
): Promise<PlanOfCommit | undefined> {
  let other: PlanOfCommit | undefined;
  for (const files of candidates) {
    const sources: Source[] = [];
    for (const file of files) {
      const bytes = await fileAt(git, commit, file);
      if (bytes) sources.push({ file, text: bytes.toString("utf8") });
    }
    const read = sources.length > 0 ? readPlan(sources) : undefined;
    if (!read?.ok || read.value.plan.phases.length === 0) continue;
    const found = ids.map((id) => phaseNamed(read.value.plan, id));
    const plan = {
      // With those that the commit has moved away.
      files,
      phases: found.filter((phase) => phase !== undefined),
      unknown: ids.filter((_, index) => found[index] === undefined),
    };
    if (plan.phases.length > 0) return plan;
    other ??= plan;
  }
  return other;
}
