/** What became of the steps of a flow, and of each session in which an agent worked on one. */
import type { RecordedEvent } from "../event.ts";
import type { ProjectState } from "../evolve.ts";
import type { Spend } from "../plan/run-news.ts";
import { addSpend } from "../plan/run-watch.ts";

export interface StepStory {
  readonly flow: string;
  readonly step: string;
  readonly name: string;
  readonly cycle: number;
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly how: "under way" | "completed" | "skipped" | "failed";
  /** What is said of its end. */
  readonly outcome?: string;
  readonly commit?: string;
}

export interface SkillStory {
  readonly session: number;
  readonly step: string;
  readonly cycle: number;
  readonly skill: string;
  readonly mode?: string;
  readonly agent: string;
  readonly model?: string;
  readonly by?: string;
  readonly startedAt: string;
  readonly endedAt?: string;
  /** Absent: it goes on, or died with us. */
  readonly how?: string;
  readonly reason?: string;
  readonly spend?: Spend;
}

export interface StepStories {
  readonly steps: readonly StepStory[];
  readonly sessions: readonly SkillStory[];
}

export const noStepsYet: StepStories = { steps: [], sessions: [] };

/** `before`: the project as it was when the event happened. */
export function evolveSteps(
  stories: StepStories,
  event: RecordedEvent,
  before: ProjectState,
): StepStories {
  const { steps, sessions } = stories;
  const { flow } = before;
  const { at } = event;
  switch (event.type) {
    case "step-started": {
      if (!flow) return stories;
      const { step, name, cycle = flow.cycle } = event;
      const begun = { flow: flow.flow, step, name, cycle, startedAt: at } as const;
      return { ...stories, steps: [...steps, { ...begun, how: "under way" }] };
    }
    case "step-completed":
      return { ...stories, steps: ended(steps, flow, at, "completed", event.outcome) };
    case "step-skipped":
      return { ...stories, steps: ended(steps, flow, at, "skipped", event.reason) };
    case "step-failed":
      return { ...stories, steps: ended(steps, flow, at, "failed", event.blocker) };
    case "step-committed": {
      const { step, commit } = event;
      const index = steps.findLastIndex((each) => each.step === step);
      const story = steps[index];
      return story && commit !== undefined
        ? { ...stories, steps: steps.with(index, { ...story, commit }) }
        : stories;
    }
    case "skill-started": {
      const { session, step, skill, mode, agent } = event;
      const cycle = flow?.cycle ?? 1;
      const begun = { session, step, cycle, skill, agent, startedAt: at };
      return { ...stories, sessions: [...sessions, { ...begun, ...(mode && { mode }) }] };
    }
    case "skill-session-opened":
      return changed(stories, event.session, () => (event.model ? { model: event.model } : {}));
    case "skill-leased":
      return changed(stories, event.session, () => ({ by: event.lease.by }));
    case "skill-usage-counted": {
      const { tokens, cost } = event;
      const more = { tokens, ...(cost !== undefined && { cost }) };
      return changed(stories, event.session, ({ spend }) => ({ spend: addSpend(spend, more) }));
    }
    case "skill-ended": {
      const { how, reason } = event;
      return changed(stories, event.session, () => ({
        how,
        endedAt: at,
        ...(reason !== undefined && { reason }),
      }));
    }
    default:
      return stories;
  }
}

/** The step that the flow is at: one that was never started was skipped or confirmed in passing. */
function ended(
  steps: readonly StepStory[],
  flow: ProjectState["flow"],
  at: string,
  how: StepStory["how"],
  outcome: string,
): readonly StepStory[] {
  if (!flow) return steps;
  const index = steps.findLastIndex(
    ({ step, cycle, endedAt }) =>
      step === flow.step && cycle === flow.cycle && endedAt === undefined,
  );
  const { step, name, cycle } = flow;
  const story = steps[index] ?? { flow: flow.flow, step, name, cycle, startedAt: at, how };
  const over = { ...story, endedAt: at, how, outcome };
  return index < 0 ? [...steps, over] : steps.with(index, over);
}

function changed(
  stories: StepStories,
  session: number,
  change: (story: SkillStory) => Partial<SkillStory>,
): StepStories {
  const index = stories.sessions.findLastIndex((each) => each.session === session);
  const story = stories.sessions[index];
  return story
    ? { ...stories, sessions: stories.sessions.with(index, { ...story, ...change(story) }) }
    : stories;
}
