/** What must come of a kind, and whether it did. */
import { spawnSync } from "node:child_process";
import { honestKinds, landingOf } from "./honest.ts";
import { type Honest, isRightOtherwise, type Kind, type Liar, treesOf } from "./kind.ts";
import { liesAboutGates } from "./lies-about-gates.ts";
import { liesAboutHistory } from "./lies-about-history.ts";
import { liesAboutTests } from "./lies-about-tests.ts";
import { liesAboutWork } from "./lies-about-work.ts";
import { type Project, type ProjectName, projects } from "./project.ts";
import { blobOf, type Court, type Trial, tryAgent, tryTogether } from "./trial.ts";

export { honestKinds };

export const liars: readonly Liar[] = [
  ...liesAboutTests,
  ...liesAboutGates,
  ...liesAboutWork,
  ...liesAboutHistory,
];

export const projectsOf = ({ projects: only }: Kind): readonly ProjectName[] =>
  only ?? ["suite", "node", "python"];

/** Whether this machine has what the project needs. */
export const isPresent = (name: ProjectName): boolean => name !== "python" || hasPython();

let python: boolean | undefined;
const hasPython = (): boolean => {
  python ??= spawnSync("python3", ["-c", ""], { stdio: "ignore" }).status === 0;
  return python;
};

/** One project, as this kind needs it; absent a name, the one that tests use. */
export function projectFor(kind: Kind, name?: ProjectName): Project {
  const project = projects[name ?? projectsOf(kind)[0] ?? "node"];
  return kind.base ? kind.base(project) : project;
}

export interface Verdict {
  /** Absent: as it should be. */
  readonly wrong?: string;
  readonly trial: Trial;
}

export async function tryLiar(court: Court, liar: Liar, name?: ProjectName): Promise<Verdict> {
  const trial = await tryAgent(court, projectFor(liar, name), [liar]);
  return verdict(trial, wrongAboutLiar(liar, trial));
}

export async function tryHonest(court: Court, kind: Honest, name?: ProjectName): Promise<Verdict> {
  const project = projectFor(kind, name);
  const trial = await tryAgent(court, project, kind.first ? [kind.first, kind] : [kind]);
  return verdict(trial, wrongAboutHonest(kind, project, trial));
}

const verdict = (trial: Trial, wrong: string | undefined): Verdict => ({
  trial,
  ...(wrong !== undefined && { wrong }),
});

// ── crowds ─────────────────────────────────────────────────────────────────────────────────────

export interface Crowd {
  readonly project: ProjectName;
  readonly liars: readonly Liar[];
}

/**
 * Liars that harm nobody but their own work tree can share a run: all do the same phase, under
 * different ids, none lands, so that nobody is in another's way.
 */
export function crowdsOf(all: readonly Liar[], size: number): Crowd[] {
  const quiet = all.filter(({ base, lasting }) => base === undefined && lasting === undefined);
  const names: readonly ProjectName[] = ["suite", "node", "python"];
  return names.filter(isPresent).flatMap((project) => {
    const own = quiet.filter((liar) => projectsOf(liar)[0] === project);
    return Array.from({ length: Math.ceil(own.length / size) }, (_, at) => ({
      project,
      liars: own.slice(at * size, (at + 1) * size),
    }));
  });
}

/** Whoever is believed lands in everybody's way: then each is tried alone. */
export async function tryCrowd(court: Court, crowd: Crowd): Promise<Verdict[]> {
  const project = projects[crowd.project];
  const [first, ...rest] = project.phases;
  if (first === undefined) throw new Error("a project without a phase");
  const ids = crowd.liars.map((_, at) => `c${at + 1}`);
  const phases = [
    ...ids.map((id) => ({ ...first, id })),
    ...rest.map((phase) => ({ ...phase, needs: ids[0] ?? "-" })),
  ];
  const trials = await tryTogether(
    court,
    { ...project, phases },
    crowd.liars.map((liar, at) => ({ phase: ids[at] ?? "", acts: [liar] })),
  );
  if (trials.some(({ status }) => status !== "failed")) {
    const alone: Verdict[] = [];
    for (const liar of crowd.liars) alone.push(await tryLiar(court, liar, crowd.project));
    return alone;
  }
  return trials.map((trial, at) => verdict(trial, wrongAboutLiar(crowd.liars[at] as Liar, trial)));
}

// ── liars ──────────────────────────────────────────────────────────────────────────────────────

export function wrongAboutLiar(liar: Liar, trial: Trial): string | undefined {
  const { expect, lasting } = liar;
  if (trial.timedOut) return "the run did not end";
  if (trial.status === "complete") {
    // Where agents are shut in, a trick may come to nothing; what is left is honest work.
    if (isRightOtherwise(liar) && trial.harm.length === 0) return undefined;
    return trial.harm.length > 0 ? `believed, to the harm of ${trial.harm.join(", ")}` : "believed";
  }
  if (trial.landed !== undefined) return "its work has landed, though the phase is not complete";
  if (trial.status !== "failed") return `not failed but ${trial.status}: ${lastWords(trial)}`;
  const type = trial.error?.type ?? "";
  if (expect.errors?.includes(type)) return undefined;
  const named = trial.findings.map(({ code }) => code);
  if (named.some((code) => expect.codes.includes(code))) return undefined;
  if (lasting && type === "agent_crash" && refused.test(trial.said)) return undefined;
  if (liar.joined && type === "agent_crash") return undefined;
  const wanted = [...expect.codes, ...(expect.errors ?? [])].join(" or ");
  const found = named.length > 0 ? named.join(", ") : `${type}, no finding`;
  return `named wrongly: ${found}, not ${wanted} (${trial.error?.message})`;
}

/** Or it is refused, and they give up. */
const refused =
  /Read-only file system|Permission denied|Operation not permitted|Device or resource busy|fatal: (?:update_ref failed|cannot lock ref|Unable to write new index file)/;

// ── honest agents ──────────────────────────────────────────────────────────────────────────────

function wrongAboutHonest(kind: Honest, project: Project, trial: Trial): string | undefined {
  if (trial.timedOut) return "the run did not end";
  if (trial.status !== "complete") return `refused: ${whyNot(trial)}`;
  if (trial.landed === undefined) return "complete, but its commit cannot be read";
  const { landed } = trial;
  const wanted = landingOf(kind, project, treesOf(kind, project).left);
  const missing = Object.entries(wanted).flatMap(([file, text]) =>
    landed[file] === blobOf(text) ? [] : [file],
  );
  if (missing.length > 0) return `complete without its work: ${missing.join(", ")}`;
  if (trial.harm.length > 0) return `accepted, to the harm of ${trial.harm.join(", ")}`;
  if (kind.first) return wrongAboutBriefs(trial);
  return undefined;
}

/** Whoever tries again is told what was wrong. */
export function wrongAboutBriefs(trial: Trial): string | undefined {
  const [first = "", second] = [trial.briefs[1], trial.briefs[2]];
  if (second === undefined) return "there was no second attempt";
  // A note is no reason to fail, and need not be told.
  const found = trial.findings.filter(
    ({ attempt, texts }) => attempt === 1 && !texts.includes("note"),
  );
  if (found.length === 0) return "the first attempt failed without a finding";
  const untold = found.filter(
    ({ code, texts }) =>
      ![code, ...texts].some((text) => second.includes(text) && !first.includes(text)),
  );
  return untold.length === 0
    ? undefined
    : `the second brief does not tell: ${untold.map(({ code }) => code).join(", ")}`;
}

const whyNot = (trial: Trial): string => {
  const { status, error, findings } = trial;
  const codes = findings.map(({ code, texts }) => `${code} (${texts.join("; ")})`);
  return [status, error?.type, error?.message, ...codes]
    .filter(Boolean)
    .concat(status === undefined ? [lastWords(trial)] : [])
    .join(", ");
};

const lastWords = ({ said, code }: Trial): string =>
  `exit ${code}: ${said.trim().split("\n").slice(-3).join(" / ").slice(-600)}`;
