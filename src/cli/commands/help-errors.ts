/** `autodev help errors`, `autodev help <code>`, `autodev help 4`: what an error means, and the way out. */
import {
  catalogue,
  type Explained,
  explanationsOf,
  suggestionsFor,
  type TroubleGroup,
  troubleGroups,
} from "../../core/errors/catalogue.ts";
import { shown } from "../../project.ts";
import { print, printJson } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import type { HelpErrorsOutput } from "../shapes.ts";
import { commandTable, exitCodeTable } from "../table.ts";

interface Options {
  json?: boolean;
}

export function run(topics: readonly string[], options: Options): number {
  const json = options.json === true;
  const topic = topics.join(" ");
  if (topic === "errors") return list(catalogue, json);
  if (topic === "exit-codes") return list([], json);
  const [, meaning] = exitCodeTable.find(([code]) => String(code) === topic) ?? [];
  if (meaning !== undefined) return exitCode(Number(topic), meaning, json);
  const found = explanationsOf(topic);
  if (found.length === 0) return nothing(topic, json);
  if (json) printJson(outputOf(found));
  else print(found.map(explanation).join("\n\n"));
  return exitCodes.finished;
}

function list(rows: readonly Explained[], json: boolean): number {
  if (json) {
    printJson(outputOf(rows));
    return exitCodes.finished;
  }
  const width = Math.max(...rows.map(({ code }) => code.length));
  for (const [group, title] of Object.entries(troubleGroups)) {
    print(`${title[0]?.toUpperCase()}${title.slice(1)}:`);
    for (const row of rows.filter((each) => each.group === group)) {
      print(`  ${row.code.padEnd(width)}  ${plain(row.what)}`);
    }
    print("");
  }
  print("autodev help <code> says why, and what to do.");
  return exitCodes.finished;
}

function exitCode(code: number, meaning: string, json: boolean): number {
  const rows = catalogue.filter((each) => each.exit === code);
  if (json) {
    printJson(outputOf(rows));
    return exitCodes.finished;
  }
  print(`exit code ${code}: ${meaning}`);
  const groups = Object.keys(troubleGroups) as TroubleGroup[];
  for (const group of groups) {
    const codes = rows.flatMap((each) => (each.group === group ? [each.code] : []));
    if (codes.length > 0) print(`\n${troubleGroups[group]}:\n  ${codes.join(", ")}`);
  }
  if (rows.length > 0) print("\nautodev help <code> says why, and what to do.");
  return exitCodes.finished;
}

function explanation({ code, group, what, causes, wayOut, exit, remark }: Explained): string {
  const ends = exit === null ? undefined : `exit code ${exit}`;
  const end = [ends, remark].filter((part) => part !== undefined).join(", ");
  return [
    `${code}: ${plain(what)}`,
    `  ${troubleGroups[group]}${end === "" ? "" : ` (${plain(end)})`}`,
    "",
    "Usual causes",
    ...causes.map((each) => `  - ${plain(each)}`),
    "",
    "What to do",
    ...wayOut.map((each) => `  - ${plain(each)}`),
  ].join("\n");
}

/** A terminal needs no marks around what is code. */
const plain = (text: string): string => text.replaceAll("`", "");

function nothing(topic: string, json: boolean): number {
  const names = commandTable.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  const isKnown = names.includes(topic);
  if (isKnown) {
    const message = `the help about ${topic} is for people only`;
    return reportFailure({ code: "usage", message, hint: `autodev help ${topic}` }, json);
  }
  const near = suggestionsFor(topic, [...names, "errors", "exit-codes", "environment"]);
  const hint =
    near.length === 0
      ? "autodev help lists the commands, autodev help errors the errors"
      : `did you mean: autodev help ${near.join(", ")}?`;
  const message = `there is no help about "${shown(topic)}"`;
  return reportFailure({ code: "usage", message, hint }, json);
}

const outputOf = (rows: readonly Explained[]): HelpErrorsOutput => ({
  version: 1,
  exitCodes: exitCodeTable.map(([code, what]) => ({ code, what })),
  errors: rows.map(({ code, group, what, causes, wayOut, exit, remark }) => ({
    code,
    group,
    what,
    causes: [...causes],
    wayOut: [...wayOut],
    exit,
    remark: remark ?? null,
  })),
});
