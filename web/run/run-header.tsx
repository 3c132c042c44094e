/** A run in two seconds: is it all right, how far is it, how long still, what does it cost. */
import type { Budgets } from "../../src/core/agent/budget.ts";
import { duration, money, roughly, tokens } from "../../src/core/amounts.ts";
import type { PlanRun, RunEnd } from "../../src/core/plan/progress.ts";
import type { RunView } from "../../src/core/plan/run-view.ts";
import { Text } from "../text.tsx";
import type { Tone } from "./phase-words.ts";

export interface RunHeaderProps {
  readonly run: PlanRun;
  readonly view: RunView;
  readonly budgets: Budgets;
}

const ends: Readonly<Record<RunEnd, readonly [string, Tone]>> = {
  complete: ["complete", "ok"],
  halted: ["halted", "bad"],
  interrupted: ["interrupted", "warn"],
  parked: ["parked", "park"],
  asking: ["asks a question", "warn"],
  stopped: ["stopped", "warn"],
};

export function RunHeader({ run, view, budgets }: RunHeaderProps) {
  const { bar, complete, total, elapsed, left, spend, ended } = view;
  const [word, tone] = ended === undefined ? (["under way", "info"] as const) : ends[ended];
  const share = (weight: number): string => `${bar.total === 0 ? 0 : (weight / bar.total) * 100}%`;
  return (
    <header class="run-header">
      <div class="run-title">
        <h1 tabIndex={-1}>
          <Text of={view.title === "" ? view.plan : view.title} line />
        </h1>
        <span class="chip" data-tone={tone}>
          {word}
        </span>
      </div>
      <p class="run-about muted">
        <span class="mono">
          <Text of={view.plan} line />
        </span>
        <span>
          by <Text of={run.agent} line />
        </span>
        <span>{modes[run.mode]}</span>
        <span>
          {run.target === "" ? (
            "files only"
          ) : (
            <>
              to <Text of={run.target.replace(/^refs\/heads\//, "")} line />
            </>
          )}
        </span>
      </p>
      <div
        class="run-bar"
        role="progressbar"
        aria-label="Progress by points"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={bar.total === 0 ? 0 : Math.round((bar.complete / bar.total) * 100)}
      >
        <span class="run-bar-done" style={{ width: share(bar.complete) }} />
        <span class="run-bar-active" style={{ width: share(bar.active) }} />
      </div>
      <dl class="run-figures num">
        <Figure name="Complete" value={`${complete} of ${total}`} />
        <Figure name="Elapsed" value={duration(elapsed)} />
        <Figure
          name="Left"
          value={ended === "complete" ? "nothing" : left === undefined ? "–" : roughly(left)}
        />
        <Figure
          name="Spent"
          value={spend ? spentWords(spend) : "–"}
          {...budgetOf(spend, budgets)}
        />
      </dl>
      {view.baseline !== undefined && (
        <p class="muted">
          Before the first phase: the gates on what it builds on ({view.baseline}).
        </p>
      )}
    </header>
  );
}

const modes: Readonly<Record<PlanRun["mode"], string>> = {
  auto: "a commit for each phase",
  "message-only": "messages only, no commits",
  single: "one commit for all",
};

type Spent = NonNullable<RunView["spend"]>;

const spentWords = (spend: Spent): string =>
  spend.cost === undefined ? `${tokens(spend.tokens)} tokens` : money(spend.cost);

/** Against money where somebody tells of money, else against tokens. */
function budgetOf(spend: Spent | undefined, { run }: Budgets): { note?: string; share?: number } {
  if (!spend) return {};
  const [used, cap, words] =
    spend.cost !== undefined ? [spend.cost, run.cost, money] : [spend.tokens, run.tokens, tokens];
  if (cap === undefined)
    return spend.cost === undefined ? {} : { note: `${tokens(spend.tokens)} tokens` };
  return { note: `of ${words(cap)}`, share: Math.min(1, used / cap) };
}

const Figure = ({
  name,
  value,
  note,
  share,
}: {
  name: string;
  value: string;
  note?: string;
  share?: number;
}) => (
  <div>
    <dt>{name}</dt>
    <dd>
      {value}
      {note !== undefined && <small class="muted"> {note}</small>}
      {share !== undefined && (
        <span class="run-meter" data-near={share > 0.8 || undefined} aria-hidden="true">
          <span style={{ width: `${share * 100}%` }} />
        </span>
      )}
    </dd>
  </div>
);
