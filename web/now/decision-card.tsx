/** A decision that only a person takes: the question, what is known, A to D; then what stands. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Decision } from "../../src/core/decision.ts";
import type { Api } from "../api.ts";
import { ago } from "../moments.ts";
import { Text, visibleLine } from "../text.tsx";

type Sent =
  | { readonly is: "asking"; readonly key: string }
  | { readonly is: "sending"; readonly key: string }
  | { readonly is: "stands"; readonly key: string; readonly by: string; readonly kept: boolean }
  | { readonly is: "failed"; readonly why: string };

interface Props {
  readonly decision: Decision;
  readonly api: Api;
  readonly now: number;
  readonly past: boolean;
  /** Of another repository: its name. */
  readonly where?: string;
}

export function DecisionCard({ decision, api, now, past, where }: Props) {
  const [sent, setSent] = useState<Sent>();
  const { id, question, facts = [], warning, blocks, askedAt, title = "Decision" } = decision;
  const send = async (key: string): Promise<void> => {
    setSent({ is: "sending", key });
    const answer = await api.decide(id, key);
    if (!answer.ok) return setSent({ is: "failed", why: answer.trouble.message });
    const { answer: stands, answeredBy: by, recorded } = answer.value;
    setSent({ is: "stands", key: stands, by, kept: !recorded });
  };
  const choose = (key: string): void => {
    if (past || sent?.is === "sending" || sent?.is === "stands") return;
    if (decision.destructive) setSent({ is: "asking", key });
    else void send(key);
  };
  const answered = decision.answer
    ? { key: decision.answer.key, by: decision.answer.by, kept: false }
    : sent?.is === "stands"
      ? sent
      : undefined;
  return (
    <article
      class="card need decision"
      data-need
      data-over={answered !== undefined}
      tabIndex={0}
      aria-labelledby={`q-${id}`}
    >
      <header class="need-head">
        <span class="chip" data-tone={answered ? "ok" : "warn"}>
          {answered ? (
            "Answered"
          ) : (
            <Text of={title === "" ? "Question" : sentenceCase(title)} line />
          )}
        </span>
        {where !== undefined && (
          <span class="chip">
            <Text of={where} line />
          </span>
        )}
        <span class="muted num">asked {ago(askedAt, now)}</span>
      </header>
      <h3 class="need-title" id={`q-${id}`}>
        <Text of={question} />
      </h3>
      {facts.length > 0 && !answered && (
        <ul class="facts">
          {facts.map((fact) => (
            <li key={fact}>
              <Text of={fact} />
            </li>
          ))}
        </ul>
      )}
      <Options decision={decision} chosen={chosenOf(sent, answered)} choose={choose} past={past} />
      {warning !== undefined && !answered && (
        <p class="callout" data-tone="warn">
          <Text of={warning} />
        </p>
      )}
      {sent?.is === "asking" && (
        <Confirm letter={sent.key} yes={() => void send(sent.key)} no={() => setSent(undefined)} />
      )}
      <p class="need-foot" role="status">
        <Standing sent={sent} answered={answered} blocks={blocks} />
      </p>
    </article>
  );
}

const chosenOf = (sent: Sent | undefined, answered: { key: string } | undefined) =>
  answered?.key ?? (sent && "key" in sent ? sent.key : undefined);

/** Questions of ours shout their title in the terminal; here they need not. */
const sentenceCase = (title: string): string =>
  title === title.toUpperCase() ? title.charAt(0) + title.slice(1).toLowerCase() : title;

function Options({
  decision: { options, recommendation, reason, answer },
  chosen,
  choose,
  past,
}: {
  decision: Decision;
  chosen: string | undefined;
  choose: (key: string) => void;
  past: boolean;
}) {
  return (
    <div class="options">
      {options.map(({ key, text, notes = [] }) => (
        <button
          key={key}
          type="button"
          class="option"
          data-key={key}
          data-recommended={key === recommendation}
          aria-pressed={key === chosen}
          disabled={past || answer !== undefined}
          onClick={() => choose(key)}
        >
          <kbd class="letter">{key}</kbd>
          <span class="option-text">
            <span class="option-name">
              <Text of={text} />
              {key === recommendation && <span class="recommended">Recommended</span>}
            </span>
            {notes.map((note) => (
              <small key={note}>
                <Text of={note} />
              </small>
            ))}
            {key === recommendation && (
              <small>
                <Text of={reason} />
              </small>
            )}
          </span>
        </button>
      ))}
    </div>
  );
}

function Confirm({ letter, yes, no }: { letter: string; yes: () => void; no: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), [letter]);
  return (
    <div
      class="confirm"
      role="group"
      aria-label="Confirm the answer"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        no();
      }}
    >
      <span>This cannot be taken back. Answer {letter}?</span>
      <button type="button" class="btn" onClick={no}>
        No
      </button>
      <button type="button" class="btn btn-primary" ref={button} onClick={yes}>
        Yes, answer {letter}
      </button>
    </div>
  );
}

function Standing({
  sent,
  answered,
  blocks,
}: {
  sent: Sent | undefined;
  answered: { key: string; by: string; kept: boolean } | undefined;
  blocks: string;
}) {
  if (answered) {
    const by = visibleLine(answered.by);
    return answered.kept
      ? `${answered.key} stands, by ${by}. Whoever holds the project takes it up.`
      : `${answered.key} stands, by ${by}.`;
  }
  if (sent?.is === "sending") return `Sending ${sent.key} …`;
  if (sent?.is === "failed") return <strong>Not sent: {visibleLine(sent.why)}</strong>;
  return (
    <>
      Waits for it: <Text of={blocks} line />
    </>
  );
}
