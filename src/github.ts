/**
 * Pull requests by GitHub's REST API: the one for a branch, made if there is none.
 *
 *  1. Looked for before it is made, each time: whatever became of an earlier call, there is one.
 *  2. What failed without an answer, or with one that promises better, is tried again a few times;
 *     after a call that may have made it, that means looking first.
 *  3. One that people have closed or merged as it is stays closed.
 *  4. The token goes to `api` and nowhere else, and into no message.
 */
import { fail, type Result, succeed } from "./core/failure.ts";
import { ownText, withOwnText } from "./core/pull-request.ts";
import { maskSecrets, shown } from "./safe-text.ts";

export interface GitHubPlace {
  readonly api: string;
  /** owner/name. */
  readonly repository: string;
  readonly token: string;
}

export interface WantedPullRequest {
  readonly branch: string;
  /** Absent: the default branch. */
  readonly into?: string;
  /** What the branch holds. */
  readonly commit: string;
  readonly title: string;
  readonly text: string;
}

export interface PullRequest {
  readonly number: number;
  readonly url: string;
  readonly is: "created" | "updated" | "unchanged" | "closed";
}

export interface Patience {
  readonly callMs: number;
  /** Between one try and the next; there are no more tries than these. */
  readonly pauses: readonly number[];
  /** The longest that a limit is waited for. */
  readonly limitMs: number;
}

const usual: Patience = { callMs: 30_000, pauses: [500, 1000, 2000, 4000], limitMs: 60_000 };

/** The branch that pull requests go into unless one says otherwise. */
export async function defaultBranch(
  place: GitHubPlace,
  patience: Patience = usual,
): Promise<Result<string>> {
  const told = await patiently(place, patience, { method: "GET", path: "" });
  if (!told.ok) return told;
  const { default_branch: branch } = told.value as { default_branch?: unknown };
  return typeof branch === "string" ? succeed(branch) : strange(place);
}

export async function ensurePullRequest(
  place: GitHubPlace,
  wanted: WantedPullRequest & { readonly into: string },
  patience: Patience = usual,
): Promise<Result<PullRequest>> {
  for (let tried = 0; ; tried++) {
    const found = await find(place, wanted, patience);
    if (!found.ok) return found;
    if (found.value) return refreshed(place, found.value, wanted.text, patience);
    const { branch, into, title, text } = wanted;
    const answer = await ask(place, patience, {
      method: "POST",
      path: "/pulls",
      send: { title, head: branch, base: into, body: ownText(text) },
    });
    const pull = answer.status === 201 ? pullIn(answer.body) : undefined;
    if (pull) return succeed({ number: pull.number, url: pull.url, is: "created" });
    const pause = pauseAfter(answer, patience, tried);
    if (pause === undefined) return refused(place, answer);
    await sleep(pause);
  }
}

interface FoundPull {
  readonly number: number;
  readonly url: string;
  readonly open: boolean;
  readonly head: { readonly branch: string; readonly commit: string };
  readonly into: string;
  readonly body: string;
}

async function find(
  place: GitHubPlace,
  { branch, into, commit }: WantedPullRequest,
  patience: Patience,
): Promise<Result<FoundPull | undefined>> {
  const [owner = ""] = place.repository.split("/");
  const query = new URLSearchParams({
    head: `${owner}:${branch}`,
    base: into ?? "",
    state: "all",
    sort: "created",
    direction: "desc",
    per_page: "100",
  });
  const told = await patiently(place, patience, {
    method: "GET",
    path: `/pulls?${query.toString()}`,
  });
  if (!told.ok) return told;
  if (!Array.isArray(told.value)) return strange(place);
  const own = told.value
    .map(pullIn)
    .filter((pull) => pull !== undefined)
    .filter((pull) => pull.head.branch === branch && pull.into === into);
  return succeed(
    own.find(({ open }) => open) ?? own.find(({ open, head }) => !open && head.commit === commit),
  );
}

async function refreshed(
  place: GitHubPlace,
  { number, url, open, body }: FoundPull,
  text: string,
  patience: Patience,
): Promise<Result<PullRequest>> {
  const wanted = withOwnText(body, text);
  if (!open) return succeed({ number, url, is: "closed" });
  if (wanted === body) return succeed({ number, url, is: "unchanged" });
  const told = await patiently(place, patience, {
    method: "PATCH",
    path: `/pulls/${number}`,
    send: { body: wanted },
  });
  return told.ok ? succeed({ number, url, is: "updated" }) : told;
}

/** Undefined: not what GitHub answers. */
function pullIn(value: unknown): FoundPull | undefined {
  if (!isRecord(value) || !isRecord(value["head"]) || !isRecord(value["base"])) return undefined;
  const { number, html_url: url, state, body, head, base } = value;
  if (typeof number !== "number" || typeof url !== "string") return undefined;
  return {
    number,
    url: shown(url),
    open: state === "open",
    head: { branch: String(head["ref"]), commit: String(head["sha"]) },
    into: String(base["ref"]),
    // As it is typed into the form.
    body: typeof body === "string" ? body.replaceAll("\r\n", "\n") : "",
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

// ── one call ───────────────────────────────────────────────────────────────────────────────────

interface Call {
  readonly method: "GET" | "POST" | "PATCH";
  /** Below the repository. */
  readonly path: string;
  readonly send?: unknown;
}

interface Answer {
  /** 0: there was none. */
  readonly status: number;
  readonly body: unknown;
  readonly message: string;
  /** Milliseconds, where it says so. */
  readonly retryAfter?: number;
}

/** Calls that may be made twice. */
async function patiently(
  place: GitHubPlace,
  patience: Patience,
  call: Call,
): Promise<Result<unknown>> {
  for (let tried = 0; ; tried++) {
    const answer = await ask(place, patience, call);
    if (answer.status >= 200 && answer.status < 300) return succeed(answer.body);
    const pause = pauseAfter(answer, patience, tried);
    if (pause === undefined) return refused(place, answer);
    await sleep(pause);
  }
}

async function ask(
  { api, repository, token }: GitHubPlace,
  { callMs }: Patience,
  { method, path, send }: Call,
): Promise<Answer> {
  const safe = (text: string): string => maskSecrets(shown(text), [token]).slice(0, 500);
  try {
    const answer = await fetch(`${api.replace(/\/$/, "")}/repos/${repository}${path}`, {
      method,
      headers: {
        accept: "application/vnd.github+json",
        authorization: `Bearer ${token}`,
        "user-agent": "autodev",
        "x-github-api-version": "2022-11-28",
      },
      ...(send !== undefined && { body: JSON.stringify(send) }),
      signal: AbortSignal.timeout(callMs),
    });
    const body = parsed(await answer.text());
    return {
      status: answer.status,
      body,
      message: safe(messageIn(body)),
      ...limitIn(answer.headers, Date.now()),
    };
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return { status: 0, body: undefined, message: safe(String(cause)) };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function messageIn(body: unknown): string {
  if (!isRecord(body)) return "";
  const more = Array.isArray(body["errors"]) ? body["errors"] : [];
  const errors = more.map((each: unknown) => (isRecord(each) ? each["message"] : each));
  return [body["message"], ...errors].filter((each) => typeof each === "string").join(": ");
}

function limitIn(headers: Headers, now: number): { retryAfter?: number } {
  const after = Number(headers.get("retry-after") ?? Number.NaN);
  if (Number.isFinite(after)) return { retryAfter: after * 1000 };
  if (headers.get("x-ratelimit-remaining") !== "0") return {};
  const reset = Number(headers.get("x-ratelimit-reset") ?? Number.NaN);
  return Number.isFinite(reset) ? { retryAfter: Math.max(0, reset * 1000 - now) } : {};
}

/** Undefined: waiting does not help, or has helped too little. */
function pauseAfter(answer: Answer, patience: Patience, tried: number): number | undefined {
  const pause = patience.pauses[tried];
  if (pause === undefined) return undefined;
  const { status, retryAfter, message } = answer;
  if ((status === 403 || status === 429) && retryAfter !== undefined)
    return retryAfter <= patience.limitMs ? Math.max(pause, retryAfter) : undefined;
  // Somebody was faster, or an answer of ours was lost: it is found in a moment.
  const exists = status === 422 && /already exists/i.test(message);
  return status === 0 || status === 429 || status >= 500 || exists ? pause : undefined;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const strange = ({ api }: GitHubPlace): ReturnType<typeof fail> =>
  fail("pull-request", `${api} does not answer as GitHub does`, {
    hint: "GITHUB_API_URL is the address of GitHub's REST API",
  });

function refused(
  { api, repository }: GitHubPlace,
  { status, message, retryAfter }: Answer,
): ReturnType<typeof fail> {
  const why = message === "" ? "" : `: ${message}`;
  if (status === 0) {
    return fail("pull-request", `${api} cannot be reached${why}`, {
      hint: "the commits are pushed; run the same command again",
    });
  }
  return fail("pull-request", `GitHub refuses (${status}, ${repository})${why}`, {
    hint: hintFor(status, retryAfter),
  });
}

function hintFor(status: number, retryAfter: number | undefined): string {
  if (retryAfter !== undefined)
    return `a limit is reached: run the same command again in ${Math.ceil(retryAfter / 60_000)} min`;
  if (status === 401) return "GITHUB_TOKEN is not valid, or no longer";
  if (status === 403 || status === 404)
    return "the token needs pull-requests: write, and Actions may have to be allowed to create them (the repository's settings)";
  return "the commits are pushed; run the same command again, or open it by hand";
}
