/** An agent in a place of its own, with a scripted model: what a case is played on. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type AgentName, agents, programOf, settle } from "./agents.ts";
import { makePlace, type Place } from "./place.ts";
import { type Header, type RecordedLine, recordingOf } from "./recording.ts";
import { type ResultServer, startResultServer } from "./result-server.ts";
import { type Reins, type Run, runProgram } from "./run-program.ts";
import { type ScriptedModel, startScriptedModel } from "./scripted-model.ts";
import { scripts } from "./scripts.ts";

export interface Turn {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** Without it the input is closed at once. */
  begin?(reins: Reins): void;
  /** A line of standard output. */
  onOutput?(line: string, reins: Reins): void;
}

export interface Played extends Run {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly all: readonly RecordedLine[];
}

export interface Stage {
  readonly agent: AgentName;
  readonly place: Place;
  readonly model: ScriptedModel;
  readonly results: ResultServer;
  play(turn: Turn): Promise<Played>;
  /** The file of a recording. */
  record(name: string, played: Played): string;
  leave(): Promise<void>;
}

export async function setStage(agent: AgentName, folder: string): Promise<Stage> {
  const place = makePlace();
  const [model, results] = [await startScriptedModel(scripts), await startResultServer()];
  const base = settle(agent, place, model.url);
  const { version } = agents[agent];
  return {
    agent,
    place,
    model,
    results,
    async play({ args, env = {}, timeoutMs = 60_000, begin, onOutput }) {
      const all: RecordedLine[] = [];
      const tapped = (reins: Reins): Reins => ({
        ...reins,
        send(line) {
          all.push({ stream: "in", text: line });
          reins.send(line);
        },
      });
      const run = await runProgram({
        program: programOf(agent, folder),
        args,
        cwd: place.tree,
        env: { ...base, ...env },
        timeoutMs,
        ...(begin && { begin: (reins: Reins) => begin(tapped(reins)) }),
        onLine(line, reins) {
          all.push(line);
          if (line.stream === "out") onOutput?.(line.text, tapped(reins));
        },
      });
      return { ...run, args, env, all };
    },
    record(name, { args, env, exit, signal, all }) {
      const header: Header = {
        agent,
        version,
        case: name,
        argv: [agent, ...args],
        ...(Object.keys(env).length > 0 && { env }),
        exit,
        signal,
      };
      const ports = [model.port, Number(new URL(results.url).port)];
      return recordingOf(header, all, { place, programs: join(folder, "node_modules"), ports });
    },
    async leave() {
      await Promise.all([model.close(), results.close()]);
      place.remove();
    },
  };
}

/** A file of the tree, such as the one by which a tool says that it runs. */
export async function appears(place: Place, name: string): Promise<void> {
  while (!existsSync(join(place.tree, name))) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  // A tool may run before its agent has said so.
  await new Promise((resolve) => setTimeout(resolve, 300));
}
