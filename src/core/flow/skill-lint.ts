/**
 * Whether flows and skills fit together, before anybody runs them: a step whose skill does not leave
 * what proves the step would be done for ever, and a need that nobody meets would stop a project
 * half-way. Contracts are compared with contracts; no artifact has to exist.
 */
import type { Finding } from "../finding.ts";
import { artifactAt, existing, unmetBy } from "./contract.ts";
import { type Flow, holds, type Probe, type Step } from "./flow.ts";
import { probeInWords } from "./in-words.ts";
import { fencesOf } from "./outline.ts";
import { type Artifact, type Skill, type SkillHead, skillOf } from "./skill.ts";

/** As it is read, with what else lies in its folder: paths relative to it. */
export interface LintedSkill {
  readonly head: SkillHead;
  readonly file: string;
  readonly text: string;
  /** Of the whole file. */
  readonly lines: number;
  readonly beside: readonly string[];
}

/** An agent reads all of it, each time. */
const mostLines = 400;

/** Notes are no faults: they say what a contract leaves to the step. */
export function lintSkills(flows: readonly Flow[], skills: readonly LintedSkill[]): Finding[] {
  const byName = new Map<string, LintedSkill>();
  const findings: Finding[] = [];
  for (const skill of skills) {
    const { name } = skill.head;
    const before = byName.get(name);
    if (before)
      findings.push(errorAt(skill, "skill-twice", `${name} is also what ${before.file} is called`));
    byName.set(name, skill);
  }
  return [
    ...findings,
    ...flows.flatMap((flow) => flow.steps.flatMap((step) => stepFindings(flow, step, byName))),
    ...flows.flatMap((flow) => needFindings(flow, flows, byName)),
    ...skills.flatMap((skill) => [...readFindings(skill, skills), ...textFindings(skill)]),
  ];
}

const errorAt = ({ file }: LintedSkill, code: string, message: string): Finding => ({
  code,
  level: "error",
  message,
  file,
});

/** As it is done without a mode, and in each of its modes. */
function waysOf({ head, file, text }: LintedSkill): { mode?: string; way: Skill }[] {
  return [
    { way: skillOf(head, { file, text }) },
    ...Object.keys(head.modes).map((mode) => ({ mode, way: skillOf(head, { file, text, mode }) })),
  ];
}

// ── a step and its skill ───────────────────────────────────────────────────────────────────────

function stepFindings(flow: Flow, step: Step, skills: ReadonlyMap<string, LintedSkill>): Finding[] {
  if (step.skill === undefined) return [];
  const where = `${flow.name}, step ${step.step} ${step.name}`;
  const skill = skills.get(step.skill);
  if (!skill)
    return [
      {
        code: "step-without-skill",
        level: "error",
        message: `${where}: there is no skill ${step.skill}`,
      },
    ];
  const { mode } = step;
  if (mode !== undefined && !Object.hasOwn(skill.head.modes, mode))
    return [errorAt(skill, "mode-missing", `${where}: ${step.skill} has no mode ${mode}`)];
  const way = skillOf(skill.head, { ...skill, mode });
  // What another system's skill leaves behind, nobody knows before it is run.
  if (!way.own) return [];
  const names = way.phases.map(({ name }) => name);
  return [
    ...(step.tracker ?? [])
      .filter((name) => !names.includes(name))
      .map((name) =>
        errorAt(
          skill,
          "sub-step-unknown",
          `${where}: ${name} is no phase of ${calledSo(step)}: ${names.join(", ")}`,
        ),
      ),
    ...(["done", "finished", "leaves"] as const).flatMap((key) => {
      const probe = step[key];
      return probe ? proofFindings(probe, way, skill, `${where}, ${key}: ${calledSo(step)}`) : [];
    }),
  ];
}

const calledSo = ({ skill, mode }: Step): string =>
  mode === undefined ? `${skill}` : `${skill} in mode ${mode}`;

/** Any day and any cycle will do. */
const time = { cycle: 1, since: "2026-01-01" };

/** The contract kept to the letter, and nothing else on disk: does that prove the step? */
function proofFindings(probe: Probe, way: Skill, skill: LintedSkill, where: string): Finding[] {
  const promised = way.produces.filter(({ optional }) => !optional);
  if (proves(probe, promised.flatMap(filesOf))) return [];
  // One skill serves several steps, and a step may want a name that is narrower than the skill's.
  const asked = pathsIn(probe).filter((path) => promised.some((each) => isLike(path, each.path)));
  const named = [...new Set([...promised.flatMap(filesOf), ...asked])];
  if (asked.length > 0 && proves(probe, named)) {
    const message = `${where} leaves the name to the step, which asks for ${asked.join(", ")}`;
    return [{ code: "name-from-step", level: "note", message, file: skill.file }];
  }
  const message = `${where} does not promise what proves it: ${probeInWords(probe)}`;
  return [errorAt(skill, "step-unproved", message)];
}

const proves = (probe: Probe, paths: readonly string[]): boolean =>
  holds(
    probe,
    {
      docs: new Map(paths.map((path) => [path, 1])),
      texts: new Map(),
      hasSource: true,
      members: 0,
    },
    time,
  );

/** As many as there have to be. */
const filesOf = ({ path, least }: Artifact): string[] =>
  Array.from({ length: path.includes("*") ? least : 1 }, (_, nth) => fileLike(path, `x${nth + 1}`));

const fileLike = (pattern: string, word = "x1"): string =>
  pattern
    .replaceAll("{cycle}", String(time.cycle))
    .replaceAll("{date}", time.since)
    .replaceAll("*", word);

/** That a probe wants to be there. */
function pathsIn(probe: Probe): string[] {
  if ("all" in probe) return probe.all.flatMap(pathsIn);
  if ("any" in probe) return probe.any.flatMap(pathsIn);
  if ("filled" in probe) return [fileLike(probe.filled)];
  if ("exists" in probe) return [fileLike(probe.exists)];
  return "dated" in probe ? [fileLike(probe.dated)] : [];
}

const isLike = (path: string, pattern: string): boolean =>
  existing([artifactAt(pattern)], new Map([[path, 1]]), { cycle: time.cycle }).length > 0;

/** Some file is meant by both. */
const isSame = (one: string, other: string): boolean =>
  isLike(fileLike(one), other) || isLike(fileLike(other), one);

// ── needs ──────────────────────────────────────────────────────────────────────────────────────

/** Every need is met by an earlier step, however a project came into the flow. */
function needFindings(
  flow: Flow,
  flows: readonly Flow[],
  skills: ReadonlyMap<string, LintedSkill>,
): Finding[] {
  const findings = new Map<string, Finding>();
  for (const { at, before, from } of entriesInto(flow, flows, skills)) {
    const sure = [...before];
    const unsure: string[] = [];
    for (const step of flow.steps.slice(at)) {
      const skill = skills.get(step.skill ?? "");
      if (!skill) continue;
      const way = skillOf(skill.head, { ...skill, mode: step.mode });
      for (const need of way.needs) {
        if (sure.some((path) => isSame(need, path))) continue;
        const reason = unsure.some((path) => isSame(need, path))
          ? "only a step that may be left out leaves it"
          : "no earlier step leaves it";
        const message = `${flow.name}, step ${step.step} ${step.name}, ${from}: ${calledSo(step)} needs ${need}, and ${reason}`;
        findings.set(message, errorAt(skill, "need-unmet", message));
      }
      (isSure(step) ? sure : unsure).push(...promisesOf(way));
    }
  }
  return [...findings.values()];
}

const isSure = ({ optional, applies }: Step): boolean => optional !== true && applies === undefined;

const promisesOf = (way: Skill): string[] =>
  way.produces.filter(({ optional }) => !optional).map(({ path }) => path);

interface Entry {
  /** Index of the first step that is done. */
  readonly at: number;
  /** What the flow that came before is sure to have left. */
  readonly before: readonly string[];
  readonly from: string;
}

/** From its beginning, and from the end of each flow that goes on in this one. */
function entriesInto(
  flow: Flow,
  flows: readonly Flow[],
  skills: ReadonlyMap<string, LintedSkill>,
): Entry[] {
  const others = flows.filter((each) => each.onward?.flow === flow.name && each !== flow);
  return [
    { at: 0, before: [], from: "from the beginning" },
    ...others.map((other) => ({
      at: flow.steps.findIndex(({ step }) => step === other.onward?.step),
      before: other.steps.filter(isSure).flatMap((step) => {
        const skill = skills.get(step.skill ?? "");
        return skill ? promisesOf(skillOf(skill.head, { ...skill, mode: step.mode })) : [];
      }),
      from: `after ${other.name}`,
    })),
  ].filter(({ at }) => at >= 0);
}

// ── a skill by itself ──────────────────────────────────────────────────────────────────────────

/** What a phase is given to read is made by somebody. */
function readFindings(skill: LintedSkill, skills: readonly LintedSkill[]): Finding[] {
  const made = skills.flatMap((each) =>
    waysOf(each).flatMap(({ way }) => way.produces.map(({ path }) => path)),
  );
  const missing = waysOf(skill).flatMap(({ way }) =>
    way.phases.flatMap(({ name, reads }) =>
      reads
        .filter((path) => ![...made, ...way.needs].some((each) => isSame(path, each)))
        .map((path) => `phase ${name} reads ${path}, which nobody writes`),
    ),
  );
  return [...new Set(missing)].map((message) => errorAt(skill, "read-unwritten", message));
}

function textFindings(skill: LintedSkill): Finding[] {
  const { head, text, lines, beside, file } = skill;
  if (head.phases === undefined) return [];
  const { fences, prose } = fencesOf(text);
  const above = lines - text.trimEnd().split("\n").length;
  const words = prose.join("\n");
  const ways = waysOf(skill);
  const findings: Finding[] = [];
  const error = (code: string, message: string): void =>
    void findings.push(errorAt(skill, code, message));

  if (lines > mostLines)
    error("skill-too-long", `it has ${lines} lines, and ${mostLines} are the most`);

  const names = new Set(ways.flatMap(({ way }) => way.phases.map(({ name }) => name)));
  const titles = prose.filter((line) => line.startsWith("#")).join("\n");
  for (const name of names)
    if (!hasWord(titles, name)) error("phase-unexplained", `no heading is about the phase ${name}`);

  const blanks = ways.flatMap(({ way }) =>
    way.gates.flatMap(({ question, options, reason }) =>
      [question, ...options, reason].flatMap((each) => each.match(/\{[^{}]+\}/g) ?? []),
    ),
  );
  for (const blank of new Set(blanks))
    if (!words.includes(blank))
      error("blank-unexplained", `a gate has ${blank}, and the text does not say what goes there`);

  for (const [at, line] of prose.entries())
    for (const target of linksIn(line))
      if (!beside.includes(target))
        findings.push({
          ...errorAt(skill, "link-dead", `it links to ${target}, which is not beside it`),
          line: above + at + 1,
        });

  // An example that breaks the contract teaches to break it.
  for (const { info, text: example, line } of fences) {
    const [, path] = info.split(/\s+/);
    if (path === undefined) continue;
    // A mode that says nothing has the very artifacts of the skill.
    const promised = [...new Set(ways.flatMap(({ way }) => way.produces))].filter(
      (each) => existing([each], new Map([[path, 1]]), { cycle: cycleIn(path) }).length > 0,
    );
    if (promised.length === 0)
      error("example-of-nothing", `the example ${path} is of nothing that it promises`);
    const facts = { docs: new Map([[path, example.length]]), texts: new Map([[path, example]]) };
    const alone = promised.map((each) => ({ ...each, least: 1 }));
    for (const unmet of unmetBy(alone, facts, { cycle: cycleIn(path) }))
      findings.push({
        code: "example-unmet",
        level: "error",
        message: `its own example: ${unmet.message}`,
        file,
        line: above + line + (unmet.line ?? 1) - 1,
      });
  }
  return findings;
}

const hasWord = (text: string, word: string): boolean =>
  new RegExp(`(?<![\\w-])${word}(?![\\w-])`, "m").test(text);

/** An example may be of any cycle. */
const cycleIn = (path: string): number => Number(/cycle(\d+)/.exec(path)?.[1] ?? 1);

/** Targets beside the file; not those elsewhere, and not what stands in ticks. */
const linksIn = (line: string): string[] =>
  [...line.replace(/`[^`]*`/g, "").matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, target = ""]) => target.replace(/#.*$/, ""))
    .filter((target) => target !== "" && !/^[a-z][a-z+.-]*:/i.test(target));
