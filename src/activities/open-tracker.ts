/**
 * Before a tracker is used: whether what it starts may run, whether it answers and somebody is logged in,
 * and whether its tools are what they were. Everything that can be refused is refused here.
 */
import * as path from "node:path";
import type { Event } from "../core/event.ts";
import { type Result, succeed } from "../core/failure.ts";
import { type FoundTracker, filledIn, serverLine } from "../core/tracker/servers.ts";
import { pinnedSurface } from "../core/tracker/tools.ts";
import type { OwnProgram, Trusted } from "../exec.ts";
import type { Tracker } from "../tracker.ts";
import { grantTrust, type TrustPlace, trustState } from "../trust.ts";
import type { Approval } from "./approve.ts";
import { trackerKeepingSecrets } from "./keep-secrets.ts";

/** How a server is reached, once it may be. */
export type ServerPlace =
  | { readonly is: "program"; readonly what: Trusted | OwnProgram; readonly root: string }
  | {
      readonly is: "address";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };

export interface TrackerSite {
  readonly root: string;
  readonly trust: TrustPlace;
  readonly by: string;
  now(): string;
  /** Only for what the repository names. */
  approved(server: FoundTracker, place: TrustPlace): Promise<Result<Approval>>;
  make(server: FoundTracker, place: ServerPlace): Promise<Tracker>;
}

export interface OpenedTracker {
  /** Absent: it was refused. */
  readonly tracker?: Tracker;
  /** By which tool each verb is done. */
  readonly how: Readonly<Record<string, string>>;
  /** What is to be on record about it. */
  readonly event: Extract<Event, { type: "tracker-opened" | "tracker-refused" }>;
}

/** The same for as long as an invocation lasts; closed by whoever made this. */
export interface TrackerOpener {
  open(server: FoundTracker, accept?: string): Promise<Result<OpenedTracker>>;
  close(): Promise<void>;
}

export function trackerOpener(site: TrackerSite): TrackerOpener {
  let known: OpenedTracker | undefined;
  return {
    async open(server, accept) {
      if (known?.tracker && known.event.server === server.name) return succeed(known);
      const opened = await openTracker(site, server, accept);
      if (opened.ok) known = opened.value;
      return opened;
    },
    close: async () => known?.tracker?.close(),
  };
}

async function openTracker(
  site: TrackerSite,
  server: FoundTracker,
  accept?: string,
): Promise<Result<OpenedTracker>> {
  const place = await placeOf(site, server);
  if (!place.ok) return place;
  const tracker = trackerKeepingSecrets(await site.make(server, place.value), told(server));
  const about = { tracker: server.kind, server: server.name };
  const refused = async (
    how: Extract<Event, { type: "tracker-refused" }>["how"],
    why: string,
    more: { readonly tools?: string; readonly difference?: string[] } = {},
  ): Promise<Result<OpenedTracker>> => {
    await tracker.close();
    return succeed({ how: {}, event: { type: "tracker-refused", ...about, how, why, ...more } });
  };
  const opened = await tracker.open();
  if (opened.is !== "open") return refused(opened.is, opened.why);
  const pins = pinnedSurface(opened.tools);
  const pinned = pinsPlace(site.trust, server);
  const state = trustState(pinned, pins);
  if (!state.ok) {
    await tracker.close();
    return state;
  }
  const { is, hash } = state.value;
  if (state.value.is === "changed" && accept !== hash) {
    const { difference } = state.value;
    return refused("tools", "its tools are not what they were", { tools: hash, difference });
  }
  if (is !== "trusted") {
    const granted = await grantTrust(pinned, pins, { by: site.by, at: site.now() });
    if (!granted.ok) return granted;
  }
  return succeed({ tracker, how: opened.how, event: { type: "tracker-opened", ...about } });
}

/** What its configuration gives it, with what the user's variables hold. */
const told = ({ is }: FoundTracker): Record<string, string> =>
  Object.fromEntries(
    Object.entries("url" in is ? is.headers : is.env).map(([name, value]) => [
      name,
      filledIn(value, process.env),
    ]),
  );

/** A record of its own: what is approved here replaces no approval of a plan. */
export const trackersPlace = ({ root, folder }: TrustPlace): TrustPlace => ({
  root,
  folder: path.join(folder, "trackers"),
});

/** Beside what was approved to run: out of the repository's reach. */
const pinsPlace = ({ root, folder }: TrustPlace, { name }: FoundTracker): TrustPlace => ({
  root,
  folder: path.join(folder, "tools", name.replace(/[^\w-]+/g, "_")),
});

async function placeOf(site: TrackerSite, server: FoundTracker): Promise<Result<ServerPlace>> {
  const { root, trust } = site;
  let trusted: Trusted | undefined;
  if (server.repository) {
    const approval = await site.approved(server, trackersPlace(trust));
    if (!approval.ok) return approval;
    trusted = approval.value.tracker(server.name);
  }
  const { is } = server;
  if ("url" in is) {
    const headers = Object.entries(is.headers).map(([name, value]) => [
      name,
      filledIn(value, process.env),
    ]);
    const url = filledIn(is.url, process.env);
    return succeed({ is: "address", url, headers: Object.fromEntries(headers) });
  }
  const what = trusted ?? { program: "sh", args: ["-c", serverLine(server), "autodev"] };
  return succeed({ is: "program", what, root });
}
