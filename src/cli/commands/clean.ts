/** `autodev clean`: what autodev keeps on disk, and what of it goes. */
import { fail, type Result, succeed } from "../../core/failure.ts";
import { bytesIn, type Judged, type KeptKind, keptKinds, sizeText } from "../../core/keep.ts";
import { type Cleaned, cleanProject, shown } from "../../project.ts";
import { print, printError, printJson } from "../output.ts";
import { askerFor } from "../prompt.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { type Style, styleFor } from "../render/style.ts";
import type { CleanOutput } from "../shapes.ts";

interface Options {
  keepDays?: number;
  maxSize?: string;
  forceShells?: boolean;
  rescue?: boolean;
  dryRun?: boolean;
  yes?: boolean;
  input?: boolean;
  json?: boolean;
  color?: boolean;
}

export async function run(options: Options): Promise<number> {
  const json = options.json === true;
  const dryRun = options.dryRun === true;
  const mostBytes = options.maxSize === undefined ? undefined : bytesIn(options.maxSize);
  if (options.maxSize !== undefined && mostBytes === undefined) {
    const message = `--max-size: "${options.maxSize}" is no size`;
    return reportFailure({ code: "usage", message, hint: "--max-size 2GB" }, json);
  }
  const cleaned = await cleanProject(process.cwd(), {
    ...(options.keepDays !== undefined && { days: options.keepDays }),
    ...(mostBytes !== undefined && { mostBytes }),
    shells: options.forceShells === true,
    rescue: options.rescue === true,
    dryRun,
    confirm: (destroyed) => confirm(destroyed, options),
  });
  if (!cleaned.ok) return reportFailure(cleaned.failure, json);
  if (json) printJson(outputOf(cleaned.value, dryRun));
  else for (const line of report(cleaned.value, dryRun, styleFor(options.color))) print(line);
  for (const { thing, message } of json ? [] : cleaned.value.failed) {
    printError(`${shown(thing.name)}: ${shown(message)}`);
  }
  return cleaned.value.failed.length > 0 ? exitCodes.failure : exitCodes.finished;
}

/** There is no way back from this: somebody has to say so, here or on the command line. */
async function confirm(destroyed: readonly Judged[], options: Options): Promise<Result<void>> {
  if (options.yes) return succeed(undefined);
  const named = destroyed.map(({ thing }) => `  ${thing.name}, ${sizeText(thing.bytes)}`);
  const ask = askerFor({ ...(options.input !== undefined && { input: options.input }) });
  const answer = await ask(
    {
      id: "clean",
      kind: "clean",
      subject: "rescue",
      cycle: 1,
      cause: named.join("\n"),
      question: `${destroyed.length} of what would go may be somebody's work — remove it for good?`,
      options: [
        { key: "A", text: "Remove it", notes: named },
        { key: "B", text: "Stop; nothing is removed" },
      ],
      recommendation: "B",
      reason: "unless you know that nobody needs it",
      blocks: "everything that is to be removed",
      destructive: true,
    },
    () => undefined,
  );
  if (!answer.ok) return answer;
  if (answer.value === "A") return succeed(undefined);
  if (answer.value === "B") return fail("interrupted", "stopped, as asked; nothing was removed");
  return fail("usage", `${destroyed.length} of what would go may be somebody's work`, {
    details: named,
    hint: "if nobody needs it, say so: --yes",
  });
}

const words: Readonly<Record<KeptKind, string>> = {
  transcript: "transcripts",
  checkout: "verification checkouts",
  dependencies: "cached dependencies",
  shell: "work trees of autodev shell",
  "set-aside": "files of earlier runs",
  rescue: "set aside for you",
  run: "refs of runs",
};

function report({ remove, keep, removed }: Cleaned, dryRun: boolean, style: Style): string[] {
  if (remove.length + keep.length === 0) return ["autodev keeps nothing here that could go."];
  const gone = dryRun ? remove.map(({ thing }) => thing) : removed;
  const verb = dryRun ? "would go" : "removed";
  const lines = keptKinds.flatMap((kind) => {
    const going = gone.filter((thing) => thing.kind === kind);
    const staying = keep.filter(({ thing }) => thing.kind === kind);
    if (going.length + staying.length === 0) return [];
    const kept = staying.map(({ thing }) => thing);
    return [
      `${style.bold(words[kind])}: ${tally(going)} ${verb}, ${tally(kept)} kept`,
      // What is whose is not told by a number.
      ...(kind === "rescue" || kind === "shell" ? staying : []).map(({ thing, why }) =>
        style.dim(`  ${shown(thing.name)}, ${sizeText(thing.bytes)}: ${why}`),
      ),
      ...(dryRun ? remove.filter(({ thing }) => thing.kind === kind) : []).map(({ thing, why }) =>
        style.yellow(`  ${shown(thing.name)}, ${sizeText(thing.bytes)}: ${why}`),
      ),
    ];
  });
  const total = `${sizeText(sum(gone))} ${dryRun ? "would be freed" : "freed"}`;
  return [...lines, `${total}, ${sizeText(sum(keep.map(({ thing }) => thing)))} kept`];
}

const sum = (things: readonly { readonly bytes: number }[]): number =>
  things.reduce((total, { bytes }) => total + bytes, 0);

const tally = (things: readonly { readonly bytes: number }[]): string =>
  sum(things) > 0 ? `${things.length} (${sizeText(sum(things))})` : String(things.length);

function outputOf({ remove, keep, removed, failed }: Cleaned, dryRun: boolean): CleanOutput {
  const gone = dryRun ? remove : remove.filter(({ thing }) => removed.includes(thing));
  const view = ({ thing, why }: Judged): CleanOutput["kept"][number] => ({
    kind: thing.kind,
    name: thing.name,
    path: thing.place,
    bytes: thing.bytes,
    at: new Date(thing.at).toISOString(),
    why,
  });
  return {
    version: 1,
    dryRun,
    removed: gone.map(view),
    kept: keep.map(view),
    failed: failed.map(({ thing, message }) => ({ name: thing.name, message })),
    freedBytes: sum(gone.map(({ thing }) => thing)),
    keptBytes: sum(keep.map(({ thing }) => thing)),
  };
}
