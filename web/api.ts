/**
 * What the page asks its server: every question of wire.ts as a function, with the token shown each
 * time. Nothing here throws: what went wrong is a value, in words for whoever looks at the page.
 */
import type {
  ArtifactAnswer,
  ArtifactsAnswer,
  BoardAnswer,
  BriefAnswer,
  DecideAnswer,
  DecideRequest,
  DiffAnswer,
  EnterAnswer,
  EnterRequest,
  ErrorAnswer,
  EventsAnswer,
  TranscriptAnswer,
} from "../src/core/board/wire.ts";

export type Answered<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly trouble: Trouble };

export interface Trouble {
  /** `away`: nobody answers. `refused`: it is not for us. `failed`: it says why not. */
  readonly is: "away" | "refused" | "failed";
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

/** Which attempt at what; `run` "flow": of a skill, `phase` its step and `attempt` its session. */
export interface Which {
  readonly run: string;
  readonly phase: string;
  readonly attempt: number;
}

/** Of one project. */
export interface Api {
  board(at?: number): Promise<Answered<BoardAnswer>>;
  events(after: number, to: number): Promise<Answered<EventsAnswer>>;
  /** `from` negative: the last so many bytes. */
  transcript(which: Which, from: number): Promise<Answered<TranscriptAnswer>>;
  brief(which: Which): Promise<Answered<BriefAnswer>>;
  diff(which: Which): Promise<Answered<DiffAnswer>>;
  /** `at`: as of that commit. */
  artifacts(at?: string): Promise<Answered<ArtifactsAnswer>>;
  artifact(path: string, at?: string): Promise<Answered<ArtifactAnswer>>;
  decide(id: string, key: string): Promise<Answered<DecideAnswer>>;
  /** The answer's body is read while it comes. */
  stream(after: number, signal: AbortSignal): Promise<Answered<Response>>;
}

export function apiOf(token: string, p: string): Api {
  const get = <T>(path: string, query: Query = {}): Promise<Answered<T>> =>
    ask<T>(token, addressOf(path, { p, ...query }));
  return {
    board: (at) => get("board", { at }),
    events: (after, to) => get("events", { after, to }),
    transcript: (which, from) => get("transcript", { ...which, from }),
    brief: (which) => get("brief", { ...which }),
    diff: (which) => get("diff", { ...which }),
    artifacts: (at) => get("artifacts", { at }),
    artifact: (path, at) => get("artifact", { path, at }),
    decide: (id, key) =>
      ask(token, "/api/decide", { body: { p, id, key } satisfies DecideRequest }),
    stream: (after, signal) => reach(token, addressOf("stream", { p, after }), { signal }),
  };
}

/** A word that is good once, for the token. */
export const enter = (ticket: string): Promise<Answered<EnterAnswer>> =>
  ask("", "/api/enter", { body: { ticket } satisfies EnterRequest });

type Query = Readonly<Record<string, string | number | undefined>>;

function addressOf(path: string, query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return `/api/${path}?${new URLSearchParams(given)}`;
}

interface Rest {
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

async function ask<T>(token: string, address: string, rest: Rest = {}): Promise<Answered<T>> {
  const reached = await reach(token, address, rest);
  if (!reached.ok) return reached;
  try {
    return { ok: true, value: (await reached.value.json()) as T };
  } catch {
    return { ok: false, trouble: away("the answer broke off") };
  }
}

async function reach(
  token: string,
  address: string,
  { body, signal }: Rest,
): Promise<Answered<Response>> {
  try {
    const response = await fetch(address, {
      headers: {
        ...(token !== "" && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
      ...(signal && { signal }),
      cache: "no-store",
      redirect: "error",
    });
    return response.ok
      ? { ok: true, value: response }
      : { ok: false, trouble: await refusal(response) };
  } catch {
    return { ok: false, trouble: away("nobody answers at this address") };
  }
}

const away = (message: string): Trouble => ({ is: "away", code: "away", message });

async function refusal(response: Response): Promise<Trouble> {
  const is = response.status === 401 || response.status === 403 ? "refused" : "failed";
  try {
    const { error } = (await response.json()) as ErrorAnswer;
    return { is, ...error };
  } catch {
    return { is, code: String(response.status), message: `the server said ${response.status}` };
  }
}
