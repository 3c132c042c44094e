/**
 * A decision is asked once, ever. Its id is a hash of what caused it, so a crash between asking
 * and answering, a second session or a replay all arrive at the same id and find it on record.
 */
export interface DecisionOption {
  readonly key: string;
  readonly text: string;
  /** Said below the option, each on a line of its own. */
  readonly notes?: readonly string[];
  /** What follows from it at once; absent: whoever asked looks at the answer. */
  readonly brings?: Effect;
}

/** What people can want of a flow at any time; it is recorded with the answer. */
export const effects = ["skip", "back", "roll-back"] as const;

export interface Effect {
  readonly do: (typeof effects)[number];
  readonly step: string;
  readonly name: string;
}

export interface Question {
  /** What sort of decision: "migrate", "both-names", "skill-failed" … */
  readonly kind: string;
  /** What it is about: a path, a step, a run. */
  readonly subject: string;
  readonly cycle: number;
  /** The occasion: the same subject on a new occasion is a new decision. */
  readonly cause: string;
  readonly question: string;
  readonly options: readonly DecisionOption[];
  readonly recommendation: string;
  readonly reason: string;
  /** Never answered by recommendation: what it brings about cannot be undone, or only people can do it. */
  readonly destructive?: boolean;
  /** What waits for the answer. */
  readonly blocks: string;
  /** Instead of "DECISION REQUIRED"; empty: the question stands alone. */
  readonly title?: string;
  /** Known about it, said before the options, each on a line of its own. */
  readonly facts?: readonly string[];
  /** Said below the recommendation. */
  readonly warning?: string;
}

export interface Decision extends Question {
  readonly id: string;
  readonly askedAt: string;
  readonly answer?: Answer;
  /** Why the question no longer arises. */
  readonly withdrawn?: string;
}

export interface Answer {
  readonly key: string;
  /** A person's name, "recommendation", or a program's. */
  readonly by: string;
  readonly at: string;
}

/** What the id is the hash of. */
export const causeOf = (question: Pick<Question, "kind" | "subject" | "cycle" | "cause">): string =>
  JSON.stringify([question.kind, question.subject, question.cycle, question.cause]);

export const decisionId = (
  question: Pick<Question, "kind" | "subject" | "cycle" | "cause">,
  hash: (text: string) => string,
): string => `d-${hash(causeOf(question)).slice(0, 12)}`;

export const isOpen = (decision: Decision): boolean =>
  decision.answer === undefined && decision.withdrawn === undefined;

/** The text of the chosen option; undefined: there is no such option. */
export function optionFor(decision: Question, key: string): DecisionOption | undefined {
  const wanted = key.trim().toUpperCase();
  return decision.options.find((option) => option.key === wanted);
}

/** How an answer is told in the state file. */
export function keyDecisionLine(decision: Question, { key, at }: Answer): string {
  const line = `${at.slice(0, 10)} ${decision.question} → ${key}) ${optionFor(decision, key)?.text ?? ""}`;
  return line.replace(/\s+/g, " ").trim();
}

const rule = "═".repeat(38);

/** The block as people know it: 38 rules, one leading space. */
export function decisionBlock(decision: Question): string[] {
  const { title = "DECISION REQUIRED", question, facts = [], options, warning } = decision;
  return [
    rule,
    ` ${title === "" ? "" : `${title}: `}${question}`,
    rule,
    ...(facts.length > 0 ? [...facts.map((fact) => ` ${fact}`), rule] : []),
    ...options.flatMap((option) => [
      ` ${option.key}) ${option.text}`,
      ...(option.notes ?? []).map((note) => `    ${note}`),
    ]),
    rule,
    ...(warning === undefined ? [] : [` Warning: ${warning}`, rule]),
    ` Recommendation: ${decision.recommendation} — ${decision.reason}`,
    rule,
  ];
}

export const isAnswer = (value: unknown): value is Answer =>
  typeof value === "object" &&
  value !== null &&
  "key" in value &&
  "by" in value &&
  "at" in value &&
  typeof value.key === "string" &&
  typeof value.by === "string" &&
  typeof value.at === "string";
