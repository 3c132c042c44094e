/**
 * What a phase spells out so exactly that it can be done without anybody thinking: the content of
 * its files, diffs, commands. And what is missing, by name and line, where it does not.
 */
import { isDiff } from "./apply-diff.ts";
import type { DeclaredFile, Phase, Place, SpelledCommand } from "./plan.ts";

export type FileStep = { readonly path: string; readonly place: Place } & (
  | { readonly does: "write"; readonly text: string; readonly mustExist: boolean }
  /** `onto`: a diff that makes a file begins with nothing, whatever is there. */
  | {
      readonly does: "patch";
      readonly diffs: readonly string[];
      readonly onto: "nothing" | "file" | "either";
    }
  | { readonly does: "delete" }
);

export interface SpelledOut {
  readonly steps: readonly FileStep[];
  readonly commands: readonly SpelledCommand[];
  /** A sentence each; if there are any, the phase needs an agent that thinks. */
  readonly missing: readonly string[];
}

export function spelledOut(phase: Phase): SpelledOut {
  const read = phase.files.map((file) => ({ file, step: stepOf(file) }));
  // A file may be listed at the top and written out below.
  const written = new Set(
    read.flatMap(({ file, step }) => (typeof step === "string" ? [] : [pathOf(file)])),
  );
  const missing = read.flatMap(({ file, step }) =>
    typeof step !== "string" || (file.blocks.length === 0 && written.has(pathOf(file)))
      ? []
      : [`${file.path} (${at(file.place)}) ${step}`],
  );
  const steps = read.flatMap(({ step }) => (typeof step === "string" ? [] : [step]));
  if (steps.length === 0 && phase.commands.length === 0 && missing.length === 0) {
    missing.push(`phase ${phase.written} (${at(phase.place)}) spells out no file and no command`);
  }
  return { steps, commands: phase.commands, missing };
}

const at = ({ file, line }: Place): string => `${file}:${line}`;

/** Windows' separators are separators everywhere: a plan is read on any system. */
const pathOf = ({ path }: DeclaredFile): string =>
  path.replaceAll("\\", "/").replace(/^(?:\.\/)+/, "");

function stepOf(file: DeclaredFile): FileStep | string {
  const { change, blocks, place } = file;
  const path = pathOf(file);
  if (change === "delete") return { does: "delete", path, place };
  if (blocks.length === 0) return `is to be ${said[change]}, and what it holds is not written out`;
  const diffs = blocks.filter(({ info, text }) => isDiff(info, text)).map(({ text }) => text);
  const [whole, ...more] = blocks.filter(({ info, text }) => !isDiff(info, text));
  const patch = { does: "patch", path, place, diffs, onto: onto[change] } as const;
  if (change !== "modify") {
    return whole ? { does: "write", path, place, text: whole.text, mustExist: false } : patch;
  }
  if (diffs.length > 0) return patch;
  // One block may be the whole file; of several, which one would be a guess.
  if (whole && more.length === 0) {
    return { does: "write", path, place, text: whole.text, mustExist: true };
  }
  return `is to be modified, and none of the ${blocks.length} blocks below it is a diff`;
}

const onto = { create: "nothing", modify: "file", touch: "either" } as const;
const said = { create: "created", modify: "modified", touch: "written" } as const;
