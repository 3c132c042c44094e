/**
 * What the dashboard's server and its page say to each other: plain JSON, read by both from here.
 * Paths are below `/api`; `p` is the project's key; whoever asks shows the token as
 * `Authorization: Bearer`. Text of agents and repositories is text: whoever shows it makes it no
 * markup.
 */
import type { Budgets } from "../agent/budget.ts";
import type { Answer } from "../decision.ts";
import type { RecordedEvent } from "../event.ts";
import type { FleetTold } from "../fleet/told.ts";
import type { Flow } from "../flow/flow.ts";
import type { PackedBoard } from "./board.ts";

/** A repository that can be looked at: the one that we were started in, or a part of its suite. */
export interface SeenProject {
  /** Its path from the first one; "." is that. */
  readonly key: string;
  readonly name: string;
  readonly root: string;
  /** Undefined: nothing was ever recorded there. */
  readonly at?: string;
  readonly holder?: SeenHolder;
  /** Open decisions, blockers: how much waits for people. */
  readonly needs: number;
  /** Where its flow is. */
  readonly place?: {
    readonly flow: string;
    readonly step: string;
    readonly name: string;
    readonly status: string;
  };
  /** The newest run. */
  readonly run?: {
    readonly id: string;
    readonly title: string;
    readonly complete: number;
    readonly total: number;
    /** Absent: under way, or killed. */
    readonly ended?: string;
  };
  /** Why it cannot be read. */
  readonly trouble?: string;
}

/** `GET /projects`: the first is the one that we were started in. */
export interface ProjectsAnswer {
  readonly version: 1;
  readonly projects: readonly SeenProject[];
}

/** Whose session is open there; it can be asked questions and takes up answers. */
export interface SeenHolder {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
  readonly command: string;
}

/** `GET /board?p=[&at=seq]`: as it is, or as it was at `at` or a little before. */
export interface BoardAnswer {
  readonly version: 1;
  readonly board: PackedBoard;
  /** How far history goes: of its first event and its last. */
  readonly head: { readonly seq: number; readonly began: string; readonly at: string };
  readonly budgets: Budgets;
  /** The flows that the project has beside ours, or in their place. */
  readonly flows: readonly Flow[];
  /** Of now: given, but not recorded yet; they count. By the decision's id. */
  readonly answers?: Readonly<Record<string, Answer>>;
}

/** `GET /events?p=&after=seq&to=seq`: at most so many at once. */
export interface EventsAnswer {
  readonly version: 1;
  readonly events: readonly RecordedEvent[];
}
export const mostEventsAtOnce = 5000;

/**
 * `GET /stream?p=&after=seq&at=iso`: server-sent events. The id of `events` is the last one's number: with
 * `Last-Event-ID` it goes on from there. `at`: when that event happened; another history says `anew`.
 */
export type StreamMessage =
  | { readonly event: "events"; readonly data: readonly RecordedEvent[] }
  /** At least every ten seconds: that somebody is there, and what time it is with him. */
  | {
      readonly event: "pulse";
      readonly data: {
        readonly now: string;
        readonly holder?: SeenHolder;
        /** Given, but not recorded yet: they count. By the decision's id. */
        readonly answers?: Readonly<Record<string, Answer>>;
      };
    }
  | { readonly event: "projects"; readonly data: readonly SeenProject[] }
  /** The last line that somebody at work has printed. */
  | {
      readonly event: "line";
      readonly data: { readonly run: string; readonly phase: string; readonly text: string };
    }
  /** The journal is not the one that was read: everything has to be read anew. */
  | { readonly event: "anew"; readonly data: Record<string, never> };

/**
 * `GET /transcript?p=&run=&phase=&attempt=&from=byte`: what was said from there on; `from` negative:
 * the last so many bytes. `run` "flow": of a skill, `phase` is its step and `attempt` its session.
 */
export interface TranscriptAnswer {
  readonly version: 1;
  readonly from: number;
  /** Where to go on. */
  readonly next: number;
  readonly entries: readonly Said[];
}

export type Said =
  /** A line of ours, of a gate, or of an agent that speaks no dialect. */
  | { readonly is: "line"; readonly text: string }
  /** Between the parts: "attempt 1 at phase 2a, by claude". */
  | { readonly is: "heading"; readonly text: string }
  | { readonly is: "text" | "thought"; readonly text: string }
  | { readonly is: "file"; readonly path: string; readonly change: "create" | "modify" | "delete" }
  | { readonly is: "command"; readonly command: string; readonly passed: boolean }
  | {
      readonly is: "tool";
      readonly name: string;
      readonly what: string;
      readonly state: "started" | "done" | "failed";
    }
  | {
      readonly is: "plan";
      readonly steps: readonly { readonly text: string; readonly done: boolean }[];
    }
  | { readonly is: "note"; readonly text: string };

/** `GET /brief?p=&run=&phase=&attempt=`: what its agent was told, as Markdown. */
export interface BriefAnswer {
  readonly version: 1;
  /** It was not kept: what the plan says of the phase now. Absent: to the letter. */
  readonly from?: "plan";
  readonly text: string;
  readonly blocks: readonly MarkdownNode[];
}

/** `GET /diff?p=&run=&phase=&attempt=`. */
export interface DiffAnswer {
  readonly version: 1;
  readonly base: string;
  /** Null: it is under way. */
  readonly commit: string | null;
  readonly files: readonly {
    readonly path: string;
    readonly added: number | null;
    readonly removed: number | null;
  }[];
  readonly patch: string;
  /** It is longer than what is told. */
  readonly cut: boolean;
}

/** `GET /artifacts?p=[&at=commit]`: what lies below `_docs/`, now or in that commit. */
export interface ArtifactsAnswer {
  readonly version: 1;
  readonly files: readonly {
    readonly path: string;
    readonly bytes: number;
    /** Which step of the flow leaves it, as far as its probes tell. */
    readonly step?: string;
  }[];
}

/** `GET /artifact?p=&path=[&at=commit]`: one of them. */
export interface ArtifactAnswer {
  readonly version: 1;
  readonly path: string;
  readonly bytes: number;
  readonly is: "markdown" | "text" | "binary";
  /** Of text. */
  readonly text?: string;
  readonly blocks?: readonly MarkdownNode[];
  readonly cut: boolean;
}

/** A document as a tree of what it says; no HTML, ever. */
export type MarkdownNode =
  | { readonly t: "text"; readonly v: string }
  | { readonly t: "code"; readonly v: string }
  | { readonly t: "break" | "rule" }
  | {
      readonly t:
        | "strong"
        | "em"
        | "strike"
        | "p"
        | "quote"
        | "li"
        | "ul"
        | "table"
        | "tr"
        | "th"
        | "td";
      readonly c: readonly MarkdownNode[];
    }
  | { readonly t: "h"; readonly level: number; readonly c: readonly MarkdownNode[] }
  | { readonly t: "ol"; readonly start: number; readonly c: readonly MarkdownNode[] }
  | { readonly t: "task"; readonly done: boolean; readonly c: readonly MarkdownNode[] }
  | { readonly t: "pre"; readonly lang: string; readonly v: string }
  /** `href`: only http, https, mailto, or a path below `_docs/` as `artifact`. */
  | {
      readonly t: "a";
      readonly href?: string;
      readonly artifact?: string;
      readonly c: readonly MarkdownNode[];
    };

/** `POST /decide`. */
export interface DecideRequest {
  readonly p: string;
  readonly id: string;
  readonly key: string;
}
export interface DecideAnswer {
  readonly version: 1;
  readonly id: string;
  readonly answer: string;
  readonly answeredBy: string;
  /** False: it is kept, and whoever holds the project takes it up. */
  readonly recorded: boolean;
  /** What is wrong beside that: why it is kept, and may not be taken up. */
  readonly warning?: string;
}

/** `GET /fleet`: everything that shares the database; without one, 404. */
export type FleetAnswer = FleetTold;

/** `POST /fleet/decide`: two runs may ask the same. Answered as `/decide` is. */
export interface FleetDecideRequest {
  readonly run: string;
  readonly id: string;
  readonly key: string;
}

/** `POST /fleet/pause`: nothing new begins, or it does again. */
export interface FleetPauseRequest {
  /** Null: in the whole fleet. */
  readonly run: string | null;
  readonly paused: boolean;
}
export interface FleetPauseAnswer {
  readonly version: 1;
  readonly paused: boolean;
  /** Runs that go on. */
  readonly goesOn: readonly string[];
}

/** `POST /enter`: a word that is good once, for the token. */
export interface EnterRequest {
  readonly ticket: string;
}
export interface EnterAnswer {
  readonly version: 1;
  readonly token: string;
}

/** `POST /ticket`: such a word, for whoever has the token. */
export interface TicketAnswer {
  readonly version: 1;
  readonly ticket: string;
}

/**
 * `GET /proof?nonce=`: that whoever answers has the token, without telling it. Asked by another
 * autodev before it says anything to a port that might be somebody else's by now.
 */
export interface ProofAnswer {
  readonly version: 1;
  readonly proof: string;
}

/** Whatever was refused, with the status that fits. */
export interface ErrorAnswer {
  readonly version: 1;
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string };
}
