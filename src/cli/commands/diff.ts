/** `autodev diff PHASE`: what a phase has changed, or is changing. */
import {
  openProject,
  type PhaseDiff,
  patchWithoutSecrets,
  phaseDiff,
  shown,
  shownLine,
} from "../../project.ts";
import { isOutputGone, print, printError, printJson } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { type Style, styleFor } from "../render/style.ts";
import type { DiffOutput } from "../shapes.ts";

interface Options {
  attempt?: number;
  stat?: boolean;
  json?: boolean;
  color?: boolean;
}

export async function run(phase: string, options: Options): Promise<number> {
  const json = options.json === true;
  const found = await phaseDiff(openProject(process.cwd()), phase, {
    ...(options.attempt !== undefined && { attempt: options.attempt }),
    patch: !json && options.stat !== true,
  });
  if (!found.ok) return reportFailure(found.failure, json);
  const diff = found.value;
  if (json) {
    printJson(outputOf(diff));
    return exitCodes.finished;
  }
  const style = styleFor(options.color);
  printError(style.dim(shown(title(diff))));
  if (diff.patch) printPatch(diff.patch, style);
  else for (const line of statLines(diff, style)) print(line);
  if (diff.files.length === 0) printError("It has changed nothing.");
  return exitCodes.finished;
}

/** With what to type for the bytes as they are: what is printed here is made safe to look at. */
function title({ history, record, base, commit }: PhaseDiff): string {
  const which = `phase ${history.written}, attempt ${record.attempt}`;
  if (commit === null) return `${which} is under way: what lies in its work tree now`;
  const from = base === `${commit}^` ? `${commit.slice(0, 10)}^` : base.slice(0, 10);
  return `${which}, ${record.how}: git diff ${from} ${commit.slice(0, 10)}`;
}

/** Coloured by us, line by line: git's colours could not be told from those in a file. */
function printPatch(patch: Buffer, style: Style): void {
  const mask = patchWithoutSecrets();
  let inHead = true;
  let waiting: string[] = [];
  let length = 0;
  const flush = (): void => {
    if (waiting.length > 0) print(waiting.join("\n"));
    waiting = [];
    length = 0;
  };
  for (let at = 0; at < patch.length && !isOutputGone(); ) {
    const end = patch.indexOf(10, at);
    const stop = end < 0 ? patch.length : end;
    const line = shownLine(mask(patch.toString("utf8", at, stop)));
    at = stop + 1;
    if (line.startsWith("diff --git ")) inHead = true;
    else if (line.startsWith("@@ ")) inHead = false;
    waiting.push(painted(line, inHead, style));
    length += line.length;
    if (length > 32 * 1024) flush();
  }
  flush();
}

function painted(line: string, inHead: boolean, style: Style): string {
  if (inHead) return style.bold(line);
  if (line.startsWith("@@ ")) return style.dim(line);
  if (line.startsWith("+")) return style.green(line);
  return line.startsWith("-") ? style.red(line) : line;
}

function statLines({ files }: PhaseDiff, style: Style): string[] {
  if (files.length === 0) return [];
  const names = files.map(({ path, from }) =>
    from === undefined ? shown(path) : `${shown(from)} → ${shown(path)}`,
  );
  const width = Math.min(60, Math.max(...names.map((name) => name.length)));
  const sum = (counts: readonly (number | null)[]): number =>
    counts.reduce<number>((total, count) => total + (count ?? 0), 0);
  const added = sum(files.map((file) => file.added));
  const deleted = sum(files.map((file) => file.deleted));
  return [
    ...files.map((file, at) => {
      const counts =
        file.added === null
          ? "no text"
          : `${style.green(`+${file.added}`)} ${style.red(`-${file.deleted ?? 0}`)}`;
      return `  ${file.change}  ${(names[at] ?? "").padEnd(width)}  ${counts}`;
    }),
    `${files.length} ${files.length === 1 ? "file" : "files"}, +${added} -${deleted}`,
  ];
}

const outputOf = ({ history, record, base, commit, files }: PhaseDiff): DiffOutput => ({
  version: 1,
  run: history.run.id,
  phase: history.id,
  name: history.name,
  attempt: record.attempt,
  how: record.how,
  base: base === `${commit ?? ""}^` ? null : base,
  commit,
  files: files.map((file) => ({ ...file })),
});
