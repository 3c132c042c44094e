/** What stands around every view: where one can go, how the connection is, light or dark. */
import type { ComponentChildren } from "preact";
import { duration } from "../src/core/amounts.ts";
import type { SeenProject } from "../src/core/board/wire.ts";
import { Icon, type IconName } from "./icon.tsx";
import { timeOf } from "./moments.ts";
import type { Place } from "./route.ts";
import type { Link } from "./source.ts";
import { Text, visibleLine } from "./text.tsx";

export interface FrameProps {
  readonly view: Place["view"] | "fleet";
  readonly places: readonly {
    readonly place: Place;
    readonly name: string;
    readonly keys: string;
  }[];
  readonly to: (place: Place) => string;
  readonly needs: number;
  readonly link: Link;
  /** In the past: since when, as milliseconds. */
  readonly moment?: number;
  readonly projects: readonly SeenProject[];
  readonly project: string;
  readonly choose: (key: string) => void;
  readonly dark: boolean;
  readonly turn: () => void;
  readonly help: () => void;
  readonly children: ComponentChildren;
}

export function Frame(props: FrameProps) {
  const { view, places, to, needs, link, moment, children, dark, turn, help } = props;
  return (
    <>
      <a class="skip" href="#main" onClick={toMain}>
        To the content
      </a>
      <header class="rail">
        <a class="brand" href={to({ view: "now" })} aria-label="autodev, now">
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <rect width="16" height="16" rx="4" />
            <path d="M4 11.5 8 4l4 7.5M5.8 9h4.4" />
          </svg>
          <span>autodev</span>
        </a>
        <Projects {...props} />
        <nav class="views" aria-label="Views">
          {places.map(({ place, name, keys }) => (
            <a
              key={name}
              href={to(place)}
              aria-current={place.view === view ? "page" : undefined}
              title={`${name} (${keys})`}
            >
              <Icon is={place.view satisfies IconName} />
              <span class="view-name">{name}</span>
              {place.view === "now" && needs > 0 && (
                <span class="badge num">
                  {needs}
                  <span class="visually-hidden"> {needs === 1 ? "needs" : "need"} you</span>
                </span>
              )}
            </a>
          ))}
          {hasFleet && (
            <a href="/fleet" aria-current={view === "fleet" ? "page" : undefined}>
              <Icon is="fleet" />
              <span class="view-name">Fleet</span>
            </a>
          )}
        </nav>
        <div class="rail-foot">
          <Connection
            link={link}
            isOld={troubleOf(props) !== undefined}
            {...(moment !== undefined && { moment })}
          />
          <button
            type="button"
            class="btn icon-btn"
            onClick={turn}
            aria-label={dark ? "Light theme" : "Dark theme"}
          >
            <Icon is={dark ? "light" : "dark"} />
          </button>
          <button type="button" class="btn icon-btn keys-btn" onClick={help} aria-label="Keys">
            <Icon is="keys" />
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <Lost link={link} trouble={troubleOf(props)} />
    </>
  );
}

/** The server says so in the page itself; the fleet has a page of its own (`fleet/`). */
const hasFleet = "fleet" in document.documentElement.dataset;

/** The fragment is the route: a skip link must not be one. */
function toMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function Projects({ projects, project, choose }: FrameProps) {
  const current = projects.find(({ key }) => key === project);
  if (projects.length < 2)
    return current ? (
      <p class="project-alone ellipsis" title={visibleLine(current.root)}>
        <Text of={current.name} line />
      </p>
    ) : (
      <p class="project-alone" />
    );
  return (
    <label class="project-choice">
      <span class="visually-hidden">Repository</span>
      <select value={project} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {projects.map(({ key, name, needs }) => (
          <option key={key} value={key}>
            {visibleLine(name)}
            {needs > 0 ? ` (${needs})` : ""}
          </option>
        ))}
      </select>
    </label>
  );
}

const states: Readonly<Record<Link["is"], readonly [tone: string, word: string]>> = {
  loading: ["quiet", "Loading"],
  live: ["ok", "Live"],
  stale: ["warn", "Silent"],
  lost: ["bad", "Reconnecting"],
  refused: ["bad", "Not let in"],
};

function Connection({ link, isOld, moment }: { link: Link; isOld: boolean; moment?: number }) {
  const [tone, word] =
    moment !== undefined
      ? ["warn", timeOf(moment)]
      : isOld && link.is === "live"
        ? ["bad", "Unreadable"]
        : states[link.is];
  return (
    <span class="connection num" role="status" data-link={link.is}>
      <span class="dot" data-tone={tone} aria-hidden="true" />
      <span class="connection-word">{word}</span>
    </span>
  );
}

/** What was seen before is still shown; that it may be old has to be said. */
const troubleOf = ({ projects, project }: FrameProps): string | undefined =>
  projects.find(({ key }) => key === project)?.trouble;

/** Said over the page, not in it: nothing moves because a cable was pulled. */
function Lost({ link, trouble }: { link: Link; trouble: string | undefined }) {
  if (link.is === "live" && trouble !== undefined)
    return (
      <p class="toast" role="alert" data-tone="bad">
        <strong>It cannot be read any more</strong>: {visibleLine(trouble)}. What you see is as it
        was.
      </p>
    );
  if (link.is !== "lost" && link.is !== "stale") return null;
  const ago = duration(Math.max(0, Date.now() - link.since));
  return (
    <p class="toast" role="alert" data-tone={link.is === "lost" ? "bad" : "warn"}>
      {link.is === "lost" ? (
        <>
          <strong>Not connected</strong> for <span class="num">{ago}</span>: {visibleLine(link.why)}
          . Trying again; what you see is as it was.
        </>
      ) : (
        <>
          <strong>No sign of life</strong> for <span class="num">{ago}</span>. What you see may be
          old.
        </>
      )}
    </p>
  );
}
