/**
 * By what a trouble is known. Three tables: `sentences` say that a line is an error at all and stand
 * at its very beginning; `signs` tell errors apart and may stand anywhere, but are only asked of what
 * is known to be one; `tokens` are the codes that programs use among themselves.
 *
 * Texts come in one line with single spaces and straight quotes. No pattern repeats without a bound,
 * and none repeats a repetition: what an agent prints must never make us slow.
 */
import type { TroubleKind } from "./trouble.ts";

/** `limit`: one of the two; how long it lasts decides. */
export type SignKind = TroubleKind | "limit";

/** In this order: the first that is found counts. */
export const signs: readonly (readonly [SignKind, RegExp])[] = [
  [
    "overloaded",
    /temporarily limiting requests|no capacity available|(?:model|api) is at capacity|overloaded|high (?:demand|load)\b|slow_down/i,
  ],
  [
    "context",
    /prompt (?:is )?too long|context[_ ]length[_ ]exceeded|context window|maximum context length|exceed context limit|input token count|maximum number of tokens allowed|input is too long|request_too_large|request too large for|conversation too long|tokens must be reduced/i,
  ],
  [
    "refusal",
    /usage policy|content[_ ]policy|content management policy|content[_ ]filter|prohibited_content|blocked due to safety/i,
  ],
  ["schema", /invalid_json_schema|invalid schema for response_format|structured_output_retries/i],
  ["budget", /max_budget|maximum budget|budget has been exceeded/i],
  ["turn_limit", /max_turns|maximum number of turns|max session turns/i],
  [
    "auth",
    /authentication_error|authentication failed|invalid[_ ](?:or missing )?api[_ ]key|incorrect api key|api[_ ]key not (?:valid|found)|api_key_invalid|invalid x-api-key|oauth token|unauthenticated|unauthorized|permission_(?:error|denied)|authentication credential|expiredtoken|security token included|organization has been disabled|missing scopes|(?:run|use) \/login|not logged in|token (?:has )?expired|require authentication|sign in again|have access to the model/i,
  ],
  [
    "usage_limit",
    /usage[_ ]limit|(?:session|weekly|daily|monthly|hour) (?:rate |usage |session )?limits?\b|insufficient_quota|quota_exceeded|no quota|allocated quota|daily quota|freeusagelimit|free usage exceeded|premium requests?\b|insufficient (?:credit|balance)|credit balance|(?:requires|out of|purchase) (?:more )?(?:credits|usage)|extra usage|free usage|spend[_ ](?:limit|cap)|per[ _-]?(?:day|month)|\b[rt]pd\b|monthly limit|tokens limit exceeded|(?:weekly|global)_rate_limited/i,
  ],
  ["rate_limit", /per[ _-]?min|\b[rt]pm\b/i],
  ["usage_limit", /exceeded your current quota|quota exceeded/i],
  [
    "limit",
    /rate[_ -]?limit|too many (?:requests|tokens)|resource[_ ](?:has been )?exhausted|exhausted your capacity|throttl/i,
  ],
  ["timeout", /timed out|timeout_error|deadline[_ ]e/i],
  [
    "network",
    /econn[a-z]{3,8}|enotfound|eai_again|etimedout|fetch failed|connection ?(?:error|refused|reset)|socket (?:hang up|connection was closed)|error (?:sending request|decoding response)|unable to connect|certificate/i,
  ],
  ["server", /internal[_ ](?:server )?error|api_error|server_error|bad gateway/i],
];

/** What may follow a whole sentence; words that go on mean that somebody talks about it. */
const end = "(?=$|[.:;,!|)\\]]| ?[·∙—–(|-])";
const sentence = (start: string): RegExp => new RegExp(`^(?:${start})${end}`, "i");

export interface Sentence {
  readonly kind: SignKind;
  readonly is: RegExp;
  /** The rest of the line tells more than its beginning. */
  readonly look?: true;
  /** No person begins a sentence like this: whatever follows belongs to it. */
  readonly open?: true;
}

export const sentences: readonly Sentence[] = [
  {
    kind: "usage_limit",
    is: sentence(
      "(?:[a-z]{3,20} (?:ai )?)?usage limit (?:reached|exceeded)(?: for [a-z0-9.-]{3,40})?" +
        "|(?:opus |sonnet )?(?:5-hour|hourly|session|weekly|daily|monthly|opus|sonnet) limit reached" +
        "|(?:your )?(?:free )?(?:daily|weekly|monthly) quota has been reached" +
        "|you(?:'ve| have)? (?:hit|reached|exceeded) (?:your|the) [a-z0-9 -]{0,40}(?:limits?|allowance|quota|cap)" +
        "|you have (?:used all of today's|run out of|used up your) (?:free )?usage(?: for account [^ ]{3,80}| on this account)?" +
        "|(?:you(?:'re| are)|your (?:workspace|account|organization|team) is) out of (?:extra usage|premium requests|credits|usage)(?: for this month)?" +
        "|you have no quota|you exceeded your current quota|the usage limit has been reached" +
        "|you have exhausted your daily quota on this model" +
        "|out of credits|insufficient (?:credits?|balance|credit balance)|free usage exceeded" +
        "|(?:qwen oauth |free allocated )?quota exceeded" +
        "|(?:your )?credit balance (?:is )?too low(?: to access the anthropic api)?" +
        "|this request requires more credits|prompt tokens limit exceeded",
    ),
  },
  {
    kind: "usage_limit",
    is: /^you(?:'ve| have)? (?:hit|reached|exceeded) (?:your|the) [a-z0-9 -]{0,40}(?:limits?|allowance|quota|cap) (?:for (?:premium requests|this billing cycle|gpt-)|set by)/i,
  },
  {
    kind: "limit",
    look: true,
    is: sentence(
      "(?:requests )?rate limit (?:reached|exceeded)(?: for requests)?" +
        "|(?:your request was|you have been) rate-limited|request rejected \\(429\\)" +
        "|too many requests|too many tokens(?: per day)?, please wait before trying again" +
        "|you have exhausted your capacity on this model|resource[_ ](?:has been )?exhausted",
    ),
  },
  {
    kind: "limit",
    look: true,
    open: true,
    is: /^(?:rate limit reached for (?:gpt|o\d|claude|gemini)[a-z0-9.-]{0,40} in organization|you've hit a rate limit that restricts the number of copilot|this request would exceed your (?:account|organization)'s rate limit|quota exceeded for (?:quota metric|aiplatform))/i,
  },
  {
    kind: "auth",
    is: sentence(
      "invalid (?:or missing )?api key(?: provided)?|incorrect api key provided|the provided api key is invalid" +
        "|api key not (?:valid|found)|not logged in|authentication (?:required|failed)" +
        "|(?:claude )?oauth token (?:revoked|expired|has expired|has been revoked)|no authentication information found" +
        "|your organization has disabled claude subscription access[a-z ]{0,30}" +
        "|this organization has been disabled|invalid_grant|manual authorization is required[a-z -]{0,60}|failed to (?:login|refresh token)|authorization error|claude code web sessions require authentication[a-z. ]{0,40}" +
        "|your access token could not be refreshed[a-z ]{0,80}|cursor agent is not authenticated" +
        "|session was not created with authentication info[a-z ]{0,40}" +
        "|could not load (?:the default credentials|credentials from any providers)" +
        "|the security token included in the request is (?:expired|invalid)" +
        "|please set an auth method in your [^ ]{1,80} or specify[a-z ]{0,80}" +
        "|\\[permission_error\\] api access paused for this organization",
    ),
  },
  {
    kind: "overloaded",
    is: sentence(
      "overloaded|repeated 529 overloaded errors|selected model is at capacity|the model is overloaded" +
        "|server is temporarily limiting requests|we're currently experiencing high demand" +
        "|(?:opus|sonnet|haiku|claude) is experiencing high load",
    ),
  },
  {
    kind: "context",
    is: sentence(
      "(?:the )?prompt is too long|conversation too long|context length exceeded|input is too long for requested model" +
        "|codex ran out of room in the model's context window|your input exceeds the context window of this model" +
        "|the input token count (?:\\(\\d{1,12}\\) )?exceeds the maximum number of tokens allowed" +
        "|request too large for [a-z0-9.-]{3,40}(?: in organization [a-z0-9-]{3,60})?",
    ),
  },
  {
    kind: "refusal",
    is: sentence(
      "claude code is unable to respond to this request|response was blocked due to [a-z_]{3,40}",
    ),
  },
  {
    kind: "session_not_found",
    open: true,
    is: sentence(
      "no conversation found with session id|no rollout found for thread id [a-f0-9-]{8,40}" +
        "|invalid session identifier [^ ]{1,60}",
    ),
  },
  { kind: "session_not_found", is: sentence("session not found") },
  {
    kind: "turn_limit",
    is: sentence(
      "reached (?:the )?max(?:imum number of)? (?:session )?turns(?: for this session)?" +
        "|i've reached the maximum number of actions i can do without user input",
    ),
  },
  { kind: "budget", is: sentence("reached maximum budget|budget has been exceeded") },
  { kind: "idle_timeout", is: sentence("stream idle timeout") },
  {
    kind: "timeout",
    is: sentence(
      "request timed out|the read operation timed out|the operation was aborted due to timeout",
    ),
  },
  {
    kind: "network",
    is: sentence("stream disconnected before completion: idle timeout waiting for sse"),
  },
  {
    kind: "network",
    look: true,
    open: true,
    is: sentence("stream disconnected before completion"),
  },
  { kind: "network", is: sentence("connection error|fetch failed(?: sending request)?") },
  {
    kind: "network",
    open: true,
    is: sentence(
      "unable to connect(?: to (?:api|anthropic services))?" +
        "|failed to connect to [a-z0-9.-]{3,80}|error sending request for url" +
        "|connect econnrefused [^ ]{3,60}|connect etimedout [^ ]{3,60}|read econnreset|socket hang up" +
        "|getaddrinfo (?:enotfound|eai_again) [a-z0-9.-]{3,80}" +
        "|(?:ssl certificate verification failed|self-signed certificate in certificate chain)",
    ),
  },
  {
    kind: "spawn",
    open: true,
    is: sentence(
      "spawn [^ ]{1,200} (?:enoent|eacces|eperm)|(?:sh|dash): \\d{1,4}: [^ :]{1,80}: not found" +
        "|(?:zsh|fish): command not found: [^ ]{1,80}|(?:ba)?sh: (?:line \\d{1,4}: )?[^ :]{1,80}: command not found" +
        "|'[^ ']{1,80}' is not recognized as an internal or external command",
    ),
  },
  {
    kind: "crash",
    open: true,
    is: sentence(
      "reached heap limit allocation failed|segmentation fault|oh no: bun has crashed" +
        "|thread '[^ ']{1,40}' panicked at [^ :]{1,200}|panic: runtime error",
    ),
  },
  { kind: "crash", is: /^killed$/i },
  { kind: "server", is: sentence("internal server error|internal error") },
];

/** Codes and names that stand for themselves, wherever they are the whole of what was said. */
export const tokens: ReadonlyMap<string, SignKind> = new Map<string, SignKind>([
  ["error_max_turns", "turn_limit"],
  ["max_turn_requests", "turn_limit"],
  ["error_max_budget_usd", "budget"],
  ["error_max_structured_output_retries", "schema"],
  ["invalid_json_schema", "schema"],
  ["rate_limit", "limit"],
  ["rate_limit_error", "limit"],
  ["rate_limit_exceeded", "limit"],
  ["resource_exhausted", "limit"],
  ["usage_limit_reached", "usage_limit"],
  ["insufficient_quota", "usage_limit"],
  ["quota_exceeded", "usage_limit"],
  ["billing_error", "usage_limit"],
  ["authentication_error", "auth"],
  ["authentication_failed", "auth"],
  ["auth_required", "auth"],
  ["invalid_api_key", "auth"],
  ["permission_error", "auth"],
  ["overloaded_error", "overloaded"],
  ["server_overloaded", "overloaded"],
  ["server_is_overloaded", "overloaded"],
  ["context_length_exceeded", "context"],
  ["context_window_exceeded", "context"],
  ["refusal", "refusal"],
  ["content_filter", "refusal"],
  ["api_error", "server"],
  ["internal_server_error", "server"],
  ["server_error", "server"],
]);

/** The exceptions of LiteLLM, which many agents print as they are. */
export const litellm: ReadonlyMap<string, SignKind> = new Map<string, SignKind>([
  ["AuthenticationError", "auth"],
  ["PermissionDeniedError", "auth"],
  ["RateLimitError", "limit"],
  ["ContextWindowExceededError", "context"],
  ["ContentPolicyViolationError", "refusal"],
  ["BudgetExceededError", "budget"],
  ["InternalServerError", "server"],
  ["ServiceUnavailableError", "overloaded"],
  ["APIConnectionError", "network"],
  ["Timeout", "timeout"],
]);

/** What a status says when the text says nothing. Not in it: it is about this request, not the agent. */
export function kindOfStatus(status: number): SignKind | undefined {
  const known: Readonly<Record<number, SignKind>> = {
    401: "auth",
    402: "usage_limit",
    403: "auth",
    407: "auth",
    408: "timeout",
    413: "context",
    429: "limit",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
  };
  return known[status] ?? (status >= 500 && status < 600 ? "server" : undefined);
}
