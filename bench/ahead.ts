/**
 * Who is ahead of us, and what there is to say to that: the reason, and the plan. The figures say who
 * it is; reasons are people's, and whoever is ahead without one is told as such.
 */
import type { MeasuredGroup } from "./results.ts";
import type { ChartName } from "./row.ts";

interface Said {
  readonly why: string;
  readonly plan: string;
}

const compiledScheduler: Said = {
  why: "A compiled program that reads a graph and prints it. Most of ours is Node's own start; the rest reads Markdown, and folds five events a phase as a real run would.",
  plan: "It grows in line with the plan: the 10,000 phases stay within 11 × the 1,000.",
};

/** By the chart and the name, without its version. */
const said: Readonly<Record<`${ChartName}: ${string}`, Said>> = {
  "schedule-100: make -n": compiledScheduler,
  "schedule-100: ninja -n": compiledScheduler,
  "schedule-1000: make -n": compiledScheduler,
  "schedule-1000: ninja -n": compiledScheduler,
  "schedule-10000: make -n": compiledScheduler,
  "schedule-10000: ninja -n": compiledScheduler,
  "whole-run: its git commands, agents and gates alone": {
    why: "It is the limit: the same programs, started by a script that checks nothing and records nothing.",
    plan: "It stays within 1.5 × of it.",
  },
  "cold-start: bare node": {
    why: "It is the limit: our program is a Node program.",
    plan: "`status` stays within 8 ms of it.",
  },
  "cold-start: turbo": {
    why: "A compiled program; Node alone takes longer to start.",
    plan: "None: a second, compiled program for one command would be one more thing to keep true.",
  },
  "cold-start: @anthropic-ai/claude-code": {
    why: "A compiled program; Node alone takes longer to start.",
    plan: "None, as above.",
  },
  "verification: the same gates in a plain checkout": {
    why: "It is the limit: the gates are the most of it, and the rest is what makes their word good.",
    plan: "It stays within 1.3 × of it.",
  },
  "durable-step: append + fdatasync": {
    why: "It is the limit: a transition makes these calls, and then checks who holds the store, frames the record and folds it.",
    plan: "It stays within 1.3 × of it.",
  },
};

export interface Ahead extends Partial<Said> {
  readonly name: string;
  readonly ratio: number;
}

/** Beyond what two measurements of the same thing differ by. */
const clearly = 1.02;

export function aheadOf({ rows }: MeasuredGroup): Ahead[] {
  return rows.flatMap(({ figure, versus }) => {
    if (!versus || figure === null || figure <= clearly) return [];
    const { chart, theirs } = versus;
    const plainName = theirs.name.replace(/ \d+(?:\.\d+)+.*$/u, "");
    return [{ name: `${chart}: ${theirs.name}`, ratio: figure, ...said[`${chart}: ${plainName}`] }];
  });
}
