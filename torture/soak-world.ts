/**
 * Where the team of a soak works: a real repository with the real store in it, a clock that is
 * turned by hand, and a log of what was acknowledged and what was done, which no store knows of.
 * What agents come to is a matter of what they are asked and of nothing else, so whoever goes on
 * after a death meets the same agents.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import type { Project } from "../src/activities/hold.ts";
import { builtInFlows } from "../src/core/flow/flows/index.ts";
import { findRepository } from "../src/git.ts";
import type { Session, Store, Transition } from "../src/store.ts";
import { type Disk, realDisk } from "../src/stores/file/disk.ts";
import { createFileStore, sha256 } from "../src/stores/file.ts";
import { type Random, randomFrom } from "./rig.ts";

/** What somebody is told who begins to work, in a process of his own or not. */
export interface Order {
  readonly root: string;
  readonly log: string;
  readonly seed: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** A line of the log, in the order in which things came about. */
export type Logged =
  | {
      readonly is: "acked";
      readonly seq: number;
      readonly events: number;
      readonly payload: string;
    }
  | {
      readonly is: "worked";
      readonly run: string;
      readonly phase: string;
      readonly attempt: number;
    }
  | { readonly is: "skill"; readonly session: number }
  | { readonly is: "died"; readonly how: Death["how"]; readonly now: number }
  | { readonly is: "rested"; readonly now: number };

/** When a process is killed with -9: at its nth transition, before it, amid it, or right after. */
export interface Death {
  readonly how: "before" | "torn" | "after" | "renaming";
  readonly at: number;
}

/** Bytes that were read by way of the store, by what they were; and how many files. */
export const readKinds = ["snapshot", "journal", "answers", "other"] as const;
export type Read = Record<(typeof readKinds)[number] | "files", number>;

export const nothingRead = (): Read => ({
  snapshot: 0,
  journal: 0,
  answers: 0,
  other: 0,
  files: 0,
});

const kindOf = (file: string): (typeof readKinds)[number] =>
  path.basename(file) === "snapshot"
    ? "snapshot"
    : ((["journal", "answers"] as const).find((kind) => file.includes(`/autodev/${kind}/`)) ??
      "other");

export class SoakWorld {
  readonly project: Project;
  /** Somebody elsewhere, who holds nothing. */
  readonly elsewhere: Store;
  /** Since somebody set it back. */
  read: Read = nothingRead();
  readonly order: Order;
  now: number;
  transitions = 0;
  /** What it took to begin, session by session. */
  openings: Read[] = [];
  /** Called after each transition, before whoever recorded it hears of it. */
  afterEach: () => Promise<void> = async () => {};
  private readonly death: Death | undefined;
  private uuids = 0;

  constructor(order: Order, death?: Death) {
    this.order = order;
    this.now = order.now;
    this.death = death;
    const repository = findRepository(order.root);
    if (!repository) throw new Error(`${order.root} is no repository`);
    const folder = path.join(repository.commonDir, "autodev");
    const disk = this.watched(realDisk);
    const store = createFileStore({ folder, root: order.root, shown: ".git/autodev", disk });
    this.elsewhere = createFileStore({ folder, root: order.root, shown: ".git/autodev" });
    this.project = {
      root: order.root,
      repository,
      store: { ...store, open: async (holder) => this.opened(await store.open(holder)) },
      flows,
      world: {
        now: () => this.iso,
        holder: (command) => ({
          pid: process.pid,
          host: os.hostname(),
          since: this.iso,
          command,
        }),
        uuid: () => this.word(`${this.now} ${this.uuids++}`),
        hash: sha256,
        showEvery: 0,
      },
    };
  }

  get iso(): string {
    return new Date(this.now).toISOString();
  }

  /** Time goes by. */
  pass(random: Random, least: number, most: number): void {
    this.now += random.between(least, most) * 1000;
  }

  log(line: Logged): void {
    fs.appendFileSync(this.order.log, `${JSON.stringify(line)}\n`);
  }

  /** The same for the same words, whoever asks. */
  fate(...words: readonly (string | number)[]): Random {
    return randomFrom(this.order.seed, Number.parseInt(this.word(words.join(" ")).slice(0, 8), 16));
  }

  private word(text: string): string {
    return createHash("sha256").update(`${this.order.seed} ${text}`).digest("hex");
  }

  private opened(result: Awaited<ReturnType<Store["open"]>>): typeof result {
    if (!result.ok) return result;
    const session = result.value;
    const append = (seq: number, transition: Transition): ReturnType<Session["append"]> =>
      this.append(session, seq, transition);
    return {
      ok: true,
      value: {
        ...session,
        get epoch() {
          return session.epoch;
        },
        get head() {
          return session.head;
        },
        append,
      },
    };
  }

  private async append(
    session: Session,
    seq: number,
    transition: Transition,
  ): ReturnType<Session["append"]> {
    if (this.isDue("before")) this.die("before");
    const appended = await session.append(seq, transition);
    if (!appended.ok) return appended;
    const payload = JSON.stringify(transition);
    const events = transition.events.length;
    this.log({ is: "acked", seq: seq + 1, events, payload: digest(payload) });
    this.transitions++;
    if (this.isDue("after")) this.die("after");
    await this.afterEach();
    return appended;
  }

  private isDue(how: Death["how"]): boolean {
    return this.death?.how === how && this.transitions >= this.death.at;
  }

  private die(how: Death["how"]): never {
    this.log({ is: "died", how, now: this.now });
    process.kill(process.pid, "SIGKILL");
    // The signal is on its way: nothing is done meanwhile.
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }

  /** What is read is counted, and a process may die with half a line written, or a file not renamed. */
  private watched(disk: Disk): Disk {
    const counted = (file: string, bytes: Buffer | undefined): Buffer | undefined => {
      this.read.files++;
      this.read[kindOf(file)] += bytes?.length ?? 0;
      return bytes;
    };
    return {
      ...disk,
      read: (file) => counted(file, disk.read(file)),
      readFrom: (file, offset) => counted(file, disk.readFrom(file, offset)),
      rename: (from, to) => {
        if (this.isDue("renaming")) this.die("renaming");
        return disk.rename(from, to);
      },
      openForAppend: async (file) => {
        const opened = await disk.openForAppend(file);
        return {
          ...opened,
          append: async (bytes) => {
            if (!this.isDue("torn")) return opened.append(bytes);
            await opened.append(bytes.subarray(0, bytes.length >> 1));
            return this.die("torn");
          },
        };
      },
    };
  }
}

export const digest = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 16);

/** Where a step runs tasks, an agent does all of it here: the plans of this world are runs of their own. */
const flows = builtInFlows.map((flow) => ({
  ...flow,
  steps: flow.steps.map((step) => {
    const { runs: _, tracker: __, ...plain } = step;
    return plain;
  }),
}));

/** Seven in the morning, where the team lives, of the day after: its limits are lifted then. */
export function nextMorning(now: number): number {
  const day = new Date(now);
  day.setDate(day.getDate() + (day.getHours() < 7 ? 0 : 1));
  day.setHours(7, 0, 0, 0);
  return day.getTime();
}

/** What became of a process that was to be killed. */
export function lastWord(log: string): Logged | undefined {
  const line = fs.readFileSync(log).subarray(-4096).toString().trimEnd().split("\n").at(-1);
  return line === undefined || line === "" ? undefined : (JSON.parse(line) as Logged);
}
