/**
 * Writes `schemas/` from the zod schemas, `docs/reference/` from the command table, `plugin/` from the
 * texts that `autodev init` writes, and the pages about what is promised and what was wrong.
 * With `--check`, changes nothing and fails when a file is not what it would write.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { groups } from "../bench/groups.ts";
import { latestResults, readResults } from "../bench/results.ts";
import {
  AgentsOutput,
  AgentsTestOutput,
  AuditOutput,
  BuildOutput,
  BuildPreviewOutput,
  CleanOutput,
  DecideOutput,
  DecisionsOutput,
  DetachOutput,
  DiffOutput,
  DoctorOutput,
  EngineMigrateOutput,
  ErrorOutput,
  ExampleListOutput,
  ExampleOutput,
  FleetLimitOutput,
  FleetLogOutput,
  FleetOutput,
  FleetPauseOutput,
  FlowActOutput,
  FlowCheckOutput,
  FlowGraphOutput,
  FlowListOutput,
  HelpErrorsOutput,
  InitOutput,
  MigrateOutput,
  NextOutput,
  PhaseLogOutput,
  PlanCheckOutput,
  PlanGraphOutput,
  PlanImportOutput,
  PlanNewOutput,
  PlanTickOutput,
  RetryOutput,
  ShellOutput,
  SkillsCheckOutput,
  SkillsEjectOutput,
  SkillsListOutput,
  SkillsShowOutput,
  StatusOutput,
  StopOutput,
  TrackerOutput,
  TrackerSyncOutput,
  TrackerToolsOutput,
  TrustOutput,
  UiOutput,
  WorkerOutput,
} from "../src/cli/shapes.ts";
import {
  commandTable,
  environmentTable,
  exitCodeTable,
  givenEnvironmentTable,
} from "../src/cli/table.ts";
import { catalogue, troubleGroups } from "../src/core/errors/catalogue.ts";
import { Event } from "../src/core/event.ts";
import { Evidence } from "../src/core/evidence.ts";
import type { Flow, Step } from "../src/core/flow/flow.ts";
import { FlowFile, flowFileParts, probeFileParts } from "../src/core/flow/flow-file.ts";
import { builtInFlows } from "../src/core/flow/flows/index.ts";
import { generationTable } from "../src/core/flow/generations.ts";
import { doerOf, loopOf, marksOf, proofOf } from "../src/core/flow/in-words.ts";
import { pluginFiles } from "../src/core/host/plugin.ts";
import { Notice } from "../src/core/notice.ts";
import { PhaseFile, RunConfigFile } from "../src/core/plan/phase-file.ts";
import { planFindingTable, planFormatTable } from "../src/core/plan/plan.ts";
import { AgentResult } from "../src/core/plan/result.ts";
import { statusMarks, statusWords } from "../src/core/plan/status.ts";
import { Settings, UserSettings } from "../src/core/settings.ts";
import { findingTable } from "../src/core/verification/finding-table.ts";
import { fullRecord, readRecord } from "../torture/record.ts";
import { rows } from "../torture/rows.ts";
import { figures } from "./figures.ts";
import { guarantees, sourcesIn } from "./guarantees.ts";
import { faultsFile, readFaults, trackRecord } from "./track-record.ts";

const shapes = {
  status: StatusOutput,
  next: NextOutput,
  "flow-act": FlowActOutput,
  decisions: DecisionsOutput,
  decide: DecideOutput,
  ui: UiOutput,
  fleet: FleetOutput,
  "fleet-pause": FleetPauseOutput,
  "fleet-limit": FleetLimitOutput,
  "fleet-log": FleetLogOutput,
  worker: WorkerOutput,
  "engine-migrate": EngineMigrateOutput,
  diff: DiffOutput,
  clean: CleanOutput,
  doctor: DoctorOutput,
  migrate: MigrateOutput,
  flow: FlowFile,
  "flow-list": FlowListOutput,
  "flow-check": FlowCheckOutput,
  "flow-graph": FlowGraphOutput,
  "skills-list": SkillsListOutput,
  "skills-show": SkillsShowOutput,
  "skills-check": SkillsCheckOutput,
  "skills-eject": SkillsEjectOutput,
  "plan-check": PlanCheckOutput,
  "plan-graph": PlanGraphOutput,
  "plan-import": PlanImportOutput,
  "plan-new": PlanNewOutput,
  "plan-tick": PlanTickOutput,
  build: BuildOutput,
  "build-detach": DetachOutput,
  stop: StopOutput,
  retry: RetryOutput,
  example: ExampleOutput,
  "example-list": ExampleListOutput,
  shell: ShellOutput,
  trust: TrustOutput,
  init: InitOutput,
  agents: AgentsOutput,
  "agents-test": AgentsTestOutput,
  tracker: TrackerOutput,
  "tracker-sync": TrackerSyncOutput,
  "tracker-tools": TrackerToolsOutput,
  audit: AuditOutput,
  evidence: Evidence,
  "build-dry-run": BuildPreviewOutput,
  "autobuild-config": RunConfigFile,
  "autobuild-phase": PhaseFile,
  "agent-result": AgentResult,
  config: Settings,
  "user-config": UserSettings,
  notice: Notice,
  error: ErrorOutput,
  "help-errors": HelpErrorsOutput,
  event: Event,
  "phase-log": PhaseLogOutput,
};

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [
    `| ${head.join(" | ")} |`,
    `|${head.map(() => "---").join("|")}|`,
    ...rows.map((row) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`),
  ].join("\n");

/** A line of `log --json`: the event with its place in history; a newer release may add keys. */
function asPrinted(schema: z.core.JSONSchema.JSONSchema): object {
  const place = {
    version: { const: 1 },
    seq: { type: "integer" },
    at: { type: "string" },
    run: { type: "string" },
  };
  const kinds = (schema.oneOf ?? schema.anyOf ?? []) as z.core.JSONSchema.JSONSchema[];
  const { oneOf: _, anyOf: __, ...rest } = schema;
  return {
    ...rest,
    anyOf: kinds.map(({ additionalProperties: ___, ...kind }) => ({
      ...kind,
      properties: { ...place, ...kind.properties },
      required: [...Object.keys(place), ...(kind.required ?? [])],
    })),
  };
}

function files(): Map<string, string> {
  const made = new Map<string, string>();
  for (const [name, shape] of Object.entries(shapes)) {
    const own = z.toJSONSchema(shape);
    const schema = { title: `autodev ${name}`, ...(name === "event" ? asPrinted(own) : own) };
    made.set(`schemas/${name}.schema.json`, `${JSON.stringify(schema, null, 2)}\n`);
  }
  made.set("docs/reference/commands.md", commands());
  made.set("docs/reference/state-file.md", stateFile());
  made.set("docs/reference/flows.md", flows());
  made.set("docs/reference/plans.md", plans());
  made.set("docs/reference/verification.md", verification());
  made.set("docs/reference/errors.md", errors());
  const promised = { rows, record: readRecord(fullRecord), sourceOf: sourcesIn("torture") };
  made.set("docs/guarantees.md", guarantees(promised));
  made.set("docs/figures.md", figures({ results: readResults(latestResults), groups }));
  made.set("docs/track-record.md", trackRecord(readFaults(readFileSync(faultsFile, "utf8"))));
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  for (const [file, text] of pluginFiles(version)) made.set(`plugin/${file}`, text);
  return made;
}

const schemaLink = (name: string): string => `[${name}](../../schemas/${name}.schema.json)`;

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
      ...(row.shape ? [`\`--json\`: ${[row.shape].flat().map(schemaLink).join(", ")}.`, ""] : []),
      "```",
      ...row.examples,
      "```",
    ].join("\n");
  });
  return [
    "# Commands",
    "",
    "Made from the command table; `autodev help` shows the same. What an error means: [errors.md](errors.md).",
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
    "What is set for agents, gates and a `notify.command`:",
    "",
    table(
      ["variable", "meaning"],
      givenEnvironmentTable.map(([name, what]) => [`\`${name}\``, what]),
    ),
    "",
  ].join("\n");
}

function flows(): string {
  return [
    "# Flows: the built-in ones, and the keys of a flow file",
    "",
    "Generated by `npm run docs`. `autodev flow graph` draws the same. How to write one: [your own flow](../guides/your-own-flow.md).",
    "",
    ...builtInFlows.flatMap((flow) => [
      `## ${flow.name}`,
      "",
      `${flow.about[0]?.toUpperCase()}${flow.about.slice(1)}. Paths are below \`_docs/\`.`,
      "",
      table(
        ["step", "name", "skill", "mode", "proved by", "then"],
        flow.steps.map((step) => [
          step.step,
          [step.name, ...marksOf(step).map((mark) => `(${mark})`)].join(" "),
          step.skill ?? doerOf(step),
          step.mode ?? "",
          proofOf(step, inCode) ?? (step.rests ? "" : "only the state"),
          thenOf(flow, step),
        ]),
      ),
      "",
      ...(flow.onward
        ? [`After its end: ${flow.onward.flow}, from step ${flow.onward.step} on.`, ""]
        : []),
    ]),
    "## A flow file",
    "",
    `In \`.autodev/flows/\`, as YAML. The schema for editors: ${schemaLink("flow")}.`,
    "",
    ...Object.entries(flowFileParts).flatMap(([part, schema]) => [
      `### ${partTitles[part as keyof typeof flowFileParts]}`,
      "",
      keyTable(schema.shape),
      "",
    ]),
    "### A probe",
    "",
    "What proves a step: one of these. Paths are below `_docs/`; `*` is anything but a slash, `{cycle}` the number of the",
    "cycle. A regular expression is looked for without regard to case, in any line; `(?=…)`, `(?<=…)` and `\\1` are not understood.",
    "",
    table(
      ["key", "what"],
      probeFileParts.map((schema) => [
        Object.keys(schema.shape)
          .map((key) => `\`${key}\``)
          .join(", "),
        Object.values(schema.shape)
          .map((field) => field.description ?? "")
          .join(" "),
      ]),
    ),
    "",
  ].join("\n");
}

const partTitles: Readonly<Record<keyof typeof flowFileParts, string>> = {
  flow: "The flow",
  step: "A step",
  applies: "`applies`: a condition",
  runs: "`runs`: tasks that are run as a plan",
  then: "`then`: what follows",
  boundary: "`boundary`: where a session ends",
  confirms: "`confirms`: a person's own step",
  onward: "`onward`: after the end",
};

const inCode = (text: string): string => `\`${text}\``;

const keyTable = (shape: Readonly<Record<string, z.ZodType>>): string =>
  table(
    ["key", "what"],
    Object.entries(shape).map(([key, field]) => [
      `\`${key}\`${field instanceof z.ZodExactOptional ? "" : " (needed)"}`,
      field.description ?? "",
    ]),
  );

function thenOf(flow: Flow, step: Step): string {
  const { boundary, cycle, step: to } = step.then ?? {};
  const loop = loopOf(flow, step);
  return [
    ...(boundary ? [`boundary: ${boundary.title}, next: ${boundary.next}`] : []),
    ...(loop === undefined ? (to === undefined ? [] : [to]) : [`back to ${loop}`]),
    ...(cycle ? ["a new cycle"] : []),
  ].join(", ");
}

function plans(): string {
  const marksOf = (status: string): string =>
    statusMarks.flatMap(([mark, each]) => (each === status ? [mark] : [])).join(" ");
  return [
    "# Plans: formats, statuses, findings",
    "",
    "Generated by `npm run docs`. How a plan is read is told in [plans.md](../plans.md).",
    "",
    "## Formats",
    "",
    table(
      ["format", "a phase is", "its tasks are"],
      planFormatTable.map(([name, phase, tasks]) => [`\`${name}\``, phase, tasks]),
    ),
    "",
    "## Statuses",
    "",
    "A legend of the document's own comes before ours. A mark with words beside it goes by the words,",
    "except ✅ ☑ ✔ ✓ ⬜ ☐ 🔲 🔄, which mean one thing only.",
    "",
    table(
      ["status", "marks", "words"],
      statusWords.map(([status, words]) => [status, marksOf(status), words.join(", ")]),
    ),
    "",
    "## Findings",
    "",
    table(
      ["code", "level", "what"],
      planFindingTable.map(([code, level, what]) => [`\`${code}\``, level, what]),
    ),
    "",
  ].join("\n");
}

function verification(): string {
  const rows = (fails: boolean) =>
    findingTable
      .filter(([, type]) => (type !== null) === fails)
      .map(([code, type, what]) => [
        `\`${code}\``,
        ...(fails ? [type === "gate" ? "by the gate" : `\`${type ?? ""}\``] : []),
        what,
      ]);
  return [
    "# Verification: findings",
    "",
    "Generated by `npm run docs`. How a phase is verified is told in [verification.md](../verification.md).",
    "",
    "## A phase fails with",
    "",
    "Worst first: the first that is found gives the failed attempt its kind (`error.type`).",
    "",
    table(["code", "error", "what"], rows(true)),
    "",
    "## What is only noted",
    "",
    table(["code", "what"], rows(false)),
    "",
  ].join("\n");
}

function errors(): string {
  const titled = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`;
  const listed = (lines: readonly string[]): string[] => lines.map((line) => `- ${line}`);
  const groups = Object.entries(troubleGroups).map(([group, title]) => {
    const rows = catalogue.filter((each) => each.group === group);
    return [
      `## ${titled(title)}`,
      "",
      ...rows.flatMap(({ code, what, causes, wayOut, exit, remark }) => [
        `### \`${code}\``,
        "",
        `${titled(what)}. ${endOf(exit, remark)}`.trimEnd(),
        "",
        "Usual causes:",
        "",
        ...listed(causes),
        "",
        "What to do:",
        "",
        ...listed(wayOut),
        "",
      ]),
    ].join("\n");
  });
  return [
    "# Errors",
    "",
    "Generated by `npm run docs`. `autodev help <code>` prints the same, `autodev help errors --json` all of it",
    "([schema](../../schemas/help-errors.schema.json)). By exit code: [troubleshooting](../troubleshooting.md).",
    "",
    ...groups,
  ].join("\n");
}

function endOf(exit: number | null, remark: string | undefined): string {
  if (exit === null) return remark === undefined ? "" : `(${remark})`;
  return `Exit code ${exit}${remark === undefined ? "" : `, ${remark}`}.`;
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
