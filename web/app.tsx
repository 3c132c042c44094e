/** The whole page: where one is, what is known, which moment is looked at; and the view of that. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { usualBudgets } from "../src/core/agent/budget.ts";
import { type Board, runsOn } from "../src/core/board/board.ts";
import type { RecordedEvent } from "../src/core/event.ts";
import { withAnswers } from "../src/core/evolve.ts";
import { momentOf } from "../src/core/plan/moment.ts";
import { apiOf } from "./api.ts";
import { Fence } from "./fence.tsx";
import { FlowPage } from "./flow/flow-page.tsx";
import { Frame } from "./frame.tsx";
import { HistoryPage } from "./history/history-page.tsx";
import { jump } from "./history/past.ts";
import { Scrubber } from "./history/scrubber.tsx";
import { usePast } from "./history/use-past.ts";
import { KeyHelp } from "./key-help.tsx";
import { useKeys } from "./keys.ts";
import { needsOf } from "./now/needs.ts";
import { Empty, NowPage } from "./now/now-page.tsx";
import { useElsewhere } from "./now/use-elsewhere.ts";
import { verdictOf } from "./now/verdict.ts";
import { Refused } from "./refused.tsx";
import { hashOf, type Place, type Route, routeOf } from "./route.ts";
import { RunChoice } from "./run/run-choice.tsx";
import { RunPage } from "./run/run-page.tsx";
import { TimelinePage } from "./run/timeline-page.tsx";
import { nothingSeen, openSource, type Seen } from "./source.ts";
import { visibleLine } from "./text.tsx";
import { isDark, turnTheme } from "./theme.ts";
import type { View } from "./view.ts";

export function App({ token }: { token: string }) {
  const [route, go] = useRoute();
  const { project, at } = route;
  const api = useMemo(() => apiOf(token, project), [token, project]);
  const [known, aloud] = useSource(api);
  const seen = useMemo(() => answered(known), [known]);
  const [helps, setHelps] = useState(false);
  const [dark, setDark] = useState(isDark);
  const now = useNow(seen.ahead);

  const head = seen.board?.seq ?? 0;
  const { moment, trouble, marks } = usePast(api, at, head, seen.generation);
  const past = at !== undefined;
  // The last moment is also the present one: nothing has to be fetched to begin there.
  const board = past ? (moment?.board ?? (at >= head ? seen.board : undefined)) : seen.board;
  const shownAt = past && board ? (momentOf(board.at) ?? now) : now;

  const elsewhere = useElsewhere(token, seen.projects, project);
  const own = seen.board ? needsOf(seen.board).length : 0;
  const needs = elsewhere.reduce((sum, each) => sum + each.needs.length, own);
  const held = past || seen.holder !== undefined;

  const to = (place: Place): string => hashOf(routeTo(place, route));
  const open = (place: Place): void => go(routeTo(place, route));
  const choose = (key: string): void => go({ view: "now", project: key });
  const runId = newestRun(route, board);
  const graphId = runId === "flow" ? board && runsOn(board)[0]?.id : runId;
  // Skills work in sessions too: where no plan was run, those are what time was spent on.
  const timelineId = runId ?? (board && board.flow.sessions.length > 0 ? "flow" : undefined);
  const seek = (seq: number): void =>
    go({ ...route, at: Math.max(1, Math.min(head, seq)) }, "replace");
  // Whoever opens the history looks at its end first.
  const isOpening = route.view === "history" && !past && head > 0;
  useEffect(() => {
    if (isOpening) seek(head);
  }, [isOpening]);
  const leave = (): void => {
    const { at: _, ...rest } = route;
    go(rest.view === "history" ? { view: "now", project } : rest);
  };
  const leap = (by: 1 | -1): void => seek(jump(marks, at ?? head, by));
  const turn = (): void => {
    turnTheme();
    setDark(isDark());
  };
  const otherProject = (by: number): void => {
    const keys = seen.projects.map(({ key }) => key);
    const next = keys[(keys.indexOf(project) + by + keys.length) % keys.length];
    if (next !== undefined) choose(next);
  };

  useKeys({
    "g n": () => open({ view: "now" }),
    "g f": () => open({ view: "flow" }),
    "g r": () => open({ view: "run", ...(graphId !== undefined && { run: graphId }) }),
    "g t": () => open({ view: "timeline", ...(timelineId !== undefined && { run: timelineId }) }),
    "g h": () => open({ view: "history" }),
    h: () => {
      if (past) leave();
      else if (head > 0) go({ ...route, at: head });
    },
    "?": () => setHelps(true),
    t: turn,
    "[": () => otherProject(-1),
    "]": () => otherProject(1),
    ...(past && {
      ArrowLeft: () => seek(at - 1),
      ArrowRight: () => seek(at + 1),
      "shift+ArrowLeft": () => leap(-1),
      "shift+ArrowRight": () => leap(1),
      Home: () => seek(1),
      End: () => seek(head),
      Escape: leave,
    }),
  });

  useFocusOn(route.view);
  const verdict = board && verdictOf(board, shownAt, held, past ? needsOf(board).length : needs);
  useEffect(() => {
    document.title = verdict ? `${visibleLine(verdict.short)} · autodev` : "autodev";
  }, [verdict?.short]);

  if (seen.link.is === "refused") return <Refused why={seen.link.why} />;
  const view: View | undefined = board && { board, now: shownAt, past, api, held, to };
  return (
    <>
      <Frame
        view={route.view}
        places={placesOf(graphId, timelineId)}
        {...{ to, needs, project, choose, dark, turn }}
        link={seen.link}
        projects={seen.projects}
        help={() => setHelps(true)}
        {...(past && { moment: shownAt })}
      >
        {view ? (
          <Fence key={`${route.view} ${project}`}>
            <Shown
              {...{ view, route, runId, seen, go, project, choose, verdict, seek }}
              recent={past ? (moment?.around.filter(({ seq }) => seq <= at) ?? []) : seen.recent}
              around={moment?.around ?? []}
              elsewhere={past ? [] : elsewhere}
            />
          </Fence>
        ) : (
          <Loading failed={trouble?.message} />
        )}
      </Frame>
      {past && (
        <Scrubber
          at={Math.min(at, head)}
          {...{ head, marks, leap, leave, now }}
          go={seek}
          began={seen.told?.began ?? ""}
          ended={seen.board?.at ?? ""}
          {...(moment?.event && { event: moment.event })}
          {...(trouble && { trouble: trouble.message })}
        />
      )}
      <p class="visually-hidden" aria-live="polite">
        {aloud && spoken(aloud)}
      </p>
      {helps && <KeyHelp close={() => setHelps(false)} />}
    </>
  );
}

interface ShownProps {
  readonly view: View;
  readonly route: Route;
  readonly runId: string | undefined;
  readonly seen: Seen;
  readonly verdict: ReturnType<typeof verdictOf> | undefined;
  readonly go: Go;
  readonly seek: (seq: number) => void;
  readonly project: string;
  readonly choose: (key: string) => void;
  readonly recent: readonly RecordedEvent[];
  readonly around: readonly RecordedEvent[];
  readonly elsewhere: Parameters<typeof NowPage>[0]["elsewhere"];
}

function Shown({
  view,
  route,
  runId,
  seen,
  go,
  seek,
  verdict,
  recent,
  around,
  ...rest
}: ShownProps) {
  const { board, now, api, past, held } = view;
  const budgets = seen.told?.budgets ?? usualBudgets;
  const { projects } = seen;
  switch (route.view) {
    case "now":
      return verdict ? <NowPage {...{ view, verdict, recent, projects }} {...rest} /> : null;
    case "flow": {
      const { step, artifact } = route;
      return (
        <FlowPage
          view={view}
          flows={seen.told?.flows ?? []}
          {...(step !== undefined && { step })}
          {...(artifact !== undefined && { artifact })}
        />
      );
    }
    case "run":
      if (runId === undefined) return <NoRun />;
      return (
        <>
          <RunChoice
            {...{ board, runId, now }}
            choose={(run) => go(routeTo({ view: "run", run }, route))}
          />
          <RunPage
            {...{ board, runId, now, api, past, held, budgets }}
            {...(route.phase !== undefined && { phase: route.phase })}
            onPhase={(phase) =>
              go(routeTo({ view: "run", run: runId, ...(phase !== undefined && { phase }) }, route))
            }
          />
        </>
      );
    case "timeline": {
      const id = runId ?? (board.flow.sessions.length > 0 ? "flow" : undefined);
      if (id === undefined) return <NoRun />;
      return (
        <>
          <RunChoice
            {...{ board, now }}
            runId={id}
            withFlow
            choose={(run) => go(routeTo({ view: "timeline", run }, route))}
          />
          <TimelinePage
            {...{ board, now, api, past, held, budgets }}
            runId={id}
            onPhase={(run, phase) => go(routeTo({ view: "run", run, phase }, route))}
          />
        </>
      );
    }
    case "history":
      if (board.seq === 0) return <Empty />;
      return <HistoryPage around={around} at={route.at ?? board.seq} now={now} go={seek} />;
  }
}

const placesOf = (run: string | undefined, timeline: string | undefined) => {
  const ofRun = run === undefined ? {} : { run };
  const ofTime = timeline === undefined ? {} : { run: timeline };
  return [
    { place: { view: "now" }, name: "Now", keys: "g n" },
    { place: { view: "flow" }, name: "Flow", keys: "g f" },
    { place: { view: "run", ...ofRun }, name: "Graph", keys: "g r" },
    { place: { view: "timeline", ...ofTime }, name: "Timeline", keys: "g t" },
    { place: { view: "history" }, name: "History", keys: "g h" },
  ] as const;
};

/** The run that is looked at, or the newest one. */
function newestRun(route: Route, board: Board | undefined): string | undefined {
  if ((route.view === "run" || route.view === "timeline") && route.run !== undefined)
    return route.run;
  return board && runsOn(board)[0]?.id;
}

/** In the same project and at the same moment. */
const routeTo = (place: Place, { project, at }: Route): Route => ({
  ...place,
  project,
  ...(at !== undefined && { at }),
});

type Go = (route: Route, how?: "replace") => void;

function useRoute(): [Route, Go] {
  const [route, setRoute] = useState(() => routeOf(location.hash));
  useEffect(() => {
    const changed = (): void => setRoute(routeOf(location.hash));
    window.addEventListener("hashchange", changed);
    return () => window.removeEventListener("hashchange", changed);
  }, []);
  const go: Go = (next, how) => {
    if (how === "replace") history.replaceState(null, "", hashOf(next));
    else history.pushState(null, "", hashOf(next));
    setRoute(next);
  };
  return [route, go];
}

/** What is known, and the last thing that should be said aloud. */
function useSource(api: ReturnType<typeof apiOf>): [Seen, RecordedEvent | undefined] {
  const [seen, setSeen] = useState<Seen>(nothingSeen);
  const [aloud, setAloud] = useState<RecordedEvent>();
  useEffect(() => {
    // The other repositories are the same whichever one is looked at.
    setSeen(({ projects, ahead }) => ({ ...nothingSeen, projects, ahead }));
    const source = openSource(api, {
      seen: (next) =>
        setSeen((before) =>
          next.projects.length > 0 ? next : { ...next, projects: before.projects },
        ),
      happened: (events) => {
        const last = events.findLast(({ type }) => /^(?:decision-asked|run-ended)$/.test(type));
        if (last) setAloud(last);
      },
    });
    return () => source.close();
  }, [api]);
  return [seen, aloud];
}

/** An answer counts from the moment that somebody gives it, wherever he does. */
function answered(seen: Seen): Seen {
  const { board, answers } = seen;
  if (!board || !answers) return seen;
  const state = withAnswers(board.state, () => new Map(Object.entries(answers)));
  return { ...seen, board: { ...board, state } };
}

function spoken(event: RecordedEvent): string {
  if (event.type === "decision-asked")
    return `A decision is asked: ${visibleLine(event.decision.question)}`;
  return event.type === "run-ended" ? `The run has ended: ${event.how}` : "";
}

/** By the server's clock, each second. */
function useNow(ahead: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now + ahead;
}

/** Whoever goes to another view by keyboard or voice is there, not where the link was. */
function useFocusOn(view: string): void {
  const before = useRef(view);
  useEffect(() => {
    if (before.current === view) return;
    before.current = view;
    window.scrollTo(0, 0);
    const title = document.querySelector<HTMLElement>("main h1[tabindex]");
    (title ?? document.getElementById("main"))?.focus({ preventScroll: true });
  }, [view]);
}

const NoRun = () => (
  <section class="empty">
    <h1 tabIndex={-1}>No plan has been run here yet</h1>
    <dl>
      <div>
        <dt>
          <code>autodev build docs/plan.md</code>
        </dt>
        <dd>carries out a plan, phase by phase</dd>
      </div>
      <div>
        <dt>
          <code>autodev example</code>
        </dt>
        <dd>shows it on a small project of ours</dd>
      </div>
    </dl>
  </section>
);

const Loading = ({ failed }: { failed: string | undefined }) =>
  failed === undefined ? (
    <div class="loading" role="status" aria-label="Loading">
      <div class="skeleton line" />
      <div class="card skeleton" />
      <div class="card skeleton tall" />
    </div>
  ) : (
    <section class="empty">
      <h1 tabIndex={-1}>This moment cannot be shown</h1>
      <p>{visibleLine(failed)}</p>
    </section>
  );
