/** A decision that only a person takes: the question, what is known, A to D; then what stands. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Decision } from "../../src/core/decision.ts";
import type { Api } from "../api.ts";
import { ago } from "../moments.ts";
import { Text, visibleLine } from "../text.tsx";

type Sent =
  | { readonly is: "asking"; readonly key: string }
  | { readonly is: "sending"; readonly key: string }
  | (Stands & { readonly is: "stands" })
  | { readonly is: "failed"; readonly why: string };

interface Stands {
  readonly key: string;
  readonly by: string;
  readonly kept: boolean;
}

interface Props {
  readonly decision: Decision;
  readonly api: Pick<Api, "decide">;
  readonly now: number;
  readonly past: boolean;
  /** Of another repository: its name; else empty. */
  readonly where: string;
}

export function DecisionCard({ decision, api, now, past, where }: Props) {
  const [sent, setSent] = useState<Sent>();
  const [wrong, setWrong] = useState<string>();
  const card = useRef<HTMLElement>(null);
  const isSettled = useSettled(card);
  const { id, question, facts = [], warning, blocks, askedAt, title = "Decision" } = decision;
  const send = async (key: string): Promise<void> => {
    setSent({ is: "sending", key });
    const answer = await api.decide(id, key);
    if (!answer.ok) {
      const { is, message } = answer.trouble;
      // If it did arrive, the board tells as soon as somebody answers again.
      const why = is === "away" ? "Not known whether it arrived" : "Not taken";
      return setSent({ is: "failed", why: `${why}: ${message}` });
    }
    const { answer: stands, answeredBy: by, recorded } = answer.value;
    setSent({ is: "stands", key: stands, by, kept: !recorded });
    setWrong(answer.value.warning);
  };
  const choose = (key: string): void => {
    if (past || sent?.is === "sending" || sent?.is === "stands") return;
    if (!isSettled()) setSent({ is: "failed", why: early });
    else if (decision.destructive) setSent({ is: "asking", key });
    else void send(key);
  };
  const answered: Stands | undefined = decision.answer
    ? { key: decision.answer.key, by: decision.answer.by, kept: false }
    : sent?.is === "stands"
      ? sent
      : undefined;
  const isOver = answered !== undefined || decision.withdrawn !== undefined;
  return (
    <article
      class="card need decision"
      ref={card}
      data-need
      data-over={isOver}
      tabIndex={0}
      aria-labelledby={`q-${id}`}
    >
      <header class="need-head">
        <span class="chip" data-tone={answered ? "ok" : "warn"}>
          {isOver ? (
            answered ? (
              "Answered"
            ) : (
              "Withdrawn"
            )
          ) : (
            <Text of={title === "" ? "Question" : sentenceCase(title)} line />
          )}
        </span>
        {where !== "" && (
          <span class="chip">
            <Text of={where} line />
          </span>
        )}
        <span class="muted num">asked {ago(askedAt, now)}</span>
      </header>
      <h3 class="need-title" id={`q-${id}`}>
        <Text of={question} />
      </h3>
      {facts.length > 0 && !isOver && (
        <ul class="facts">
          {facts.map((fact) => (
            <li key={fact}>
              <Text of={fact} />
            </li>
          ))}
        </ul>
      )}
      <Options decision={decision} chosen={chosenOf(sent, answered)} choose={choose} past={past} />
      {[isOver ? undefined : warning, wrong].map(
        (text) =>
          text !== undefined && (
            <p key={text} class="callout" data-tone="warn">
              <Text of={text} />
            </p>
          ),
      )}
      {sent?.is === "asking" && !isOver && (
        <Confirm
          letter={sent.key}
          yes={() => isSettled() && void send(sent.key)}
          no={() => setSent(undefined)}
        />
      )}
      <p class="need-foot" role="status">
        <Standing {...{ sent, answered, blocks }} withdrawn={decision.withdrawn} />
      </p>
    </article>
  );
}

const early = "It has only just come here: once more, if it is meant";
/** Nobody has read what came under his hand less than so many milliseconds ago. */
const toRead = 800;

/** Whether the card has been where it is for long enough. */
function useSettled(card: { readonly current: HTMLElement | null }): () => boolean {
  const place = useRef({ top: -1, since: 0 });
  const look = (): boolean => {
    const top = Math.round((card.current?.getBoundingClientRect().top ?? 0) + scrollY);
    const at = performance.now();
    if (top !== place.current.top) place.current = { top, since: at };
    return at - place.current.since > toRead;
  };
  useLayoutEffect(() => {
    look();
  });
  return look;
}

const chosenOf = (sent: Sent | undefined, answered: { key: string } | undefined) =>
  answered?.key ?? (sent && "key" in sent ? sent.key : undefined);

/** Questions of ours shout their title in the terminal; here they need not. */
const sentenceCase = (title: string): string =>
  title === title.toUpperCase() ? title.charAt(0) + title.slice(1).toLowerCase() : title;

function Options({
  decision: { options, recommendation, reason, answer, withdrawn },
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
          disabled={past || answer !== undefined || withdrawn !== undefined}
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
        // The key that has asked for it is still held: that is no yes.
        if (event.repeat) event.preventDefault();
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
  withdrawn,
  blocks,
}: {
  sent: Sent | undefined;
  answered: Stands | undefined;
  withdrawn: string | undefined;
  blocks: string;
}) {
  if (answered) {
    const by = visibleLine(answered.by);
    return answered.kept
      ? `${answered.key} stands, by ${by}. Whoever holds the project takes it up.`
      : `${answered.key} stands, by ${by}.`;
  }
  if (sent?.is === "sending") return `Sending ${sent.key} …`;
  if (sent?.is === "failed") return <strong>{visibleLine(sent.why)}</strong>;
  if (withdrawn !== undefined) return `No longer asked: ${visibleLine(withdrawn)}`;
  return (
    <>
      Waits for it: <Text of={blocks} line />
    </>
  );
}
