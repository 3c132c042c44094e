/** `autodev example`: a project of ours in a folder of yours, and its plan run before your eyes. */
import * as fs from "node:fs";
import * as path from "node:path";
import type { Result } from "../../core/failure.ts";
import {
  type AuditedCommit,
  auditRange,
  type Built,
  type Example,
  type LandedCommit,
  landedCommits,
  makeExample,
  openPlan,
  shown,
} from "../../project.ts";
import { buildAndTell, exitCodeOf, summaryOf, tellSummary } from "../building.ts";
import { examples } from "../examples.ts";
import { print, printError, printJson, printJsonLine } from "../output.ts";
import { type AskOptions, answeredBy, trustAsker } from "../prompt.ts";
import { auditClosing, auditLines } from "../render/audit.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { graphLines } from "../render/plan.ts";
import { type Style, styleFor } from "../render/style.ts";
import type { ExampleListOutput, ExampleOutput } from "../shapes.ts";

interface Options extends AskOptions {
  list?: boolean;
  run?: boolean;
  json?: boolean;
  color?: boolean;
}

export async function run(
  name: string | undefined,
  given: string | undefined,
  options: Options,
): Promise<number> {
  const json = options.json === true;
  if (options.list) return list(json);
  const example = examples.find((each) => each.name === (name ?? examples[0]?.name));
  if (!example) {
    const known = examples.map((each) => each.name).join(", ");
    const message = `there is no example "${name}"`;
    return reportFailure({ code: "usage", message, hint: `known: ${known}` }, json);
  }
  const style = styleFor(options.color);
  const folder = path.resolve(given ?? `autodev-example-${example.name}`);
  const made = await makeExample(folder, example);
  if (!made.ok) return reportFailure(made.failure, json, { oneLine: true });
  const { project, commit: base, trusted } = made.value;
  const about = { name: example.name, folder, plan: example.plan, trusted, base };
  if (!json) tellMade(example, folder, trusted, style);
  const tell = (done: Pick<ExampleOutput, "build" | "commits" | "holds">): void =>
    printJsonLine({ version: 1, type: "example", ...about, ...done } satisfies ExampleOutput);
  if (options.run === false) {
    if (json) tell({ build: null, commits: [], holds: null });
    else for (const line of nextLines(example, folder, false)) print(line);
    return exitCodes.finished;
  }

  if (!json) print(`\n$ autodev build ${example.plan} --commit=auto`);
  const wanted = { plan: example.plan, commit: "auto", agent: "apply" } as const;
  const built = await buildAndTell(folder, wanted, options);
  if (!built.ok) return reportFailure(built.failure, json, { oneLine: true });
  if (!json) tellSummary(built.value, style);
  const commits = await landedCommits(project, built.value.run.landed);
  if (!commits.ok) return reportFailure(commits.failure, json, { oneLine: true });
  const receipt = await receiptOf(built.value, folder, commits.value, options, style);
  if (!receipt.ok) return reportFailure(receipt.failure, json, { oneLine: true });
  const holds = receipt.value;
  if (json) tell({ build: summaryOf(built.value), commits: commits.value, holds });
  else if (holds) for (const line of nextLines(example, folder, true)) print(line);
  else printError(`  in ${shown(nameOf(folder))}`);
  return holds === false ? exitCodes.failure : exitCodeOf(built.value.run);
}

function list(json: boolean): number {
  const listed = examples.map(({ name, what, plan }) => ({ name, what, plan }));
  if (json) printJson({ version: 1, examples: listed } satisfies ExampleListOutput);
  else {
    for (const { name, what } of listed) print(`${name.padEnd(12)}${what}`);
    print("\nautodev example <name> makes one in a new folder and runs its plan.");
  }
  return exitCodes.finished;
}

function tellMade(
  { what, plan, files }: Example,
  folder: string,
  trusted: boolean,
  style: Style,
): void {
  const count = Object.keys(files).length;
  print(`${what}.\n${count} files and a first commit are in ${shown(nameOf(folder))}`);
  if (!trusted) {
    printError("Hooks of yours would run in there as well: what runs is for you to approve.");
  }
  const opened = openPlan(folder, plan);
  print(`\n$ autodev plan graph ${plan}`);
  if (opened.ok) for (const line of graphLines(opened.value.compiled, style)) print(line);
}

/** What has landed, and the last of it checked once more; null: the run did not get that far. */
async function receiptOf(
  { run }: Built,
  folder: string,
  commits: readonly LandedCommit[],
  options: Options,
  style: Style,
): Promise<Result<boolean | null>> {
  const last = commits.at(-1);
  if (!last || run.ended !== "complete") return { ok: true, value: null };
  const json = options.json === true;
  if (!json) {
    print(`\n$ git log --oneline -${commits.length}`);
    for (const { commit, subject } of commits.toReversed())
      print(`${style.yellow(commit.slice(0, 7))} ${shown(subject)}`);
    print("\n$ autodev audit HEAD");
  }
  const audited = await auditRange(
    folder,
    { commits: last.commit, gates: true, gateMinutes: 10 },
    {
      askTrust: trustAsker(options),
      by: answeredBy(options),
      signal: new AbortController().signal,
      onCommit: (each) => {
        if (!json) for (const line of auditLines(each, style)) print(line);
      },
      tell: () => {},
    },
  );
  if (!audited.ok) return audited;
  if (!json) print(auditClosing(audited.value, style));
  const holds = (each: AuditedCommit): boolean => each.is === "ours" && each.holds;
  return { ok: true, value: audited.value.every(holds) };
}

/** What to type now. */
function nextLines({ name, plan }: Example, folder: string, ran: boolean): string[] {
  const build = `autodev build ${plan} --commit=auto`;
  const docs = path.join(__dirname, "..", "..", "docs", "plan-runs.md");
  return [
    "",
    ran ? "All of that is yours now:" : "It is yours now:",
    `  cd ${quoted(shown(nameOf(folder)))}`,
    ...(ran ? ["  git show, autodev log, and .autobuild/ tell what happened"] : [`  ${build}`]),
    "Break it: change a character of the code in a phase of the plan, and see the phase refused.",
    ...(ran ? [`  autodev example ${name} broken --no-run, edit and commit broken/${plan},`] : []),
    `  ${ran ? "then in there: " : "after git commit -a: "}${build}`,
    "Your own agent: leave the code out of the plan, and name a program in .autodev/config.yaml:",
    "  agents: { mine: { command: ./my-agent.sh } }",
    "Your own project: autodev plan new docs/feature-plan.md",
    ...(fs.existsSync(docs) ? [`All about runs: ${docs}`] : []),
  ];
}

/** As one would type it from here. */
function nameOf(folder: string): string {
  const relative = path.relative(process.cwd(), folder);
  return relative.startsWith("..") || path.isAbsolute(relative) ? folder : relative || ".";
}

const quoted = (name: string): string =>
  /^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
