/**
 * Writes `schemas/` from the zod schemas and `docs/reference/` from the command table.
 * With `--check`, changes nothing and fails when a file is not what it would write.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import {
  DecideOutput,
  DecisionsOutput,
  DoctorOutput,
  ErrorOutput,
  MigrateOutput,
  StatusOutput,
} from "../src/cli/shapes.ts";
import { commandTable, environmentTable, exitCodeTable } from "../src/cli/table.ts";
import { Event } from "../src/core/event.ts";
import { generationTable } from "../src/core/flow/generations.ts";

const shapes = {
  status: StatusOutput,
  decisions: DecisionsOutput,
  decide: DecideOutput,
  doctor: DoctorOutput,
  migrate: MigrateOutput,
  error: ErrorOutput,
  event: Event,
};

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [
    `| ${head.join(" | ")} |`,
    `|${head.map(() => "---").join("|")}|`,
    ...rows.map((row) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`),
  ].join("\n");

function files(): Map<string, string> {
  const made = new Map<string, string>();
  for (const [name, shape] of Object.entries(shapes)) {
    const schema = { title: `autodev ${name}`, ...z.toJSONSchema(shape) };
    made.set(`schemas/${name}.schema.json`, `${JSON.stringify(schema, null, 2)}\n`);
  }
  made.set("docs/reference/commands.md", commands());
  made.set("docs/reference/state-file.md", stateFile());
  return made;
}

function commands(): string {
  const parts = commandTable.map((row) => {
    const usage = [row.name, ...(row.arguments ?? []).map(({ name }) => name)].join(" ");
    return [
      `## autodev ${usage}`,
      "",
      `${row.what[0]?.toUpperCase()}${row.what.slice(1)}.${row.aliases ? ` Also: ${row.aliases.map((alias) => `\`autodev ${alias}\``).join(", ")}.` : ""}`,
      "",
      ...(row.arguments
        ? [
            table(
              ["argument", "what"],
              row.arguments.map(({ name, what }) => [`\`${name}\``, what]),
            ),
            "",
          ]
        : []),
      table(
        ["option", "what"],
        (row.options ?? []).map(({ flags, what, choices }) => [
          `\`${flags}\``,
          choices ? `${what} (${choices.join(", ")})` : what,
        ]),
      ),
      "",
      ...(row.shape
        ? [`\`--json\`: [${row.shape}](../../schemas/${row.shape}.schema.json).`, ""]
        : []),
      "```",
      ...row.examples,
      "```",
    ].join("\n");
  });
  return [
    "# Commands",
    "",
    "Made from the command table; `autodev help` shows the same.",
    "",
    ...parts.flatMap((part) => [part, ""]),
    "## Exit codes",
    "",
    table(
      ["code", "meaning"],
      exitCodeTable.map(([code, what]) => [String(code), what]),
    ),
    "",
    "## Environment",
    "",
    table(
      ["variable", "meaning"],
      environmentTable.map(([name, what]) => [`\`${name}\``, what]),
    ),
    "",
  ].join("\n");
}

function stateFile(): string {
  const rows = generationTable.map((row) => [
    row.oldName ? `${row.name} (generation 1: ${row.oldName})` : row.name,
    row.flow,
    row.gen1.join(", ") || "–",
    [12, 13, 14].map((variant) => row.gen2[variant as 12 | 13 | 14] ?? "–").join(" / "),
    row.moved ? `– (→ ${row.gen3})` : row.gen3,
  ]);
  return [
    "# Steps by generation",
    "",
    "How the steps of a state file correspond, by name; the number breaks ties. Generation 2 had three",
    "step lists for existing code, of 12, 13 and 14 steps; `autodev migrate --to 2` writes the one with 13.",
    "",
    table(["name", "flow", "generation 1", "generation 2 (12 / 13 / 14)", "generation 3"], rows),
    "",
  ].join("\n");
}

const checking = process.argv.includes("--check");
let stale = 0;
for (const [file, text] of files()) {
  const now = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  if (now === text) continue;
  stale++;
  if (checking) console.log(`${file} is not up to date: npm run docs`);
  else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    console.log(`wrote ${file}`);
  }
}
if (checking && stale > 0) process.exitCode = 1;
