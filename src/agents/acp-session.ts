/** What an ACP session offers to be chosen, and what is chosen of it before the prompt. */
import type { AcpProfile } from "./acp-profiles.ts";
import { fieldsOf, wordsOf } from "./acp-wire.ts";
import type { Ask } from "./dialect.ts";
import { type Fields, listOf } from "./json-line.ts";

export interface Opened {
  readonly id: string;
  readonly model?: string;
  readonly modes: Choice;
  readonly models: Choice;
}

/** Agents offer the same in two ways: with a method for it, or as one of their options. */
interface Choice {
  readonly current?: string;
  readonly offered: readonly Offered[];
  /** Undefined: it cannot be chosen. */
  readonly set?: (value: string) => { readonly method: string; readonly params: object };
}

interface Offered {
  readonly value: string;
  readonly name?: string;
}

export interface Setting {
  readonly method: string;
  readonly params: object;
  /** Without it the work must not begin. */
  readonly isVital: boolean;
}

export function openedIn(result: Fields): Opened | undefined {
  const id = wordsOf(result.sessionId);
  if (id === undefined || id.length > mostOfId) return undefined;
  const { availableModes, currentModeId } = fieldsOf(result.modes);
  const { availableModels, currentModelId } = fieldsOf(result.models);
  const modes = among(availableModes, "id", currentModeId, (modeId) => ({
    method: "session/set_mode",
    params: { modeId },
  }));
  const models = among(availableModels, "modelId", currentModelId, (modelId) => ({
    method: "session/set_model",
    params: { modelId },
  }));
  const model = modelShown(models.set ? models : optionOf(result, "model"));
  return {
    id,
    ...(model !== undefined && { model }),
    modes: modes.set ? modes : optionOf(result, "mode"),
    // The option is the protocol's; the method never became a part of it.
    models: optionOf(result, "model").set ? optionOf(result, "model") : models,
  };
}

/** It is kept with the history of the run. */
const mostOfId = 500;

/** The settings that this work needs, or why it cannot have one. */
export function settingsFor(
  { modes, models }: Opened,
  profile: AcpProfile,
  ask: Ask,
): readonly Setting[] | string {
  const settings: Setting[] = [];
  if (ask.model !== undefined && !profile.model) {
    const found = models.offered.find(
      ({ value, name }) => value === ask.model || name === ask.model,
    );
    if (!found || !models.set) {
      const offered = models.offered.slice(0, 20).map(({ value }) => value);
      return `it does not offer the model ${ask.model}, only: ${offered.join(", ") || "none"}`;
    }
    if (found.value !== models.current)
      settings.push({ ...models.set(found.value), isVital: true });
  }
  const mode = profile.modes?.[ask.permission];
  const isOffered = modes.offered.some(({ value }) => value === mode);
  if (mode !== undefined && isOffered && modes.set && mode !== modes.current) {
    // Who may do everything may as well be asked; who may not must be.
    settings.push({ ...modes.set(mode), isVital: ask.permission !== "full" });
  }
  return settings;
}

function among(
  list: unknown,
  key: string,
  current: unknown,
  set: NonNullable<Choice["set"]>,
): Choice {
  const offered = listOf(list).flatMap((each) => offeredAs(each[key], each.name));
  if (offered.length === 0) return { offered };
  const now = wordsOf(current);
  return { offered, set, ...(now !== undefined && { current: now }) };
}

/** Options can stand in groups. */
function optionOf(result: Fields, category: string): Choice {
  const option = listOf(result.configOptions).find((each) => each.category === category);
  const configId = wordsOf(option?.id);
  if (!option || configId === undefined) return { offered: [] };
  const offered = listOf(option.options).flatMap((each) => [each, ...listOf(each.options)]);
  return among(offered, "value", option.currentValue, (value) => ({
    method: "session/set_config_option",
    params: { configId, value },
  }));
}

const offeredAs = (value: unknown, name: unknown): readonly Offered[] => {
  const id = wordsOf(value);
  const shown = wordsOf(name);
  return id === undefined ? [] : [{ value: id, ...(shown !== undefined && { name: shown }) }];
};

const modelShown = ({ current, offered }: Choice): string | undefined =>
  offered.find(({ value }) => value === current)?.name ?? current;
