/** The repositories that can be looked at: the one that we were started in, and its suite's parts. */
import * as path from "node:path";
import { runsOn } from "../core/board/board.ts";
import type { SeenProject } from "../core/board/wire.ts";
import { openDecisions } from "../core/evolve.ts";
import { type PlanRun } from "../core/plan/progress.ts";
import { findParts, openProject, type Project } from "../project.ts";
import { type Feed, openFeed } from "./feed.ts";
import { type Channel, openChannel } from "./stream.ts";

export interface Place {
  readonly key: string;
  readonly name: string;
  readonly feed: Feed;
  readonly channel: Channel;
}

export interface Places {
  named(key: string): Place | undefined;
  /** Looks at all of them. */
  seen(): readonly SeenProject[];
  close(): void;
}

/** Parts come and go, but not every second. */
const partsMs = 10_000;
const tellMs = 2000;

export function openPlaces(first: Project): Places {
  const places = new Map<string, Place>();
  const add = (key: string, name: string, project: Project): void => {
    const feed = openFeed(project);
    places.set(key, { key, name, feed, channel: openChannel(feed) });
  };
  add(".", path.basename(first.root), first);
  let lookedAt = Number.NEGATIVE_INFINITY;
  const findMore = (): void => {
    if (performance.now() - lookedAt < partsMs) return;
    lookedAt = performance.now();
    for (const part of findParts(first)) {
      if (!places.has(part.path))
        add(part.path, part.name, openProject(path.join(first.root, part.path), first.world));
    }
  };
  const seen = (): readonly SeenProject[] => {
    findMore();
    return [...places.values()].map(seenAt);
  };
  let told = "";
  const clock = setInterval(() => {
    const all = [...places.values()];
    if (all.every(({ channel }) => channel.listeners === 0)) return;
    const now = seen();
    const text = JSON.stringify(now);
    if (text === told) return;
    told = text;
    for (const { channel } of all) channel.projectsChanged(now);
  }, tellMs).unref();
  return {
    named(key) {
      if (!places.has(key)) findMore();
      return places.get(key);
    },
    seen,
    close() {
      clearInterval(clock);
      for (const { channel } of places.values()) channel.close();
    },
  };
}

function seenAt({ key, name, feed }: Place): SeenProject {
  const trouble = feed.look();
  const { board, project } = feed;
  const { flow } = board.state;
  const [run] = runsOn(board);
  const holder = feed.holder();
  return {
    key,
    name,
    root: project.root,
    // What was seen before may have been settled since.
    needs: trouble ? 0 : needsOf(feed, run),
    ...(board.at !== "" && { at: board.at }),
    ...(holder && { holder }),
    ...(flow && {
      place: { flow: flow.flow, step: flow.step, name: flow.name, status: flow.status },
    }),
    ...(run && { run: runSeen(run) }),
    ...(trouble && { trouble: trouble.message }),
  };
}

/** Questions that nobody has answered, blockers, a run that cannot go on. */
function needsOf(feed: Feed, run: PlanRun | undefined): number {
  const { state } = feed.board;
  const open = openDecisions(state).length - Object.keys(feed.answers()).length;
  const blockers = state.flow?.blockers.length ?? 0;
  return open + blockers + (run?.ended === "halted" ? 1 : 0);
}

const runSeen = ({ id, title, plan, phases, ended }: PlanRun): NonNullable<SeenProject["run"]> => ({
  id,
  title: title || plan,
  complete: phases.filter(({ state }) => state.is === "landed" || state.is === "skipped").length,
  total: phases.length,
  ...(ended !== undefined && { ended }),
});
