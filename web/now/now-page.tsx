/** Now: is it all right, does it need me, what is it doing, what does it cost; in this order. */
import { useRef } from "preact/hooks";
import { runsOn } from "../../src/core/board/board.ts";
import type { SeenProject } from "../../src/core/board/wire.ts";
import { type Decision, isOpen } from "../../src/core/decision.ts";
import type { RecordedEvent } from "../../src/core/event.ts";
import { momentOf } from "../../src/core/plan/moment.ts";
import { viewRun } from "../../src/core/plan/run-view.ts";
import { unwatched } from "../../src/core/plan/run-watch.ts";
import { sentence } from "../../src/core/sentence.ts";
import type { Api } from "../api.ts";
import { useKeys } from "../keys.ts";
import { countdown, inWords, timeOf, whenOf } from "../moments.ts";
import { Text } from "../text.tsx";
import type { View } from "../view.ts";
import { DecisionCard } from "./decision-card.tsx";
import { needKeys } from "./need-keys.ts";
import { type Need, needsOf, type Wait, waitsOf } from "./needs.ts";
import { ProjectList } from "./project-list.tsx";
import { Figures, RunCard } from "./run-card.tsx";
import type { Verdict } from "./verdict.ts";

interface Props {
  readonly view: View;
  readonly verdict: Verdict;
  readonly recent: readonly RecordedEvent[];
  readonly projects: readonly SeenProject[];
  readonly project: string;
  /** Of other repositories, what waits for people there. */
  readonly elsewhere: readonly Elsewhere[];
  readonly choose: (key: string) => void;
}

export interface Elsewhere {
  readonly key: string;
  readonly name: string;
  readonly api: Api;
  readonly needs: readonly Need[];
  /** All that were ever asked there. */
  readonly decisions: readonly Decision[];
}

/**
 * What was answered stays where it is, for this visit: whoever gave the answer sees that it stands,
 * and no other question comes to lie under his hand. Only on a screen that is left alone it goes.
 */
const lingers = 600_000;
const mostRuns = 12;
const mostRecent = 12;

export function NowPage({ view, verdict, recent, projects, project, elsewhere, choose }: Props) {
  const { board, now, past, api, to } = view;
  useKeys(needKeys);
  const needs = needsOf(board);
  const stays = useRef(new Set<string>()).current;
  const decisions = [
    { key: project, name: "", api, decisions: Object.values(board.state.decisions) },
    ...elsewhere,
  ].flatMap(({ key: of, name: where, api: theirs, decisions: there }) =>
    there.flatMap((decision) => {
      const key = `${of} ${decision.id}`;
      if (isOpen(decision)) stays.add(key);
      else if (past || !stays.has(key) || isOld(decision, now)) return [];
      return [{ key, decision, api: theirs, where }];
    }),
  );
  const waits = waitsOf(board, now);
  const runs = runsOn(board);
  const current = runs[0];
  const isEmpty = board.seq === 0;
  if (isEmpty && projects.length < 2) return <Empty />;
  return (
    <div class="now">
      <section class="verdict" aria-label="At a glance">
        <div>
          <h1 tabIndex={-1}>
            <span class="dot" data-tone={verdict.tone} aria-hidden="true" />
            {verdict.title}
          </h1>
          {verdict.command !== undefined && !past && (
            <p>
              Go on with{" "}
              <code>
                <Text of={verdict.command} line />
              </code>
            </p>
          )}
        </div>
        {current && needs.length > 0 && (
          <div class="verdict-figures">
            <Figures run={viewRun(current, board.runs[current.id]?.watch ?? unwatched, now)} />
          </div>
        )}
      </section>
      <div class="now-columns">
        <div class="now-main">
          {(needs.length > 0 || decisions.length > 0 || elsewhere.length > 0) && (
            <section aria-labelledby="needs">
              <h2 id="needs">Needs you</h2>
              <div class="stack">
                {decisions.map(({ key, ...asked }) => (
                  <DecisionCard key={key} {...asked} {...{ now, past }} />
                ))}
                {needs.map((need) => (
                  <Trouble key={JSON.stringify(need)} need={need} to={to} />
                ))}
                {elsewhere.flatMap(({ key, name, needs: there }) =>
                  there.map((need) => (
                    <Trouble key={key + JSON.stringify(need)} need={need} to={to} where={name} />
                  )),
                )}
              </div>
            </section>
          )}
          {waits.length > 0 && (
            <section aria-labelledby="waits">
              <h2 id="waits">Waits for a limit</h2>
              <div class="stack">
                {waits.map((wait) => (
                  <WaitRow key={wait.run + wait.who} wait={wait} now={now} />
                ))}
              </div>
            </section>
          )}
          <section aria-labelledby="runs">
            <h2 id="runs">Runs</h2>
            <div class="stack">
              {runs.slice(0, mostRuns).map(({ id }) => (
                <RunCard key={id} id={id} view={view} />
              ))}
              {runs.length > mostRuns && (
                <p class="muted">{runs.length - mostRuns} older ones are in the history.</p>
              )}
              {runs.length === 0 && (
                <p class="card quiet-card">
                  No plan has been run yet. <code>autodev build docs/plan.md</code> runs one.
                </p>
              )}
            </div>
          </section>
        </div>
        <aside class="now-side" aria-label="Beside it">
          {projects.length > 1 && (
            <section aria-labelledby="projects">
              <h2 id="projects">Repositories</h2>
              <ProjectList projects={projects} project={project} choose={choose} />
            </section>
          )}
          <FlowPlace view={view} />
          <section aria-labelledby="recent">
            <h2 id="recent">{past ? "Before that" : "Lately"}</h2>
            <ol class="recent">
              {recent
                .slice(-mostRecent)
                .toReversed()
                .map((event) => (
                  <li key={event.seq}>
                    <time class="num" dateTime={event.at}>
                      {timeOf(event.at)}
                    </time>
                    <span>
                      <Text of={inWords(sentence(event), now)} line />
                    </span>
                  </li>
                ))}
              {recent.length === 0 && <li class="muted">Nothing yet.</li>}
            </ol>
          </section>
        </aside>
      </div>
    </div>
  );
}

const isOld = ({ answer }: Decision, now: number): boolean =>
  answer !== undefined && now - (momentOf(answer.at) ?? 0) > lingers;

function Trouble({ need, to, where }: { need: Need; to: View["to"]; where?: string }) {
  if (need.is === "decision") return null;
  const isFailure = need.is === "failure";
  return (
    <article class="card need" data-need tabIndex={0}>
      <header class="need-head">
        <span class="chip" data-tone="bad">
          {isFailure ? "Failed" : "Blocked"}
        </span>
        {where !== undefined && (
          <span class="chip">
            <Text of={where} line />
          </span>
        )}
      </header>
      {isFailure ? (
        <>
          <h3 class="need-title">
            {where === undefined ? (
              <a href={to({ view: "run", run: need.run, phase: need.phase })}>
                <Text of={need.name} line />
              </a>
            ) : (
              <Text of={need.name} line />
            )}
          </h3>
          <p class="need-text">
            <Text of={need.message} />
          </p>
          <p class="need-foot">
            Try again with <code>autodev retry {need.phase}</code>, or go on without it:{" "}
            <code>autodev skip {need.phase}</code>
          </p>
        </>
      ) : (
        <p class="need-text">
          <Text of={need.text} />
        </p>
      )}
    </article>
  );
}

function WaitRow({ wait: { who, until, phases }, now }: { wait: Wait; now: number }) {
  return (
    <article class="card wait">
      <span class="chip" data-tone="park">
        Parked
      </span>
      <p>
        <strong>
          <Text of={who} line />
        </strong>{" "}
        has nothing left until {whenOf(until, now)}
        {phases.length > 0 && (
          <span class="muted">
            {" "}
            · <Text of={listed(phases)} line />
          </span>
        )}
      </p>
      <span class="countdown num" role="timer" aria-label="Time left">
        {countdown(until, now) ?? "any moment"}
      </span>
    </article>
  );
}

const listed = (phases: readonly string[]): string =>
  `${phases.length === 1 ? "phase" : "phases"} ${phases.slice(0, 6).join(", ")}${phases.length > 6 ? ` and ${phases.length - 6} more` : ""}`;

function FlowPlace({ view: { board, to } }: { view: View }) {
  const { flow } = board.state;
  if (!flow) return null;
  const { name, detail } = flow.subStep;
  return (
    <section aria-labelledby="flow-place">
      <h2 id="flow-place">Flow</h2>
      <a class="card place" href={to({ view: "flow" })}>
        <span class="place-step num">{flow.step === "done" ? "✓" : flow.step}</span>
        <span>
          <strong>
            <Text of={flow.name} line />
          </strong>
          <small class="muted">
            <Text
              of={`${flow.flow} · ${flow.status.replaceAll("_", " ")}${flow.cycle > 1 ? ` · cycle ${flow.cycle}` : ""}${name === "awaiting-invocation" ? "" : ` · ${name}${detail === "" ? "" : `: ${detail}`}`}`}
              line
            />
          </small>
        </span>
      </a>
    </section>
  );
}

export const Empty = () => (
  <section class="empty">
    <h1 tabIndex={-1}>Nothing has been run here yet</h1>
    <p>As soon as something happens in this project, it is seen here, live.</p>
    <dl>
      <div>
        <dt>
          <code>autodev build docs/plan.md</code>
        </dt>
        <dd>carries out a plan, phase by phase</dd>
      </div>
      <div>
        <dt>
          <code>autodev</code>
        </dt>
        <dd>takes the project from a problem to a release, step by step</dd>
      </div>
    </dl>
  </section>
);
