import { existsSync } from "node:fs";
import { join } from "node:path";
import { crossCheck } from "../core/flow/cross-check.ts";
import { flowNamed } from "../core/flow/flows/index.ts";
import { stateFileNames } from "../core/flow/state-names.ts";
import type { Snapshot } from "../store.ts";
import type { Look } from "./hold.ts";
import { survey } from "./survey.ts";

/**
 * What `look` would say if the file is exactly as it was left and nobody is asked anything.
 * Undefined in every other case: this never judges, it only recognises.
 */
export function lookFrom(
  snapshot: Snapshot,
  readProjection: (file: string) => string | undefined,
): Look | undefined {
  const { state, rendered, head } = snapshot;
  if (!state.flow || !state.stateFile || !rendered) return undefined;
  const decisions = Object.values(state.decisions);
  if (decisions.some(({ answer, withdrawn }) => !answer && withdrawn === undefined))
    return undefined;
  const files: { path: string; text: string }[] = [];
  for (const name of stateFileNames) {
    const path = `_docs/${name}`;
    const text = readProjection(path);
    if (text === undefined) continue;
    if (path !== rendered.path || text !== rendered.text) return undefined;
    files.push({ path, text });
  }
  if (files.length === 0) return undefined;
  const { generation, variant } = state.stateFile;
  return {
    state,
    head,
    rendered,
    here: {
      source: "state",
      state: state.flow,
      generation,
      variant,
      corrections: [],
      verdict: { is: "as-recorded" },
      bothNames: false,
      files,
    },
  };
}

/** What lies in the folders says nothing else; false: it does, or only a whole look can tell. */
export function foldersAgree(root: string, { state, here }: Look): boolean {
  const flow = flowNamed(here.state.flow);
  if (!flow || existsSync(join(root, ".autodev", "flows"))) return false;
  return (
    crossCheck(flow, here.state, state.course, survey(root, [flow], { quick: true })).is ===
    "agrees"
  );
}
