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
  ProofAnswer,
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
  /** The answer's body is read while it comes. `at`: when the last event that was seen happened. */
  stream(after: number, at: string, signal: AbortSignal): Promise<Answered<Response>>;
  doubt(): void;
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
      ask(token, "/api/decide", {
        body: { p, id, key } satisfies DecideRequest,
        // Other pages may have taken all the connections that a browser allows.
        signal: AbortSignal.timeout(15_000),
      }),
    stream: (after, at, signal) =>
      reach(token, addressOf("stream", { p, after, at: at === "" ? undefined : at }), { signal }),
    doubt,
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

export async function ask<T>(
  token: string,
  address: string,
  rest: Rest = {},
): Promise<Answered<T>> {
  const reached = await reach(token, address, rest);
  if (!reached.ok) return reached;
  try {
    return { ok: true, value: (await reached.value.json()) as T };
  } catch {
    return { ok: false, trouble: away("the answer broke off") };
  }
}

/**
 * While our server is away, anybody on this machine can listen at its address. The token is shown to
 * nobody who has not shown first that he has it.
 */
let isProven = false;

/** Whoever answers next has to show again who he is. */
export const doubt = (): void => {
  isProven = false;
};

async function prove(token: string): Promise<Trouble | undefined> {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  const nonce = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const response = await fetch(`/api/proof?nonce=${nonce}`, {
    cache: "no-store",
    redirect: "error",
  });
  const { proof } = (await response.json()) as ProofAnswer;
  const coded = (text: string) => new TextEncoder().encode(text);
  const how = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", coded(token), how, false, ["verify"]);
  const binary = atob(proof.replaceAll("-", "+").replaceAll("_", "/"));
  const shown = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  isProven = await crypto.subtle.verify(how, key, shown, coded(`autodev ui ${nonce}`));
  if (isProven) return undefined;
  return { is: "refused", code: "unauthorized", message: "this page's token is not the server's" };
}

async function reach(
  token: string,
  address: string,
  { body, signal }: Rest,
): Promise<Answered<Response>> {
  try {
    const trouble = token === "" || isProven ? undefined : await prove(token);
    if (trouble) return { ok: false, trouble };
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
    isProven = false;
    return { ok: false, trouble: away("nobody answers at this address") };
  }
}

const away = (message: string): Trouble => ({ is: "away", code: "away", message });

async function refusal(response: Response): Promise<Trouble> {
  try {
    const { error } = (await response.json()) as ErrorAnswer;
    return { is: error.code === "unauthorized" ? "refused" : "failed", ...error };
  } catch {
    return away(`the server said ${response.status}`);
  }
}
