/** `autodev shell PHASE`: the user's own shell, or command, in a work tree of what an attempt left. */
import * as fs from "node:fs";
import * as path from "node:path";
import { gatesOf } from "../../core/plan/progress.ts";
import {
  attached,
  enterShell,
  leaveShell,
  type OpenedShell,
  openProject,
  openShell,
  shown,
} from "../../project.ts";
import { isTerminal, printError, printJson } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { type Style, styleFor } from "../render/style.ts";
import type { ShellOutput } from "../shapes.ts";

interface Options {
  attempt?: number;
  json?: boolean;
  color?: boolean;
}

export async function run(
  phase: string,
  command: readonly string[],
  options: Options,
): Promise<number> {
  const json = options.json === true;
  const interactive = command.length === 0;
  if (interactive && !json && !(isTerminal(0) && isTerminal(1))) {
    return reportFailure(
      {
        code: "usage",
        message: "there is no terminal for a shell, and no command was given",
        hint: `autodev shell ${phase} -- npm test; or --json, which says where the work tree is`,
      },
      json,
    );
  }
  const opened = await openShell(openProject(process.cwd()), phase, options.attempt);
  if (!opened.ok) return reportFailure(opened.failure, json);
  const { tree } = opened.value;
  if (json) {
    const { phase: id, attempt, commit } = tree.mark;
    const output: ShellOutput = { version: 1, path: tree.path, phase: id, attempt, commit };
    printJson(output);
    return exitCodes.finished;
  }
  const style = styleFor(options.color);
  if (interactive) for (const line of introduction(opened.value, style)) printError(line);
  enterShell(tree);
  const { mark } = tree;
  const ended = await attached(interactive ? [ownShell()] : command, {
    cwd: tree.path,
    // As the gates have it.
    env: { AUTODEV_PHASE: mark.phase, AUTODEV_ATTEMPT: String(mark.attempt) },
  });
  const left = await leaveShell(tree);
  for (const line of farewell(opened.value, left, style)) printError(line);
  if ("notStarted" in ended) {
    const message = `${interactive ? ownShell() : command[0]} could not be started: ${ended.notStarted}`;
    return reportFailure({ code: "usage", message }, json);
  }
  // Of a shell it is the code of whatever was typed last: nobody means anything by it.
  return interactive ? exitCodes.finished : ended.code;
}

/** The user's; never a name that would be looked for in the folder where we are. */
function ownShell(): string {
  const { SHELL: named = "" } = process.env;
  try {
    if (!path.isAbsolute(named)) return "/bin/sh";
    fs.accessSync(named, fs.constants.X_OK);
    return named;
  } catch {
    return "/bin/sh";
  }
}

function introduction({ history, work }: OpenedShell, style: Style): string[] {
  const { record, commit } = work;
  const [why] = record.lines;
  const gates = gatesOf(history.run).flatMap(({ name, command }) =>
    command === null ? [] : [`${name}: ${command}`],
  );
  return [
    style.bold(shown(`Phase ${history.written}: ${history.name}`)),
    shown(
      `attempt ${record.attempt} ${record.how}${why === undefined ? "" : `: ${why}`} (${commit.slice(0, 10)})`,
    ),
    ...gates.map((gate) => style.dim(shown(`  gate ${gate}`))),
    style.dim("  exit leaves; what you have not changed is removed, what you have changed is kept"),
    style.dim(shown(`  autodev retry ${history.written} --note "…" has it tried again`)),
  ];
}

function farewell({ tree, history }: OpenedShell, left: string, style: Style): string[] {
  if (left === "removed") return [];
  const folder = shown(path.relative(process.cwd(), tree.path) || tree.path);
  if (left === "in-use") return [style.dim(`${folder} stays: somebody else is in it`)];
  const ways = [
    [`git -C ${folder} diff`, "shows them"],
    [`git -C ${folder} switch -c mend-${history.id}`, "to commit them there, and merge that"],
    [`autodev shell ${shown(history.written)} --attempt ${tree.mark.attempt}`, "goes back to it"],
    [`git worktree remove --force ${folder}`, "throws it away"],
  ] as const;
  const width = Math.max(...ways.map(([command]) => command.length));
  return [
    `${folder} is kept, with your changes:`,
    ...ways.map(([command, what]) => `  ${command.padEnd(width)}  ${style.dim(what)}`),
  ];
}
