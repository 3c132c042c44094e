/** A real agent as `autodev build` has it: made by `makeAgent`, run by `exec`, in a place of its own. */
import { mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Agent, AgentEvent, AgentOutcome, AgentRun } from "../src/agent.ts";
import { makeAgent } from "../src/agents/made.ts";
import { exec } from "../src/exec.ts";
import { openResultTool } from "../src/result-tool.ts";
import { type AgentName, agents, programOf, settle } from "./agents.ts";
import { makePlace, type Place, putFiles } from "./place.ts";

export interface Worker {
  readonly place: Place;
  readonly agent: Agent;
  /** A tree of its own for each work; `files` are in it. */
  work(asked: Work): Worked;
}

export interface Work {
  readonly text: string;
  readonly files?: Readonly<Record<string, string>>;
  /** Where an earlier work was done. */
  readonly tree?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly more?: Pick<AgentRun, "idleMs" | "resume">;
  readonly timeoutMs?: number;
}

export interface Worked {
  readonly tree: string;
  readonly events: readonly AgentEvent[];
  readonly ended: Promise<AgentOutcome>;
  stop(): void;
  kill(): void;
}

export const phase = "1";

export function makeWorker(name: AgentName, model: string): Worker {
  const place = makePlace();
  const programs = join(place.home, "bin");
  mkdirSync(programs);
  const settled = settle(name, place, model);
  symlinkSync(programOf(name, join(process.cwd(), "e2e")), join(programs, name));
  const agent = makeAgent(name, {
    settings: agents[name].settings,
    command: undefined,
    exec,
    openResultTool,
    moment: () => ({ now: new Date().toISOString(), zoneMinutes: 0 }),
    root: place.tree,
    phase: () => undefined,
    shell: () => undefined,
  });
  if (!agent) throw new Error(`there is no agent ${name}`);
  const closed = join(place.home, "project");
  mkdirSync(closed);
  return {
    place,
    agent,
    work({
      text,
      files = {},
      tree = mkdtempSync(join(place.tree, "work-")),
      env,
      more,
      timeoutMs,
    }) {
      putFiles(tree, files);
      const scratch = mkdtempSync(join(place.tmp, "scratch-"));
      const events: AgentEvent[] = [];
      const [stop, kill] = [new AbortController(), new AbortController()];
      const ended = agent.run(
        { phase, name: "The work", text, tasks: 1, attempt: 1 },
        {
          cwd: tree,
          scratch,
          env: { ...settled, PATH: `${programs}:${settled["PATH"]}`, ...env },
          timeoutMs: timeoutMs ?? 80_000,
          ...more,
          signal: stop.signal,
          killNow: kill.signal,
          // As in a build: the user's own project is closed, what it works in is open.
          access: [
            { path: closed, writable: false },
            { path: scratch, writable: true },
            { path: tree, writable: true },
          ],
          marker: `e2e-${name}`,
          emit: (event) => void events.push(event),
        },
      );
      return { tree, events, ended, stop: () => stop.abort(), kill: () => kill.abort() };
    },
  };
}
