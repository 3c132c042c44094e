/** A run at a glance: how far, how long still, what it costs, and what is going on in it right now. */
import { duration, money, roughly, tokens } from "../../src/core/amounts.ts";
import { type Board, runOn } from "../../src/core/board/board.ts";
import type { PlanRun } from "../../src/core/plan/progress.ts";
import { type RunView, viewRun } from "../../src/core/plan/run-view.ts";
import { unwatched } from "../../src/core/plan/run-watch.ts";
import { whenOf } from "../moments.ts";
import { isLeftAlone, timeIn } from "../run/left-alone.ts";
import { attemptWords, isActive, looks, why } from "../run/phase-words.ts";
import { type SeenPhase, seenPhases } from "../run/seen-phase.ts";
import { Sign } from "../run/sign.tsx";
import { Text, visibleLine } from "../text.tsx";
import type { View } from "../view.ts";

const mostShown = 8;

export function RunCard({ id, view }: { id: string; view: View }) {
  const { board, to, held } = view;
  const run = runOn(board, id);
  if (!run) return null;
  const now = timeIn(run, held, board, view.now);
  const left = isLeftAlone(run, held, view.now);
  const seen = viewRun(run, board.runs[id]?.watch ?? unwatched, now);
  const live = seenPhases(run, seen.phases, now, left).filter(({ stage }) => isShown(stage.is));
  const isUnderWay = run.ended === undefined && !left;
  const places = Math.min(board.runs[id]?.watch.jobs ?? 1, mostShown);
  const { tone, word } = stateOf(run, !left, board, view.now);
  return (
    <article class="card run-card" aria-label={`Run ${visibleLine(run.title)}`}>
      <header class="run-card-head">
        <div class="run-card-name">
          <h3>
            <a href={to({ view: "run", run: id })}>
              <Text of={run.title} line />
            </a>
          </h3>
          <p class="muted mono ellipsis">
            <Text of={run.plan} line />
          </p>
        </div>
        <span class="chip" data-tone={tone}>
          {word}
        </span>
      </header>
      <Bar run={seen} />
      <Figures run={seen} />
      {(live.length > 0 || isUnderWay) && (
        <ul class="phase-rows" style={{ "--rows": isUnderWay ? places : 0 }}>
          {live.slice(0, mostShown).map((phase) => (
            <PhaseRow
              key={phase.id}
              phase={phase}
              now={now}
              href={to({ view: "run", run: id, phase: phase.id })}
            />
          ))}
        </ul>
      )}
      {live.length > mostShown && <p class="muted more">and {live.length - mostShown} more</p>}
    </article>
  );
}

const isShown = (is: SeenPhase["stage"]["is"]): boolean =>
  isActive(is) || is === "failed" || is === "parked" || is === "retrying" || is === "held";

function stateOf(
  run: PlanRun,
  isKept: boolean,
  { runs }: Board,
  now: number,
): { readonly tone: string; readonly word: string } {
  if (run.aside !== undefined || runs[run.id]?.last) return { tone: "quiet", word: "Set aside" };
  if (run.ended === undefined)
    return isKept ? { tone: "info", word: "Under way" } : { tone: "warn", word: "Left alone" };
  switch (run.ended) {
    case "complete":
      return { tone: "ok", word: `Complete ${whenOf(run.updatedAt, now)}` };
    case "halted":
      return { tone: "bad", word: "Halted" };
    case "interrupted":
      return { tone: "warn", word: "Interrupted" };
    case "parked":
      return { tone: "park", word: "Parked" };
    case "asking":
      return { tone: "warn", word: "Asking" };
    case "stopped":
      return { tone: "quiet", word: "Stopped" };
  }
}

function Bar({ run: { bar, complete, total } }: { run: RunView }) {
  const part = (weight: number): string =>
    bar.total > 0 ? `${Math.min(100, (weight / bar.total) * 100)}%` : "0%";
  return (
    <div
      class="bar"
      role="progressbar"
      aria-label="Phases complete"
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuenow={complete}
    >
      <span class="bar-done" style={{ width: part(bar.complete) }} />
      <span class="bar-active" style={{ width: part(bar.active) }} />
    </div>
  );
}

export function Figures({ run }: { run: RunView }) {
  const { complete, total, elapsed, left, spend, ended } = run;
  return (
    <dl class="figures num">
      <div>
        <dt>Phases</dt>
        <dd>
          {complete}
          <span class="of">/{total}</span>
        </dd>
      </div>
      <div>
        <dt>Worked</dt>
        <dd>{duration(elapsed)}</dd>
      </div>
      {ended === undefined && (
        <div>
          <dt>Left</dt>
          <dd>
            {left === undefined
              ? "—"
              : roughly(left).replace("about ", "~").replace("less than a minute", "< 1 min")}
          </dd>
        </div>
      )}
      <div>
        <dt>Spent</dt>
        <dd>
          {spend === undefined ? (
            "—"
          ) : spend.cost === undefined ? (
            <>
              {tokens(spend.tokens)}
              <span class="of"> tokens</span>
            </>
          ) : (
            <>
              {money(spend.cost)}
              <span class="of beside"> · {tokens(spend.tokens)} tokens</span>
            </>
          )}
        </dd>
      </div>
    </dl>
  );
}

function PhaseRow({ phase, now, href }: { phase: SeenPhase; now: number; href: string }) {
  const { written, name, stage, elapsed, activity } = phase;
  const said = activity ?? why(stage, now);
  return (
    <li>
      <a class="phase-row" href={href}>
        <Sign is={stage.is} />
        <span class="phase-id mono">
          <Text of={written} line />
        </span>
        <span class="phase-name">
          <Text of={name} line />
        </span>
        <span class="phase-state num">
          {[looks[stage.is].word, attemptWords(phase)].filter((part) => part !== "").join(" · ")}
        </span>
        <span class="phase-time num">{elapsed === undefined ? "" : duration(elapsed)}</span>
        <span class={`phase-said ellipsis ${activity === undefined ? "" : "mono"}`}>
          {said === "" ? "\u00a0" : <Text of={said} line />}
        </span>
      </a>
    </li>
  );
}
