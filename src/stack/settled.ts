/** What was detected, with what people settled in `.autodev/config.yaml`. */
import type { Gate, Stack } from "../core/plan/run-event.ts";
import type { Settings } from "../core/settings.ts";
import type { Dependencies, Detected } from "./detected.ts";

export interface SettledStack {
  readonly stack: Stack;
  readonly gates: Gate[];
  readonly setup?: string;
  /** Absent: nothing is known of what the set-up fills, so nothing of it can be kept. */
  readonly dependencies?: Dependencies;
}

/** What people settled wins; gates of their own come after the usual ones. */
export function settled(detected: Detected, settings: Settings): SettledStack {
  const { stack, dependencies } = detected;
  const own = settings.gates ?? {};
  const gates = detected.gates.map((gate) => {
    const command = own[gate.name];
    return command === undefined ? gate : ownGate(gate.name, command);
  });
  const others = Object.entries(own).filter(([name]) => !gates.some((gate) => gate.name === name));
  const setup = settings.setup ?? detected.setup;
  // A command of people's own may do more than fill folders: then it is run each time.
  const fills = setup === detected.setup || (setup !== undefined && onlyInstalls.test(setup));
  return {
    stack,
    gates: [...gates, ...others.map(([name, command]) => ownGate(name, command))],
    ...(setup !== undefined && { setup }),
    ...(fills && dependencies.folders.length > 0 && { dependencies }),
  };
}

const ownGate = (name: string, command: string | false): Gate =>
  command === false
    ? { name, command: null, reason: "dropped in .autodev/config.yaml" }
    : { name, command };

const onlyInstalls =
  /^(?:(?:npm|pnpm|yarn|bun) (?:ci|install)|(?:uv|pdm|pipenv) sync|poetry install|composer install|dotnet restore)(?: [^;&|<>`$()]*)?$/;
