/**
 * Steps of a flow by real Claude Code and real Codex, through the built binary: they are told what
 * the skill says and what its sub-step reads, they leave artifacts with tools of their own, and
 * what they forget or spoil they are told again.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { processesOf } from "./processes.ts";
import { eventsOf, makeProject, type Project, told, until } from "./project.ts";
import { toolResults } from "./script.ts";
import { type ModelRequest, startScriptedModel } from "./scripted-model.ts";
import {
  artifactsOf,
  asking,
  mending,
  type SkillName,
  skillText,
  toldBy,
  workBy,
} from "./skill-work.ts";

const agents = ["claude", "codex"] as const;
type Agent = (typeof agents)[number];

interface Stage {
  readonly skill: Exclude<SkillName, "research">;
  readonly step: string;
  readonly name: string;
  /** Whose artifacts are there when it begins. */
  readonly after: readonly SkillName[];
  /** How the flow ends behind it: at a boundary, or at a question of the next step. */
  readonly exit: number;
  readonly next: { readonly step: string; readonly name: string };
  readonly forgets: string;
  readonly empties: string;
  readonly spoils: { readonly path: string; readonly column: string };
}

const stages: readonly Stage[] = [
  {
    skill: "problem",
    step: "1",
    name: "Problem",
    after: [],
    exit: 3,
    next: { step: "2", name: "Research" },
    forgets: "00_problem/restrictions.md",
    // Nothing is asked of what stands in it, only that something does.
    empties: "00_problem/input_data/similar_names.csv",
    spoils: { path: "00_problem/acceptance_criteria.md", column: "Threshold" },
  },
  {
    skill: "plan",
    step: "3",
    name: "Plan",
    after: ["problem", "research"],
    exit: 3,
    // There is no user interface to design.
    next: { step: "5", name: "Decompose" },
    forgets: "02_document/tests/traceability-matrix.md",
    empties: "02_document/FINAL_report.md",
    spoils: { path: "02_document/risks.md", column: "Answer" },
  },
  {
    skill: "decompose",
    step: "5",
    name: "Decompose",
    after: ["problem", "research", "plan"],
    exit: 0,
    next: { step: "6", name: "Implement" },
    forgets: "02_tasks/_dependencies_table.md",
    empties: "02_tasks/todo/03_outbox.md",
    spoils: { path: "02_tasks/_dependencies_table.md", column: "Dependencies" },
  },
];

type Texts = Readonly<Record<string, string>>;

interface Recorded {
  readonly type: string;
  readonly step?: string;
  readonly how?: string;
  readonly reason?: string;
  readonly commit?: string;
  readonly subStep?: { readonly phase: number; readonly name: string };
}

describe.concurrent.each(agents)("%s", (agent) => {
  for (const stage of stages) {
    const { skill } = stage;
    it(`does ${skill} by what it is told, and leaves what the skill promises`, async () => {
      await played(agent, stage, { texts: markedTexts(skill) }, (run) => {
        const { text, phases } = skillText(skill);
        expect(run.briefs[0]?.text).toContain(text.trim());
        expect(run.events.filter(({ type }) => type === "step-retried")).toEqual([]);
        const reported = run.events.flatMap(({ subStep }) => subStep?.name ?? []);
        expect(reported).toEqual(phases.map(({ name }) => name));
        isComplete(stage, run);
      });
    });

    const ways = {
      "forgets a file": forgetting(stage),
      "leaves a file empty": emptying(stage),
      "leaves a table that the next step cannot read": spoiling(stage),
    };
    for (const [does, bad] of Object.entries(ways)) {
      it(`${does} in ${skill}, is told so, and mends it`, async () => {
        await played(agent, stage, bad, (run) => {
          const retried = run.events.filter(({ type }) => type === "step-retried");
          expect(retried).toHaveLength(1);
          const { reason } = retried[0] ?? {};
          // A line may stand between the file and what is wrong with it.
          expect(reason).toContain(`it says that it is done, but ${bad.path}`);
          expect(reason).toContain(bad.sentence);
          const ends = run.events.flatMap(({ type, how }) => (type === "skill-ended" ? [how] : []));
          expect(ends.filter((how) => how !== "context")).toEqual(["failed", "done"]);
          const tries = run.briefs.map(({ text }) => ({
            count: /^retry_count: (\d)$/m.exec(text)?.[1],
            why: toldBy(text)?.failure,
          }));
          expect(tries[0]).toEqual({ count: "0" });
          expect(tries.at(-1)).toEqual({ count: "1", why: reason });
          isComplete(stage, run);
        });
      });
    }
  }
});

// ── what is done wrong ─────────────────────────────────────────────────────────────────────────

interface Way {
  /** What the model leaves at first. */
  readonly texts: Texts;
  /** What it mends when it is told. */
  readonly path?: string;
  readonly sentence?: string;
}

function forgetting({ skill, forgets: path }: Stage): Required<Way> {
  const { [path]: _, ...texts } = markedTexts(skill);
  return { texts, path, sentence: "is missing" };
}

const emptying = ({ skill, empties: path }: Stage): Required<Way> => ({
  texts: { ...markedTexts(skill), [path]: "" },
  path,
  sentence: "is empty",
});

function spoiling({ skill, spoils: { path, column } }: Stage): Required<Way> {
  const texts = markedTexts(skill);
  const { columns = [] } = skillText(skill).produces.find((each) => each.path === path) ?? {};
  const at = columns.indexOf(column) + 1;
  const narrow = (line: string): string =>
    line.startsWith("|") ? line.split("|").toSpliced(at, 1).join("|") : line;
  const spoilt = (texts[path] ?? "").split("\n").map(narrow).join("\n");
  return {
    texts: { ...texts, [path]: spoilt },
    path,
    sentence: `has a table without the column ${column}: it has ${columns.filter((each) => each !== column).join(", ")}, and has to have ${columns.join(", ")}, in this order`,
  };
}

// ── a flow of one step ─────────────────────────────────────────────────────────────────────────

interface Played {
  readonly project: Project;
  /** Of the step and no other. */
  readonly events: readonly Recorded[];
  readonly briefs: readonly Brief[];
}

interface Brief {
  readonly text: string;
  /** All that the model was told with it. */
  readonly whole: string;
}

async function played(
  agent: Agent,
  stage: Stage,
  { texts, path = "" }: Way,
  judge: (run: Played) => void,
): Promise<void> {
  const { skill, step, after } = stage;
  const whole = markedTexts(skill);
  const model = await startScriptedModel((request) => {
    const brief = toldBy(briefIn(request)?.text ?? "");
    if (!brief) throw new Error("no brief is in the request");
    if (brief.step !== step) return asking(brief);
    if (brief.failure === undefined) return workBy(skill, brief, texts);
    return mending(brief, path, whole[path] ?? "");
  });
  const before = Object.assign({}, ...after.map(markedTexts), notes) as Texts;
  const project = makeProject(
    { [agent]: model.url },
    {
      "README.md": "# Parcel desk\n",
      ...Object.fromEntries(Object.entries(before).map(([name, text]) => [`_docs/${name}`, text])),
    },
  );
  try {
    const ran = await project.autodev("--agent", agent, "--no-input", "--json");
    expect(ran.code, told(ran)).toBe(stage.exit);
    // A git of ours may live a moment longer: it ends when nobody talks to it any more.
    const left = processesOf(project.place).map(({ command }) => command);
    expect(left.filter((command) => !/^\S*git /.test(command))).toEqual([]);
    await until(() => processesOf(project.place).length === 0, "nothing is left");
    const briefs = model.requests
      .flatMap((request) => (isFirst(request) ? (briefIn(request) ?? []) : []))
      .filter(({ text }) => toldBy(text)?.step === step);
    for (const brief of briefs) isToldWhatItReads(brief, stage, before);
    const all = await eventsOf<Recorded>(project);
    const end = all.findIndex(({ type }) => type === "step-completed");
    expect(end, told(ran)).toBeGreaterThan(0);
    const commits = all.filter(({ type }) => type === "step-committed");
    judge({ project, briefs, events: [...all.slice(0, end + 1), ...commits] });
  } finally {
    await model.close();
    project.remove();
  }
}

/** In the same folder, and nobody's to read. */
const notes: Texts = { "meeting_notes.md": `# Notes\n\n${markOf("meeting_notes.md")}\n` };

/** Each with a word of its own, by which it is found wherever it is told. */
function markedTexts(skill: SkillName): Texts {
  const marked = Object.entries(artifactsOf(skill)).map(
    ([path, text]) => [path, `${text}\n${markOf(path)}\n`] as const,
  );
  return Object.fromEntries(marked);
}

function markOf(path: string): string {
  return `mark-${createHash("sha256").update(path).digest("hex").slice(0, 12)}`;
}

const isFirst = ({ conversation }: ModelRequest): boolean =>
  conversation !== undefined &&
  conversation.tools.length > 0 &&
  toolResults(conversation.entries) === 0;

function briefIn({ conversation, body }: ModelRequest): Brief | undefined {
  const said = conversation?.entries.findLast(({ text }) => toldBy(text) !== undefined);
  return said && { text: said.text, whole: JSON.stringify(body) };
}

// ── what has to hold ───────────────────────────────────────────────────────────────────────────

/** The state file, what the sub-step lists, and nothing else of `_docs/`. */
function isToldWhatItReads({ text, whole }: Brief, stage: Stage, before: Texts): void {
  const { skill, step, name } = stage;
  expect(text).toContain(
    `## Current Step\nflow: greenfield\nstep: ${step}\nname: ${name}\nstatus: in_progress\n`,
  );
  const at = toldBy(text)?.from ?? 0;
  const { reads = [] } = skillText(skill).phases[at - 1] ?? {};
  const isListed = (path: string): boolean => reads.some((pattern) => isLike(path, pattern));
  for (const [path, content] of Object.entries(before)) {
    if (isListed(path)) expect(text).toContain(content.trim());
    else expect(whole, `${path} in sub-step ${at}`).not.toContain(markOf(path));
  }
  for (const path of Object.keys(markedTexts(skill))) {
    if (!isListed(path)) expect(whole, `${path} in sub-step ${at}`).not.toContain(markOf(path));
  }
}

const isLike = (path: string, pattern: string): boolean =>
  new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", "[^/]*")}$`).test(path);

/** Every artifact is committed as it has to be, once; and the flow has gone on. */
function isComplete({ skill, step, name, next }: Stage, { project, events }: Played): void {
  const [committed, ...others] = events.filter(({ type }) => type === "step-committed");
  expect(others).toEqual([]);
  expect(committed?.step).toBe(step);
  const commit = committed?.commit ?? "";
  expect(project.git("log", "-1", "--format=%s", commit).trim()).toBe(
    `docs: step ${step} ${name} complete`,
  );
  for (const [path, text] of Object.entries(markedTexts(skill))) {
    expect(project.git("show", `${commit}:_docs/${path}`), path).toBe(text);
  }
  const state = readFileSync(join(project.place.tree, "_docs/_autodev_state.md"), "utf8");
  expect(state).toContain(`step: ${next.step}\nname: ${next.name}\n`);
  expect(state).toContain("retry_count: 0\n");
}
