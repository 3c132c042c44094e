/** `autodev init`: known to the agents that people work inside of, and gone again without a trace. */
import { isReadByAny } from "../../core/agent/known.ts";
import type { Question } from "../../core/decision.ts";
import { fail, type Result, succeed } from "../../core/failure.ts";
import { type HostName, hostNames, hosts } from "../../core/host/hosts.ts";
import type { AutobuildChoice } from "../../core/host/wanted.ts";
import { nearest } from "../../core/nearest.ts";
import {
  type HostFiles,
  hostFilesOf,
  type InitRequest,
  openProject,
  type PlannedFile,
} from "../../project.ts";
import { print, printError, printJson } from "../output.ts";
import { type AskOptions, askerFor, openRepository } from "../prompt.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { fileLines, noteLines, outputOf } from "../render/init.ts";
import { styleFor } from "../render/style.ts";

export interface InitOptions extends AskOptions {
  hosts?: string;
  autobuild?: AutobuildChoice;
  remove?: boolean;
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
  color?: boolean;
}

export async function run(options: InitOptions): Promise<number> {
  const done = await initialise(options);
  if (!done.ok) return reportFailure(done.failure, options.json === true);
  const { files, request, planned } = done.value;
  const notes = notesOf(files, request, planned);
  const style = styleFor(options.color);
  if (options.json) printJson(outputOf(files.root, request, planned, notes, options));
  else {
    for (const line of fileLines(planned, options.dryRun === true, style)) print(line);
    for (const line of noteLines(request, planned, options)) print(line);
    for (const note of notes) printError(note);
  }
  const isLeft = planned.some(({ outcome }) => outcome.is === "left");
  return isLeft && !options.dryRun ? exitCodes.blocked : exitCodes.finished;
}

interface Initialised {
  readonly files: HostFiles;
  readonly request: InitRequest;
  readonly planned: readonly PlannedFile[];
}

async function initialise(options: InitOptions): Promise<Result<Initialised>> {
  const named = namesIn(options.hosts);
  if (!named.ok) return named;
  const project = options.dryRun
    ? succeed(openProject(process.cwd()))
    : await openRepository(options);
  if (!project.ok) return project;
  const files = hostFilesOf(project.value);
  if (!files.ok) return files;
  const request = options.remove
    ? succeed<InitRequest>({ do: "take", hosts: named.value ?? hostNames, autobuild: "ignore" })
    : await requestOf(files.value, named.value, options);
  if (!request.ok) return request;
  const planned = options.dryRun
    ? files.value.plan(request.value)
    : await files.value.write(request.value);
  return planned.ok
    ? succeed({ files: files.value, request: request.value, planned: planned.value })
    : planned;
}

function namesIn(given: string | undefined): Result<readonly HostName[] | undefined> {
  if (given === undefined) return succeed(undefined);
  const names = given.split(",").map((name) => name.trim().toLowerCase());
  const strange = names.find((name) => !isHost(name));
  if (strange === undefined) return succeed(hostNames.filter((name) => names.includes(name)));
  const [near] = nearest(strange, hostNames);
  return fail("usage", `--hosts: there is no host "${strange}"`, {
    hint: near === undefined ? `there are ${hostNames.join(", ")}` : `did you mean ${near}?`,
  });
}

const isHost = (name: string): name is HostName => hostNames.some((each) => each === name);

// ── what people are asked ──────────────────────────────────────────────────────────────────────

/** By what was typed, by what was found where nobody wants to be asked, or by people. */
async function requestOf(
  files: HostFiles,
  named: readonly HostName[] | undefined,
  options: InitOptions,
): Promise<Result<InitRequest>> {
  const silent = options.yes === true || options.dryRun === true;
  const found = files.seen.map(({ name }) => name);
  const chosen = await chooseHosts(files, silent ? (named ?? found) : named, options);
  if (!chosen.ok) return chosen;
  const names = chosen.value;
  if (names === undefined) return nobody(files, options);
  if (names.length === 0) {
    return fail("usage", "no host was found here, neither by its files nor on PATH", {
      hint: `name them: autodev init --hosts ${hostNames.join(",")}`,
    });
  }
  let autobuild = options.autobuild ?? files.autobuild ?? (silent ? "ignore" : undefined);
  if (autobuild === undefined) {
    const answer = await ask(autobuildQuestion(files.root), options);
    if (!answer.ok) return answer;
    if (answer.value === undefined) return nobody(files, options, names);
    autobuild = answer.value === "A" ? "ignore" : "track";
  }
  const request: InitRequest = { do: "put", hosts: names, autobuild };
  return silent ? succeed(request) : replacing(files, request, options);
}

/** Undefined: nobody was there to choose. */
async function chooseHosts(
  files: HostFiles,
  named: readonly HostName[] | undefined,
  options: InitOptions,
): Promise<Result<readonly HostName[] | undefined>> {
  if (named) return succeed(named);
  const answer = await ask(hostsQuestion(files), options);
  if (!answer.ok) return answer;
  if (answer.value === undefined) return succeed(undefined);
  const isFound = answer.value === "A" && files.seen.length > 0;
  return succeed(isFound ? files.seen.map(({ name }) => name) : hostNames);
}

/** What differs from ours stays, unless a person says otherwise. */
async function replacing(
  files: HostFiles,
  request: InitRequest,
  options: InitOptions,
): Promise<Result<InitRequest>> {
  const [kept, replaced] = [files.plan(request), files.plan({ ...request, replace: true })];
  // Whatever is wrong is said when it is written.
  if (!kept.ok || !replaced.ok) return succeed(request);
  const others = kept.value.filter(
    ({ outcome }, at) => outcome.is === "left" && replaced.value[at]?.outcome.is !== "left",
  );
  if (others.length === 0) return succeed(request);
  const answer = await ask(replaceQuestion(files.root, others), options);
  if (!answer.ok) return answer;
  return succeed({ ...request, replace: answer.value === "B" });
}

/** The key of the answer; undefined: nobody is there. */
async function ask(question: Question, options: InitOptions): Promise<Result<string | undefined>> {
  const answer = await askerFor(options)({ ...question, id: question.kind }, () => undefined);
  const chosen = question.options.find(({ key }) => answer.ok && key === answer.value);
  return chosen?.text === stop.text
    ? fail("interrupted", "stopped, as asked; nothing was written")
    : answer;
}

function nobody(
  files: HostFiles,
  options: InitOptions,
  names: readonly HostName[] = files.seen.map(({ name }) => name),
): Result<never> {
  const autobuild = options.autobuild ?? files.autobuild ?? "ignore";
  const planned = names.length > 0 && files.plan({ do: "put", hosts: names, autobuild });
  if (planned && !planned.ok) return planned;
  return fail("usage", "there is nobody to ask here, so nothing was written", {
    details: planned ? fileLines(planned.value, false, styleFor(false)) : [],
    hint: `autodev init --yes --hosts ${(names.length > 0 ? names : hostNames).join(",")} --autobuild=${autobuild}`,
  });
}

const stop = { text: "Stop; nothing is written" };

function hostsQuestion({ root, seen }: HostFiles): Question {
  const found = seen.map(({ name, by }) => `${hosts[name].title} (${by})`);
  const all = `All that are known: ${hostNames.join(", ")}`;
  const texts = found.length > 0 ? [`Those that were found: ${found.join(", ")}`, all] : [all];
  const options = [...texts, stop.text].map((text, at) => ({ key: "ABC".charAt(at), text }));
  return {
    kind: "init-hosts",
    subject: root,
    cycle: 1,
    cause: found.join(),
    question: "inside of which agents shall autodev be called?",
    options,
    recommendation: "A",
    reason: "others can be added at any time: autodev init --hosts <names>",
    blocks: "everything that init writes",
  };
}

const autobuildQuestion = (root: string): Question => ({
  kind: "init-autobuild",
  subject: root,
  cycle: 1,
  cause: ".gitignore",
  question: "what a run shows in .autobuild/ — shall it go into git?",
  options: [
    { key: "A", text: "No: .gitignore keeps it out" },
    { key: "B", text: "Yes, but for its logs" },
    { key: "C", ...stop },
  ],
  recommendation: "A",
  reason: "it changes with every phase, and each commit has its evidence anyway",
  blocks: "everything that init writes",
});

const replaceQuestion = (root: string, others: readonly PlannedFile[]): Question => ({
  kind: "init-replace",
  subject: root,
  cycle: 1,
  cause: others.map(({ file }) => file).join(),
  question: `${others.length} of what would be written is there already, and differs — replace it?`,
  facts: others.map(({ file, outcome }) =>
    outcome.is === "left" ? `${file}:${outcome.line}: ${outcome.why}` : file,
  ),
  options: [
    { key: "A", text: "Leave it as it is, and write the rest" },
    { key: "B", text: "Replace it; what stands there now is gone" },
    { key: "C", ...stop },
  ],
  recommendation: "A",
  reason: "unless you know that nobody needs it",
  blocks: "everything that init writes",
  destructive: true,
});

// ── what else is to be known ───────────────────────────────────────────────────────────────────

function notesOf(
  { startable }: HostFiles,
  request: InitRequest,
  planned: readonly PlannedFile[],
): string[] {
  const changed = planned.filter(({ outcome }) => !["same", "left"].includes(outcome.is));
  const isObeyed = changed.some(({ file }) => isReadByAny(file));
  return [
    ...(isObeyed ? ["What agents obey here changes: a build asks for your trust again."] : []),
    ...(request.do === "put" && !startable
      ? [
          "There is no autodev on PATH: hosts start it by that name. npm link, in its folder, does it.",
        ]
      : []),
  ];
}
