/** What became of one step: when, how it ended, how often it was tried, and each session of an agent. */
import { spendShort } from "../../src/core/amounts.ts";
import type { SkillStory, StepStory } from "../../src/core/board/step-story.ts";
import { mostRetries } from "../../src/core/flow/state.ts";
import { lasted, whenOf } from "../moments.ts";
import { Text } from "../text.tsx";
import type { View } from "../view.ts";
import { toneOf, wordOf } from "./step-line.tsx";

interface Props {
  readonly view: View;
  readonly step: string;
  readonly name: string;
  readonly status: string;
  readonly skill?: string;
  readonly story?: StepStory;
}

export function StepPart({ view: { board, now }, step, name, status, skill, story }: Props) {
  const { flow } = board.state;
  const isCurrent = flow?.step === step;
  const sessions = board.flow.sessions.filter((session) => session.step === step);
  const sub = isCurrent ? flow.subStep : undefined;
  return (
    <section class="card step-part" aria-labelledby="step-name">
      <header>
        <h2 id="step-name">
          <span class="num muted">{step}</span> <Text of={name} line />
        </h2>
        <span class="chip" data-tone={toneOf(status)}>
          {wordOf(status)}
        </span>
      </header>
      <dl class="rows">
        {skill !== undefined && <Row name="Skill" value={skill} />}
        {sub && sub.phase > 0 && (
          <Row
            name="Sub-step"
            value={`${sub.phase} ${sub.name}${sub.detail === "" ? "" : `: ${sub.detail}`}`}
          />
        )}
        {story && (
          <Row
            name={story.endedAt === undefined ? "Since" : "When"}
            value={`${whenOf(story.startedAt, now)} · ${lasted(story.startedAt, story.endedAt, now)}`}
          />
        )}
        {story && story.cycle > 1 && <Row name="Cycle" value={String(story.cycle)} />}
        {isCurrent && flow.retryCount > 0 && (
          <Row name="Retries" value={`${flow.retryCount} of ${mostRetries}`} />
        )}
        {story?.outcome !== undefined && <Row name="Outcome" value={story.outcome} />}
        {story?.commit !== undefined && <Row name="Commit" value={story.commit.slice(0, 9)} mono />}
      </dl>
      {isCurrent && flow.retryLog.length > 0 && (
        <>
          <h3>Tried again because</h3>
          <ul class="reasons">
            {flow.retryLog.map((row) => (
              <li key={row.attempt}>
                <Text of={row.reason} />
              </li>
            ))}
          </ul>
        </>
      )}
      <h3>Sessions</h3>
      {sessions.length === 0 ? (
        <p class="muted">No agent has worked on it.</p>
      ) : (
        <ol class="sessions">
          {sessions.toReversed().map((session) => (
            <Session key={session.session} session={session} now={now} />
          ))}
        </ol>
      )}
    </section>
  );
}

const Row = ({ name, value, mono = false }: { name: string; value: string; mono?: boolean }) => (
  <div>
    <dt>{name}</dt>
    <dd class={mono ? "mono" : "num"}>
      <Text of={value} />
    </dd>
  </div>
);

const ends: Readonly<Record<string, string>> = {
  done: "ok",
  failed: "bad",
  unable: "bad",
  limited: "park",
};

function Session({ session, now }: { session: SkillStory; now: number }) {
  const { how, agent, model, by, startedAt, endedAt, spend, reason, mode, skill } = session;
  return (
    <li>
      <div class="session-head">
        <span class="num muted">#{session.session}</span>
        <span class="ellipsis">
          <Text of={by ?? agent} line />
          {model !== undefined && (
            <span class="muted">
              {" "}
              <Text of={model} line />
            </span>
          )}
        </span>
        <span class="chip" data-tone={how === undefined ? "info" : (ends[how] ?? "warn")}>
          {how ?? "at work"}
        </span>
      </div>
      <p class="muted num">
        <Text of={mode === undefined ? skill : `${skill}, ${mode}`} line /> ·{" "}
        {whenOf(startedAt, now)} · {lasted(startedAt, endedAt, now)}
        {spend && ` · ${spendShort(spend)}${spend.cost === undefined ? " tokens" : ""}`}
      </p>
      {reason !== undefined && (
        <p>
          <Text of={reason} />
        </p>
      )}
    </li>
  );
}
