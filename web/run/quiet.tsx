/** What stands where nothing is to be seen: it comes, there is none, or it could not be had. */
import type { ComponentChild, ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Answered, Trouble } from "../api.ts";
import { Text } from "../text.tsx";
import { useAnswer } from "../use-answer.ts";

export const Quiet = ({ children }: { children: ComponentChildren }) => (
  <p class="run-quiet" role="status">
    {children}
  </p>
);

export const Loading = ({ what }: { what: string }) => (
  <div class="run-loading" role="status">
    <span class="visually-hidden">Loading {what} …</span>
    <span aria-hidden="true" />
    <span aria-hidden="true" />
    <span aria-hidden="true" />
  </div>
);

export const Unavailable = ({
  what,
  trouble,
  onAgain,
}: {
  what: string;
  trouble: Trouble;
  onAgain(): void;
}) => (
  <div class="run-trouble" role="alert">
    <p>
      <strong>Cannot show {what}.</strong> <Text of={trouble.message} line />
    </p>
    {trouble.hint !== undefined && (
      <p class="muted">
        <Text of={trouble.hint} line />
      </p>
    )}
    <button type="button" class="btn" onClick={onAgain}>
      Try again
    </button>
  </div>
);

export interface AnswerProps<T> {
  /** As it is called in a sentence. */
  readonly what: string;
  /** When it changes, so may the answer. */
  readonly on: string;
  ask(): Promise<Answered<T>>;
  children(value: T, again: () => void): ComponentChild;
}

export function Answer<T>({ what, on, ask, children }: AnswerProps<T>) {
  const [round, setRound] = useState(0);
  const { value, trouble } = useAnswer(`${on} ${round}`, ask);
  const again = (): void => setRound(round + 1);
  if (value !== undefined) return <>{children(value, again)}</>;
  return trouble ? <Unavailable {...{ what, trouble }} onAgain={again} /> : <Loading what={what} />;
}
