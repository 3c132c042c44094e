/**
 * One session of an agent that works by a skill, in the user's own tree, with `_docs/` to write in and
 * nothing else. It is on record before it begins; where it is in the skill is on record as it goes;
 * what became of it is judged by what lies there when it has ended.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import type { Agent, AgentEvent, AgentOutcome } from "../agent.ts";
import { eventLines } from "../agent.ts";
import type { Event } from "../core/event.ts";
import { renderedStateFile } from "../core/evolve.ts";
import { type Failure, type Result, succeed } from "../core/failure.ts";
import {
  type ContractTime,
  type Marks,
  reportsUnmet,
  sentenceOf,
  textsOf,
  unmetBy,
  writtenBetween,
} from "../core/flow/contract.ts";
import { type Flow, globOf, type Step } from "../core/flow/flow.ts";
import { flowNamed } from "../core/flow/flows/index.ts";
import { afterSkill, type Ended, type SkillEnd } from "../core/flow/judge.ts";
import type { SkillWork } from "../core/flow/next-move.ts";
import type { Skill } from "../core/flow/skill.ts";
import {
  lessonsFile,
  newestLessons,
  type SkillBriefInput,
  writeSkillBrief,
} from "../core/flow/skill-brief.ts";
import { awaitingInvocation, type FlowState } from "../core/flow/state.ts";
import { verdictIn } from "../core/flow/tasks.ts";
import {
  isHalfWay,
  type SkillWatch,
  stuckBecause,
  unwatchedSkill,
  watchSkill,
  zoneOf,
} from "../core/flow/zone.ts";
import { resultSchema } from "../core/plan/result.ts";
import { configFile, reportGaps, type Suite, suiteGaps, suiteLines } from "../core/suite.ts";
import { cutLine } from "../exec/streams.ts";
import { docsAccess, prepareHiding } from "./confinement.ts";
import { forgetMark, type Stray, strayed, watchTree } from "./docs-guard.ts";
import { documentAt } from "./docs-tree.ts";
import { findSkill } from "./find-skill.ts";
import { taskFacts } from "./flow-facts.ts";
import { type FlowSite, recordFlow, sessionFolder, sessionTranscript } from "./flow-site.ts";
import { renderingHash } from "./hold.ts";
import { keepingSecrets, withoutSecrets } from "./keep-secrets.ts";
import { putBack } from "./put-back.ts";
import { openReports, type SkillReports } from "./skill-reports.ts";
import { survey } from "./survey.ts";
import { surveySuite } from "./survey-suite.ts";
import { openTranscript, theirs, transcriptMark } from "./transcript.ts";
import { docsMarks, marksBefore } from "./untouched.ts";

export async function runSkill(site: FlowSite, work: SkillWork): Promise<Result<Event[]>> {
  const begun = await openWork(site, work);
  if (!begun.ok) return begun;
  const { skill, state, position, suite } = begun.value;
  const { step, session } = work;
  const workers = await site.workers();
  if (!workers.ok) return workers;
  const [name] = workers.value.agentsFor(step);
  if (name === undefined) throw new Error(`nobody is to do step ${step.step}`);
  const agent = keepingSecrets(workers.value.agent(name));
  const resumes = work.resumes?.agent === name && agent.resumes ? work.resumes : undefined;
  const started = await recordFlow(site, [
    skillStarted(work, name, resumes && { resumes: resumes.id }),
  ]);
  if (!started.ok) return started;
  const confined = workers.value.confined(name);
  const guard = confined ? succeed(unguarded) : await guardTree(site, session);
  if (!guard.ok) return guard;
  const before = skill.writes === "nothing" ? marksBefore(site, position) : undefined;
  const outcome = await atWork(site, {
    work: { ...work, notes: notesFor(site, work, suite) },
    skill,
    agent,
    state,
    confined,
    network: workers.value.network,
    ...(resumes && { resumes }),
  });
  if (!outcome.ok) return outcome;
  return judgeWork(site, work, begun.value, {
    end: outcome.value,
    guard: guard.value,
    before,
    wasConfirmed: suite?.config?.confirmed === true,
  });
}

export const skillStarted = (
  { session, step, skill, mode, part }: SkillWork,
  agent: string,
  more?: { readonly resumes: string },
): Event => ({
  type: "skill-started",
  session,
  step: step.step,
  skill,
  ...(mode !== undefined && { mode }),
  agent,
  ...more,
  ...(part && { part }),
});

/** What a session is about, before anybody works. */
export interface OpenedWork {
  readonly flow: Flow;
  readonly position: FlowState;
  /** Where the skill begins. */
  readonly state: FlowState;
  readonly skill: Skill;
  readonly suite: Suite | undefined;
}

export async function openWork(site: FlowSite, work: SkillWork): Promise<Result<OpenedWork>> {
  const { held, project } = site;
  const { flow: position } = held.state;
  const flow = flowNamed(position?.flow ?? "", site.flows);
  if (!position || !flow) throw new Error("a skill is to be run in no flow");
  const found = findSkill(project.root, work.skill, work.mode);
  if (!found.ok) return found;
  const skill = found.value;
  // Where the step's tasks are says nothing about a skill that only looks at them.
  const isWithin = skill.phases.some(({ name }) => name === position.subStep.name);
  const state = work.part && !isWithin ? { ...position, subStep: awaitingInvocation } : position;
  const suite = flow.suite ? await surveySuite(project.root, site.git) : undefined;
  return succeed({ flow, position, state, skill, suite });
}

export const notesFor = (
  site: FlowSite,
  { notes, step }: SkillWork,
  suite: Suite | undefined,
): readonly string[] => (suite ? [...notes, ...aboutSuite(site, step, suite)] : notes);

interface WorkEnd {
  readonly end: SkillEnd;
  readonly guard: Guard;
  /** Of a skill that writes nothing: what lay there. */
  readonly before: Marks | undefined;
  /** Of a suite: a person had confirmed its configuration. */
  readonly wasConfirmed: boolean;
}

/** Whoever did it: what lies there now is what counts. */
export async function judgeWork(
  site: FlowSite,
  work: SkillWork,
  { flow, state, skill, suite }: OpenedWork,
  { end, guard, before, wasConfirmed }: WorkEnd,
): Promise<Result<Event[]>> {
  const { held, project } = site;
  const { step, session } = work;
  const outside = await guard.look();
  if (!outside.ok) return outside;
  const seen = survey(project.root, site.flows);
  const now = held.state.flow ?? state;
  const time = contractTime(now.cycle, held.state.course?.since);
  const docs = seen.docs ?? new Map<string, number>();
  const produces = skill.produces.map((each) => only(each, work.leaves, time));
  // What is wrong with a document is said with its own words.
  const texts = new Map(
    [...textsAt(project.root, textsOf(produces, docs, time))].map(([file, text]) => [
      file,
      withoutSecrets(text),
    ]),
  );
  const written = before ? writtenBetween(before, docsMarks(project.root)) : [];
  const unmet = [...unmetBy(produces, { docs, texts }, time), ...written].map(sentenceOf);
  const reports = end.is === "done" ? end.reports : [];
  const part = work.part && partOf(site, work, texts);
  const ofSuite = suite
    ? suiteUnmet(await surveySuite(project.root, site.git), wasConfirmed, skill, end)
    : [];
  return succeed(
    afterSkill(held.state, {
      flow,
      step,
      session,
      end,
      unmet: [
        ...unmet,
        ...reportsUnmet(skill.reports, reports),
        ...(part?.unmet ?? []),
        ...ofSuite,
      ],
      strayed: outside.value,
      survey: seen,
      usualWait: laterThan(project.world.now(), usualWaitMs),
      ...(part && { part: part.judged }),
    }),
  );
}

/** What the engine has seen of it, and which parts are to be looked at. */
function aboutSuite({ held }: FlowSite, { applies }: Step, suite: Suite): string[] {
  const lines = suiteLines(suite).map((each) => `- ${each}`);
  const asked = applies && "reported" in applies.yes ? applies.yes.reported : undefined;
  const reports = Object.values(held.state.course?.reports ?? {}).flat();
  const drifted = reports.filter((each) => asked !== undefined && each.startsWith(`${asked}:`));
  return [
    ...(lines.length > 0 ? [`The suite, as it is on disk:\n\n${lines.join("\n")}`] : []),
    ...(drifted.length > 0 ? [`Status has reported: ${drifted.join("; ")}`] : []),
  ];
}

/** The configuration holds what there is, and only a person confirms it; what drifted is a part of it. */
function suiteUnmet(
  now: Suite,
  wasConfirmed: boolean,
  { produces }: Skill,
  end: SkillEnd,
): string[] {
  const writesIt = produces.some((each) => each.path === configFile);
  const confirmed = now.config?.confirmed === true && !wasConfirmed;
  return [
    ...(writesIt ? suiteGaps(now) : []),
    ...(confirmed
      ? [`_docs/${configFile}: confirmed_by_user is true, and only a person sets that`]
      : []),
    ...(end.is === "done" ? reportGaps(end.reports, now) : []),
  ];
}

/** A date may be of this cycle, and of the evening before it, where the agent's clock is behind ours. */
const contractTime = (cycle: number, since: string | undefined): ContractTime => ({
  cycle,
  ...(since !== undefined && { date: laterThan(since, -24 * 3600 * 1000) }),
});

/** What may be called anything is to be called this, here: an earlier one proves nothing. */
const only = (
  promise: Skill["produces"][number],
  file: string | undefined,
  time: { readonly cycle: number },
): Skill["produces"][number] =>
  file !== undefined && globOf(promise.path, time).test(file)
    ? { ...promise, path: file }
    : promise;

/** Tasks that were put right can be run; a review says in one word what it found. */
function partOf(
  { project }: FlowSite,
  { part, leaves = "", step }: SkillWork,
  texts: ReadonlyMap<string, string>,
): { readonly unmet: readonly string[]; readonly judged: NonNullable<Ended["part"]> } {
  if (part === "mend") {
    const { errors } = taskFacts(project.root, step.runs?.tasks ?? "");
    const unmet = errors.map((error) => `the tasks cannot be run: ${error}`);
    return { unmet, judged: { is: "mend" } };
  }
  const fails = verdictIn(texts.get(leaves) ?? "") === "FAIL";
  const why = `the review says FAIL: make tasks of what is critical or high in _docs/${leaves}`;
  return { unmet: [], judged: { is: "review", ...(fails && { fails: why }) } };
}

/** What somebody who is not confined did outside of `_docs/`, a sentence each. */
interface Guard {
  look(): Promise<Result<readonly string[]>>;
}

const unguarded: Guard = { look: async () => succeed([]) };

/**
 * People work in the same tree, and whose change it was nobody can tell: nothing of it is taken back,
 * but no step is called done in which it happened. Hooks and settings of git are put back all the
 * same: what is planted there would be run later, by people.
 */
export async function guardTree(site: FlowSite, session: number): Promise<Result<Guard>> {
  const { git, project } = site;
  const { now } = project.world;
  const mark = await watchTree(git, { id: `flow-session-${session}`, at: now() });
  if (!mark.ok) return mark;
  return succeed({
    async look() {
      const found = await strayed(git, mark.value);
      if (!found.ok) return found;
      const strays = found.value.filter((each) => each.what !== "state" || !isOwnState(site, each));
      const planted = strays.filter(({ what }) => what === "git");
      if (planted.length > 0) {
        const back = await putBack(git, mark.value, planted, { at: now() });
        if (!back.ok) return back;
      }
      await forgetMark(git, mark.value);
      return succeed(
        strays.map(
          ({ path: file, how, what }) =>
            `${file} was ${how}, outside of _docs/${what === "git" ? "; it was put back" : ""}`,
        ),
      );
    },
  });
}

/** We write it ourselves while the agent works. */
function isOwnState({ project: { store, world } }: FlowSite, { path: file }: Stray): boolean {
  const read = store.readProjection(file);
  if (!read.ok || read.value === undefined) return false;
  return store.everRendered(file, renderingHash(read.value, world));
}

const usualWaitMs = 15 * 60_000;
const laterThan = (now: string, ms: number): string => new Date(Date.parse(now) + ms).toISOString();

interface AtWork {
  readonly work: SkillWork;
  readonly skill: Skill;
  readonly agent: Agent;
  readonly state: FlowState;
  readonly confined: boolean;
  readonly network: "off" | undefined;
  readonly resumes?: NonNullable<SkillWork["resumes"]>;
}

// ── while it works ─────────────────────────────────────────────────────────────────────────────

async function atWork(site: FlowSite, at: AtWork): Promise<Result<SkillEnd>> {
  const { project } = site;
  const { work, skill, agent, state, resumes } = at;
  const { session, step } = work;
  const scratch = sessionFolder(site, session);
  fs.mkdirSync(path.join(project.root, "_docs"), { recursive: true });
  const stateFile = stateFileOf(site);
  const reports = openReports(scratch, stateFile, { from: state.subStep, phases: skill.phases });
  const transcript = openTranscript(sessionTranscript(site, session));
  const speaks = agent.speaks === undefined ? "" : ` speaking ${agent.speaks}`;
  transcript.add(
    `${transcriptMark} attempt ${session} at phase ${step.step}, by ${agent.name}${speaks}`,
  );
  const text = briefFor(site, at, { reports, scratch });
  if (agent.speaks !== undefined) {
    for (const line of text.trimEnd().split("\n")) transcript.add(`> ${line}`);
  }
  const ending = new AbortController();
  let endedBy: SkillEnd | undefined;
  let refused: Failure | undefined;
  const clock = (): number => Date.parse(project.world.now());
  let watch = unwatchedSkill(clock());
  const leave = (by: SkillEnd): void => {
    endedBy ??= by;
    ending.abort();
  };
  // In order, one after the other: each is durable before the next is looked at.
  let recording: Promise<unknown> = Promise.resolve();
  const note = (...events: Event[]): void => {
    recording = recording.then(async () => {
      const recorded = await recordFlow(site, events);
      if (recorded.ok) return;
      refused ??= recorded.failure;
      ending.abort();
    });
  };
  const spending = usageNotes(session, note);
  let under = state.subStep.name;
  const hear = (): void => {
    for (const subStep of reports.fresh()) {
      note({ type: "sub-step-reported", subStep: withoutSecrets(subStep) });
      const left = skill.phases.find(({ name }) => name === under);
      under = subStep.name;
      // A sub-step has ended: where the conversation has become long, the next begins in another.
      if (zoneOf(watch) === "caution" || (left?.break && isHalfWay(watch)))
        leave({ is: "context", reason: contextReason(watch) });
    }
  };
  if (at.confined) prepareHiding();
  const artifacts = artifactWatch(path.join(project.root, "_docs"));
  const looking = setInterval(() => {
    hear();
    for (const sign of artifacts(clock())) watch = watchSkill(watch, sign);
    const stuck = stuckBecause(watch, clock(), site.stuckMinutes);
    if (stuck !== undefined) leave({ is: "stuck", reason: stuck });
  }, lookEveryMs);
  try {
    const outcome = await agent.run(
      { phase: step.step, name: step.name, text, tasks: skill.phases.length, attempt: session },
      {
        cwd: project.root,
        scratch,
        env: { AUTODEV_SUB_STEP: reports.program, AUTODEV_STATE_COPY: reports.copy },
        timeoutMs: longestMs,
        idleMs: site.idleMs,
        ...(resumes && { resume: { session: resumes.id, tokens: resumes.tokens } }),
        signal: AbortSignal.any([site.signal, ending.signal]),
        killNow: site.killNow,
        access: at.confined ? docsAccess(project.root, site.git.place, scratch) : [],
        network: at.network,
        marker: `flow-${session}`,
        emit(event) {
          if (event.type === "raw") return transcript.add(theirs(event.line));
          if (event.type === "usage") return spending.add(event);
          if (event.type === "session") {
            const { id, model } = event;
            note({
              type: "skill-session-opened",
              session,
              id,
              ...(model !== undefined && { model }),
            });
          }
          watch = signsOf(event, project.root).reduce(watchSkill, watch);
          if (zoneOf(watch) === "danger") leave({ is: "context", reason: contextReason(watch) });
          for (const words of eventLines(event)) {
            const line = cutLine(words);
            if (agent.speaks === undefined) transcript.add(theirs(line));
            site.tell(line);
          }
        },
      },
    );
    transcript.add(`${transcriptMark} ${agent.name} has ended: ${outcome.is}`);
    clearInterval(looking);
    // What is heard only now has ended nothing; and what was done all the same was paid for.
    const end = outcome.is === "done" ? endOf(outcome) : (endedBy ?? endOf(outcome));
    hear();
    spending.end();
    await recording;
    if (refused) return { ok: false, failure: refused };
    const isOurs = site.signal.aborted || site.killNow.aborted;
    return succeed(isOurs ? { is: "stopped" } : end);
  } finally {
    clearInterval(looking);
    transcript.end();
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

const lookEveryMs = 250;
/** Long is no reason to be killed: only silence is, and a person. */
const longestMs = 7 * 24 * 3600 * 1000;

export function endOf(outcome: AgentOutcome): SkillEnd {
  const asks = "result" in outcome ? outcome.result?.asks : undefined;
  if (asks) return { is: "asked", asks };
  switch (outcome.is) {
    case "done":
      return {
        is: "done",
        outcome: outcome.result.commit_message.split("\n")[0]?.slice(0, 200) ?? "",
        reports: outcome.result.reports ?? [],
      };
    case "failed":
      return {
        is: "failed",
        reason: outcome.error.message,
        ...(outcome.result?.error?.type === "corruption" && { corrupt: true }),
      };
    case "limited": {
      const { reason, until } = outcome;
      return { is: "limited", reason, ...(until !== undefined && { until }) };
    }
    case "unable":
      return { is: "unable", reason: `${outcome.trouble.message} (${outcome.hint})` };
    case "stopped":
      return { is: "stopped" };
  }
}

function contextReason({ used, tools, artifacts, troubles }: SkillWatch): string {
  if (used !== undefined) return `${Math.round(used * 100)} % of the model's window is used`;
  if (troubles > 0) return `${troubles} tools failed one after the other`;
  return `${tools} tools were called and ${artifacts.length} artifacts read`;
}

/** What an event says about how full and how sound a conversation is. */
function signsOf(event: AgentEvent, root: string): Parameters<typeof watchSkill>[1][] {
  switch (event.type) {
    case "tool": {
      if (event.state === "started") return [];
      const file = /_docs\/(\S+\.\w+)/.exec(event.what)?.[1];
      return [
        { is: "tool", ok: event.state === "done" },
        ...(file === undefined
          ? []
          : [{ is: "artifact-read" as const, path: file, large: isLarge(root, file) }]),
      ];
    }
    case "command":
      return [{ is: "tool", ok: event.passed }];
    case "window":
      return [{ is: "window", used: event.used / Math.max(event.size, 1) }];
    default:
      return [];
  }
}

/** As a brief has it: more than would be put into one whole. */
function isLarge(root: string, file: string): boolean {
  try {
    return fs.statSync(path.join(root, "_docs", file)).size > mostWhole;
  } catch {
    // Named, and not there: there was nothing to read.
    return false;
  }
}

/** A record for each word would be a sync for each; a kill costs what was said since the last. */
function usageNotes(
  session: number,
  note: (event: Event) => void,
): { add(usage: { tokens: number; cost?: number }): void; end(): void } {
  let [tokens, cost] = [0, 0];
  let timer: NodeJS.Timeout | undefined;
  const say = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (tokens === 0 && cost === 0) return;
    note({ type: "skill-usage-counted", session, tokens, ...(cost > 0 && { cost }) });
    [tokens, cost] = [0, 0];
  };
  return {
    add(usage) {
      tokens += usage.tokens > 0 ? usage.tokens : 0;
      cost += (usage.cost ?? 0) > 0 ? (usage.cost ?? 0) : 0;
      timer ??= setTimeout(say, 2000);
    },
    end: say,
  };
}

// ── artifacts ──────────────────────────────────────────────────────────────────────────────────

/** What was written below a folder since the last call: by size and time, and then by its bytes. */
function artifactWatch(folder: string): (now: number) => Parameters<typeof watchSkill>[1][] {
  const seen = new Map<string, string>();
  let last = 0;
  const walk = (now: number, first: boolean): Parameters<typeof watchSkill>[1][] => {
    const signs: Parameters<typeof watchSkill>[1][] = [];
    for (const file of filesBelow(folder)) {
      const stat = fs.statSync(file, { throwIfNoEntry: false });
      if (!stat?.isFile()) continue;
      const mark = `${stat.size} ${stat.mtimeMs}`;
      if (seen.get(file) === mark) continue;
      seen.set(file, mark);
      if (first) continue;
      const name = path.relative(folder, file).split(path.sep).join("/");
      signs.push({ is: "artifact-written", path: name, hash: mark, size: stat.size, at: now });
    }
    return signs;
  };
  walk(0, true);
  return (now) => {
    if (now - last < walkEveryMs) return [];
    last = now;
    return walk(now, false);
  };
}

const walkEveryMs = 3000;

function filesBelow(folder: string): string[] {
  try {
    return fs
      .readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
}

/** Without those that are no text: nothing can be said about what stands in them. */
function textsAt(
  root: string,
  files: readonly string[],
  how?: { readonly forgiven: boolean },
): Map<string, string> {
  const texts = files.map((file) => [file, documentAt(root, file, how)] as const);
  return new Map(texts.flatMap(([file, text]) => (text === undefined ? [] : [[file, text]])));
}

// ── the brief ──────────────────────────────────────────────────────────────────────────────────

/** By the journal: the file itself is written a moment after what it tells. */
const stateFileOf = ({ held }: FlowSite): string => renderedStateFile(held.state)?.text ?? "";

function briefFor(
  site: FlowSite,
  { work, skill, agent, state, resumes }: AtWork,
  { reports, scratch }: { reports: SkillReports; scratch: string },
): string {
  return skillBrief(
    site,
    work,
    { skill, state },
    {
      goesOn: resumes !== undefined,
      reportBy: reports.program,
      stateCopy: reports.copy,
      ...(agent.speaks === undefined && { resultPath: path.join(scratch, "result.json") }),
    },
  );
}

export function skillBrief(
  site: FlowSite,
  { mode, notes }: SkillWork,
  { skill, state }: Pick<OpenedWork, "skill" | "state">,
  told: Pick<SkillBriefInput, "goesOn" | "reportBy" | "stateCopy" | "resultPath" | "fetched">,
): string {
  const phase = skill.phases.find(({ name }) => name === state.subStep.name) ?? skill.phases[0];
  return writeSkillBrief({
    state,
    stateFile: stateFileOf(site),
    skill,
    ...(mode !== undefined && { mode }),
    artifacts: artifactsFor(site, phase?.reads ?? [], state),
    lessons: newestLessons(textsAt(site.project.root, [lessonsFile]).get(lessonsFile) ?? ""),
    notes,
    resultSchema: resultSchema("skill"),
    ...told,
  });
}

/** Small ones whole, large ones by their headings; never all of `_docs/`. */
function artifactsFor(
  { project, flows }: FlowSite,
  reads: readonly string[],
  { cycle }: FlowState,
): Parameters<typeof writeSkillBrief>[0]["artifacts"] {
  const { docs } = survey(project.root, flows);
  const patterns = reads.map((each) => globOf(each, { cycle }));
  const files = [...(docs?.keys() ?? [])]
    .filter((file) => patterns.some((each) => each.test(file)))
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  // Reports are numbered and dated: the last ones are those of now.
  return [...textsAt(project.root, files.slice(-mostRead), { forgiven: true })].map(
    ([file, text]) =>
      text.length <= mostWhole ? { path: file, text } : { path: file, headings: headingsOf(text) },
  );
}

const mostRead = 20;
const mostWhole = 12_000;

const headingsOf = (text: string): string[] =>
  text
    .split("\n")
    .flatMap((line, at) => (/^#{1,6} /.test(line) ? [`${at + 1}: ${line}`] : []))
    .slice(0, 200);
