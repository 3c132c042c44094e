/**
 * The browser's door: one page on loopback that shows what goes on in a repository and takes answers
 * to its questions. It holds no lock and talks to no run: it reads what is on disk, as `attach` does.
 */
import { randomBytes } from "node:crypto";
import { userInfo } from "node:os";
import type { ProofAnswer, TicketAnswer } from "../core/board/wire.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import { openProject, type Project } from "../project.ts";
import {
  type Address,
  isForBrowsers,
  type KeptAddress,
  keptAddress,
  newToken,
  proofOf,
  usualPort,
} from "./address.ts";
import type { FleetBundle } from "./fleet.ts";
import { isSame } from "./guard.ts";
import { openPlaces } from "./projects.ts";
import type { House } from "./routes.ts";
import { type Listening, listen } from "./server.ts";
import { createTickets } from "./tickets.ts";

export interface Served {
  readonly port: number;
  /** Of whoever serves it. */
  readonly pid: number;
  /** With the token: for the person at the terminal. */
  readonly url: string;
  /** With a word that is good once: for command lines. Undefined: nobody gave one. */
  oneTimeUrl(): Promise<string | undefined>;
  /** Absent: another process of ours has served it before we came. */
  readonly close?: () => Promise<void>;
}

export interface ServeOptions {
  readonly port?: number;
  /** What a fleet needs, loaded where somebody has one; a bundle of its own (see fleet-main.ts). */
  readonly fleet?: () => FleetBundle;
}

const namesDatabase = ({ AUTODEV_DATABASE_URL, AUTODEV_DATABASE_URL_FILE }: NodeJS.ProcessEnv) =>
  Boolean(AUTODEV_DATABASE_URL || AUTODEV_DATABASE_URL_FILE);

/** Serves the repository around `cwd`, or finds whoever does already. */
export async function serve(
  cwd: string,
  { port: wanted, fleet: bundle }: ServeOptions = {},
): Promise<Result<Served>> {
  // First of all: whatever is started from here on must not inherit where the database is.
  const fleet = namesDatabase(process.env) ? bundle?.().openDoor() : undefined;
  const project = openProject(cwd);
  const kept = keptAddress(project);
  const found = kept.take();
  if (found.port !== undefined && (await isOurs(found.port, found.token))) {
    kept.touch();
    return succeed(servedElsewhere(found.port, found));
  }
  const known = found.isOld ? renewed(kept, found) : found;
  const places = openPlaces(project);
  const tickets = createTickets();
  const by = nameOfUser();
  const house = (token: string): House => ({ places, tickets, token, by, ...(fleet && { fleet }) });
  const opened = await firstFree({ project, kept, known, wanted, house });
  if (!opened.ok || opened.value.is === "elsewhere") places.close();
  if (!opened.ok) return opened;
  if (opened.value.is === "elsewhere")
    return succeed(servedElsewhere(opened.value.port, kept.take()));
  const { listening, token } = opened.value;
  const { port } = listening;
  kept.put({ token, port, pid: process.pid });
  const clock = setInterval(() => kept.touch(), touchMs).unref();
  return succeed({
    port,
    pid: process.pid,
    url: addressOf(port, `token=${token}`),
    oneTimeUrl: async () => addressOf(port, `ticket=${tickets.issue()}`),
    async close() {
      clearInterval(clock);
      kept.touch();
      places.close();
      await listening.close();
      await fleet?.close();
    },
  });
}

const touchMs = 60 * 60_000;

/** Kept before anybody hears it: of two who begin at once, the later one's counts for both. */
function renewed(kept: KeptAddress, { port }: Address): Address {
  const made = { token: newToken(), ...(port !== undefined && { port }) };
  if (!kept.put(made)) return made;
  const { isOld, ...now } = kept.take();
  return isOld ? made : now;
}

const addressOf = (port: number, fragment: string): string =>
  `http://127.0.0.1:${port}/#${fragment}`;

type Opened =
  | { readonly is: "here"; readonly listening: Listening; readonly token: string }
  /** Somebody has begun at the same time as we, and was faster. */
  | { readonly is: "elsewhere"; readonly port: number };

const mostTries = 20;

interface Search {
  readonly project: Project;
  readonly kept: KeptAddress;
  readonly known: Address;
  readonly wanted: number | undefined;
  house(token: string): House;
}

/**
 * Where it was, where it usually is, or the next one. Pages that are still open go on telling the token
 * to where we used to be, whoever is there by now: elsewhere we have another one.
 */
async function firstFree(search: Search): Promise<Result<Opened>> {
  const { project, kept, known, wanted, house } = search;
  const { token, port: before } = known;
  const other = newToken();
  const at = async (port: number): Promise<Opened | string> => {
    const good = before === undefined || port === before ? token : other;
    const opened = await tried(house(good), port);
    return typeof opened === "string" ? opened : { is: "here", listening: opened, token: good };
  };
  if (wanted !== undefined) {
    if (!isForBrowsers(wanted))
      return fail("usage", `no browser opens port ${wanted}: it is another protocol's`, {
        hint: "autodev ui without --port finds one that browsers open",
      });
    const opened = await at(wanted);
    if (typeof opened !== "string") return succeed(opened);
    if (await isOurs(wanted, kept.take().token)) return succeed({ is: "elsewhere", port: wanted });
    if (wanted === before) kept.put({ token: other });
    return fail("usage", `port ${wanted} cannot be had: ${reasons[opened] ?? opened}`, {
      hint: "autodev ui without --port finds one that is free",
    });
  }
  const usual = usualPort(project);
  const others = Array.from({ length: mostTries }, (_, next) => usual + next);
  const inTurn = [...(before === undefined ? [] : [before]), ...others, 0];
  for (const port of inTurn.filter(isForBrowsers)) {
    const opened = await at(port);
    if (typeof opened !== "string") return succeed(opened);
    const mayBeOurs = port === before || port === usual;
    if (mayBeOurs && (await isOurs(port, kept.take().token)))
      return succeed({ is: "elsewhere", port });
  }
  return fail("usage", "no port of this machine can be had", { hint: "autodev ui --port 8123" });
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program has it",
  EACCES: "it is not for you",
  ERR_SOCKET_BAD_PORT: "there is no such port",
};

/** A text: the system's word for why not. */
async function tried(house: House, port: number): Promise<Listening | string> {
  try {
    return await listen(house, port);
  } catch (error) {
    if (error instanceof Error && "code" in error) return String(error.code);
    throw error;
  }
}

// ── another process of ours ────────────────────────────────────────────────────────────────────

/** It shows that it has the token before anything is said to it. */
async function isOurs(port: number, token: string): Promise<boolean> {
  const nonce = randomBytes(24).toString("base64url");
  const answer = await asked<ProofAnswer>(port, `/api/proof?nonce=${nonce}`);
  return typeof answer?.proof === "string" && isSame(answer.proof, proofOf(token, nonce));
}

const servedElsewhere = (port: number, { token, pid = 0 }: Address): Served => ({
  port,
  pid,
  url: addressOf(port, `token=${token}`),
  async oneTimeUrl() {
    const answer = await asked<TicketAnswer>(port, "/api/ticket", {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        origin: `http://127.0.0.1:${port}`,
      },
      body: "{}",
    });
    return typeof answer?.ticket === "string"
      ? addressOf(port, `ticket=${answer.ticket}`)
      : undefined;
  },
});

/** Undefined: nobody is there, or somebody who does not speak as we do. */
async function asked<T>(
  port: number,
  path: string,
  init: RequestInit = {},
): Promise<T | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      ...init,
      redirect: "error",
      signal: AbortSignal.timeout(1000),
    });
    return response.ok ? ((await response.json()) as T) : undefined;
  } catch {
    return undefined;
  }
}

function nameOfUser(): string {
  const { USER, LOGNAME, USERNAME } = process.env;
  try {
    return USER || LOGNAME || USERNAME || userInfo().username;
  } catch {
    return "somebody";
  }
}
