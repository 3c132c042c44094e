/** What became of each attempt at a phase: when, by whom, what was claimed, what was found. */
import type { RecordedEvent } from "../event.ts";
import { type AttemptRecord, attemptChange } from "../plan/attempts.ts";
import type { PhaseError } from "../plan/phase-error.ts";
import type { Claim } from "../plan/progress.ts";
import type { GateOutcome, RunEvent } from "../plan/run-event.ts";

export interface AttemptStory extends AttemptRecord {
  readonly phase: string;
  readonly slot: number;
  readonly agent: string;
  readonly model?: string;
  /** Whoever came for it, if we did not start him. */
  readonly by?: string;
  /** The agent had ended, and what it left was taken; the gates begin. */
  readonly deliveredAt?: string;
  readonly verifiedAt?: string;
  /** Parked: not before. */
  readonly until?: string;
  readonly claim?: Claim;
  readonly gates?: readonly GateOutcome[];
  readonly findings?: Extract<RunEvent, { type: "attempt-failed" }>["findings"];
  readonly error?: PhaseError;
  readonly message?: string;
  readonly files?: { readonly [how in "created" | "modified" | "deleted"]: readonly string[] };
  readonly tokens: number;
  /** In dollars; absent: nobody has said. */
  readonly cost?: number;
}

/** Of one run, in the order in which they began. */
export type Stories = readonly AttemptStory[];

export function evolveStories(stories: Stories, event: RecordedEvent, runAgent: string): Stories {
  switch (event.type) {
    case "attempt-started": {
      const { phase, attempt, base, slot, agent = runAgent, at: startedAt } = event;
      const begun = { phase, attempt, base, slot, agent, startedAt, tokens: 0 };
      return [...stories, { ...begun, how: "working", lines: [] }];
    }
    case "run-resumed":
    case "run-ended":
      return stories.some(isLeftAlone)
        ? stories.map((story) => (isLeftAlone(story) ? leftAt(story, event) : story))
        : stories;
    case "target-moved":
      return stories.map((story) => (isUndone(event, stories, story) ? undone(story) : story));
    default: {
      if (!("attempt" in event)) return stories;
      const at = stories.findLastIndex(
        ({ phase, attempt }) => phase === event.phase && attempt === event.attempt,
      );
      const story = stories[at];
      return story ? stories.with(at, { ...story, ...changeBy(story, event) }) : stories;
    }
  }
}

/** Nobody is at work on it any more; whoever came for it works on without us. */
const isLeftAlone = ({ how, by }: AttemptStory): boolean => how === "working" && by === undefined;

const leftAt = (story: AttemptStory, { type, at }: RecordedEvent): AttemptStory => {
  const why = type === "run-resumed" ? "autodev was killed" : "nobody came to work on it";
  return { ...story, how: "interrupted", endedAt: at, lines: [why] };
};

type Moved = Extract<RunEvent, { type: "target-moved" }>;

const isUndone = ({ undone: phases }: Moved, stories: Stories, story: AttemptStory): boolean =>
  story.how === "landed" &&
  phases.includes(story.phase) &&
  stories.findLast(({ phase }) => phase === story.phase) === story;

function undone(landed: AttemptStory): AttemptStory {
  const { endedAt: _, verifiedAt: __, ...story } = landed;
  return { ...story, how: "delivered", lines: [] };
}

function changeBy(story: AttemptStory, event: RecordedEvent): Partial<AttemptStory> {
  const change = attemptChange(event);
  switch (event.type) {
    case "attempt-leased":
      return { by: event.lease.by };
    case "session-opened":
      return event.model === undefined ? {} : { model: event.model };
    case "usage-counted": {
      const { tokens, cost } = event;
      return {
        tokens: story.tokens + tokens,
        ...(cost !== undefined && { cost: (story.cost ?? 0) + cost }),
      };
    }
    case "attempt-delivered": {
      const { claim, model, at } = event;
      return { ...change, claim, deliveredAt: at, ...(model !== undefined && { model }) };
    }
    case "attempt-failed": {
      const { error, claim, gates, findings } = event;
      return {
        ...change,
        error,
        ...(claim && { claim }),
        ...(gates && { gates }),
        ...(findings && { findings }),
      };
    }
    case "attempt-parked":
      return { ...change, until: event.until };
    case "phase-verified": {
      const { gates, findings, message, created, modified, deleted, at } = event;
      return {
        ...change,
        verifiedAt: at,
        gates,
        message,
        files: { created, modified, deleted },
        ...(findings && { findings }),
      };
    }
    default:
      return change;
  }
}
