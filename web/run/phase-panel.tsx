/** One phase: its state and why, its attempts side by side, and what each of them said and did. */
import { useEffect, useRef, useState } from "preact/hooks";
import { duration, spendWords } from "../../src/core/amounts.ts";
import type { AttemptStory } from "../../src/core/board/attempt-story.ts";
import { isUnderWay } from "../../src/core/plan/attempts.ts";
import type { PlanRun } from "../../src/core/plan/progress.ts";
import { placeOf } from "../../src/core/plan/readiness.ts";
import type { Api } from "../api.ts";
import { Text } from "../text.tsx";
import { Attempts } from "./attempts.tsx";
import { BriefTab } from "./brief-tab.tsx";
import { DiffTab } from "./diff-tab.tsx";
import { GatesTab } from "./gates-tab.tsx";
import { looks, why } from "./phase-words.ts";
import { Quiet } from "./quiet.tsx";
import type { SeenPhase } from "./seen-phase.ts";
import { Sign } from "./sign.tsx";
import { TranscriptTab } from "./transcript-tab.tsx";

export interface PhasePanelProps {
  readonly run: PlanRun;
  readonly view: SeenPhase;
  /** Of this phase, in their order. */
  readonly stories: readonly AttemptStory[];
  readonly now: number;
  readonly api: Api;
  readonly past: boolean;
  onPhase(id: string): void;
  onClose(): void;
}

const tabs = ["Transcript", "Gates", "Diff", "Brief"] as const;
type Tab = (typeof tabs)[number];

export function PhasePanel(props: PhasePanelProps) {
  const { run, view, stories, now, api, past, onPhase, onClose } = props;
  const [tab, setTab] = useState<Tab>("Transcript");
  const [picked, setPicked] = useState<number>();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  useEscape(onClose);

  const story = stories.find(({ attempt }) => attempt === picked) ?? stories.at(-1);
  const { stage, elapsed, spend } = view;
  const because = why(stage, now);
  const lines = stage.is === "failed" ? stage.lines : [];
  const {
    estimate,
    tasks = 0,
    dependsOn = [],
  } = run.order[placeOf(run.order, view.id) ?? -1] ?? {};
  return (
    <section class="run-panel card" aria-label={`Phase ${view.written}`}>
      <header class="run-panel-head">
        <h2 ref={heading} tabIndex={-1}>
          <span class="mono">
            <Text of={view.written} line />
          </span>{" "}
          <Text of={view.name} line />
        </h2>
        <button type="button" class="btn run-close" aria-label="Close (Escape)" onClick={onClose}>
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="M4 4l8 8M12 4l-8 8" />
          </svg>
        </button>
      </header>
      <div class="run-panel-facts">
        <p class="run-state" data-tone={looks[stage.is].tone}>
          <Sign is={stage.is} />
          <strong>{looks[stage.is].word}</strong>
          <Text of={because} line />
        </p>
        {lines.length > 0 && (
          <pre class="run-pre mono">
            <Text of={lines.join("\n")} />
          </pre>
        )}
        <p class="run-about muted num">
          {elapsed !== undefined && <span>{duration(elapsed)}</span>}
          {spend && <span>{spendWords(spend)}</span>}
          {tasks > 0 && <span>{counted(tasks, "task")}</span>}
          {estimate !== undefined && <span>{counted(estimate, "point")}</span>}
          {dependsOn.length > 0 && (
            <span>
              after{" "}
              {dependsOn.map((id) => (
                <button key={id} type="button" class="run-link mono" onClick={() => onPhase(id)}>
                  <Text of={run.order[placeOf(run.order, id) ?? -1]?.written ?? id} line />
                </button>
              ))}
            </span>
          )}
        </p>
        {story && (
          <Attempts stories={stories} picked={story.attempt} now={now} onPick={setPicked} />
        )}
      </div>
      {story ? (
        <>
          <Tabs tab={tab} onTab={setTab} />
          <div
            key={`${tab} ${story.attempt}`}
            class="run-tab"
            role="tabpanel"
            aria-label={tab}
            tabIndex={0}
          >
            <TabContent {...{ tab, run, story, api }} live={!past && isUnderWay(story)} />
          </div>
        </>
      ) : (
        <Quiet>Nobody has begun it yet: there is nothing to read.</Quiet>
      )}
    </section>
  );
}

const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? "" : "s"}`;

interface TabContentProps {
  readonly tab: Tab;
  readonly run: PlanRun;
  readonly story: AttemptStory;
  readonly api: Api;
  readonly live: boolean;
}

function TabContent({ tab, run, story, api, live }: TabContentProps) {
  const which = { run: run.id, phase: story.phase, attempt: story.attempt };
  switch (tab) {
    case "Transcript":
      return <TranscriptTab api={api} which={which} live={live} />;
    case "Gates":
      return <GatesTab story={story} />;
    case "Diff":
      return <DiffTab api={api} which={which} how={story.how} />;
    case "Brief":
      return <BriefTab api={api} which={which} />;
  }
}

function Tabs({ tab, onTab }: { tab: Tab; onTab(tab: Tab): void }) {
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const at = (tabs.indexOf(tab) + by + tabs.length) % tabs.length;
    onTab(tabs[at] ?? "Transcript");
    (list.current?.children[at] as HTMLElement | undefined)?.focus();
  };
  return (
    <div class="run-tabs" role="tablist" ref={list} onKeyDown={onKeyDown}>
      {tabs.map((each) => (
        <button
          key={each}
          type="button"
          role="tab"
          aria-selected={each === tab}
          tabIndex={each === tab ? 0 : -1}
          onClick={() => onTab(each)}
        >
          {each}
        </button>
      ))}
    </div>
  );
}

function useEscape(leave: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
      // Before the page: what lies on top is closed first.
      event.preventDefault();
      leave();
    };
    document.addEventListener("keydown", onKey, true);
    return () => document.removeEventListener("keydown", onKey, true);
  }, [leave]);
}
