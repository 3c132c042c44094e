/** The attempts at a phase side by side: when, by whom, how each ended, what it took. */
import { clock, money, tokens } from "../../src/core/amounts.ts";
import type { AttemptStory } from "../../src/core/board/attempt-story.ts";
import { momentOf } from "../../src/core/plan/moment.ts";
import { Text } from "../text.tsx";
import type { Tone } from "./phase-words.ts";
import { clockTime } from "./ticks.ts";

export interface AttemptsProps {
  readonly stories: readonly AttemptStory[];
  readonly picked: number;
  readonly now: number;
  onPick(attempt: number): void;
}

const tones: Readonly<Record<AttemptStory["how"], Tone>> = {
  landed: "ok",
  failed: "bad",
  conflicted: "bad",
  interrupted: "warn",
  parked: "park",
  working: "info",
  delivered: "info",
  verified: "info",
};

const words: Partial<Record<AttemptStory["how"], string>> = {
  delivered: "checking",
  verified: "landing",
};

export const Attempts = ({ stories, picked, now, onPick }: AttemptsProps) => (
  <div class="run-wide">
    <table class="run-attempts num">
      <caption class="visually-hidden">Attempts</caption>
      <thead>
        <tr>
          <th scope="col">#</th>
          <th scope="col">When</th>
          <th scope="col">Agent</th>
          <th scope="col">Ended</th>
          <th scope="col" class="run-right">
            Took
          </th>
          <th scope="col" class="run-right">
            Tokens
          </th>
          <th scope="col" class="run-right">
            Cost
          </th>
        </tr>
      </thead>
      <tbody>
        {stories.map((story) => (
          <AttemptRows
            key={story.attempt}
            story={story}
            now={now}
            isPicked={story.attempt === picked}
            onPick={onPick}
          />
        ))}
      </tbody>
    </table>
  </div>
);

interface AttemptRowsProps {
  readonly story: AttemptStory;
  readonly now: number;
  readonly isPicked: boolean;
  onPick(attempt: number): void;
}

function AttemptRows({ story, now, isPicked, onPick }: AttemptRowsProps) {
  const { attempt, agent, model, by, how, lines, startedAt, endedAt, cost } = story;
  const began = momentOf(startedAt) ?? now;
  const took = (endedAt === undefined ? now : (momentOf(endedAt) ?? now)) - began;
  return (
    <>
      <tr data-picked={isPicked || undefined} onClick={() => onPick(attempt)}>
        <td>
          <button
            type="button"
            class="run-pick"
            aria-pressed={isPicked}
            aria-label={`Show attempt ${attempt}`}
          >
            {attempt}
          </button>
        </td>
        <td>{clockTime(began)}</td>
        <td>
          <Text of={by ?? agent} line />
          {model !== undefined && (
            <small class="muted">
              <Text of={model} line />
            </small>
          )}
        </td>
        <td>
          <span class="chip" data-tone={tones[how]}>
            {words[how] ?? how}
          </span>
        </td>
        <td class="run-right">{clock(Math.max(0, took))}</td>
        <td class="run-right">{story.tokens === 0 ? "–" : tokens(story.tokens)}</td>
        <td class="run-right">{cost === undefined ? "–" : money(cost)}</td>
      </tr>
      {lines.length > 0 && (
        <tr class="run-attempt-lines" data-picked={isPicked || undefined}>
          <td />
          <td colSpan={6}>
            <Text of={lines[0] ?? ""} line />
          </td>
        </tr>
      )}
    </>
  );
}
