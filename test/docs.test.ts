/**
 * The documents are held to their word. Every command in them is typed, in a project that is in the
 * state which the document speaks of; what they show is compared with what is seen; links lead
 * somewhere; options, variables and codes that are named exist.
 *
 * A command that is in no story, and that no rule explains, is a failure.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { commandTable, environmentTable, givenEnvironmentTable } from "../src/cli/table.ts";
import { catalogue } from "../src/core/errors/catalogue.ts";
import { planOf } from "./build-rig.ts";
import { masked, packageRoot, readDocument, type Typed, typedIn } from "./document.ts";
import {
  atTerminal,
  binary,
  gitIn,
  makeFolder,
  makeRepo,
  plainEnvironment,
  type Ran,
  type Repo,
  repoAt,
  run,
  segmentsOf,
} from "./rig.ts";
import { makeScreen } from "./screen.ts";

const filesIn = (folder: string): string[] =>
  fs
    .readdirSync(path.join(packageRoot, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => path.join(folder, name));

const told = [
  "README.md",
  "CONTRIBUTING.md",
  ...filesIn("docs"),
  ...filesIn("docs/guides"),
  ...fs.readdirSync(path.join(packageRoot, "examples")).map((name) => `examples/${name}/README.md`),
];

// ── where a story begins ───────────────────────────────────────────────────────────────────────

const plan = "docs/feature-plan.md";

/** Each phase writes something new; 2A is wrong, where it is said so, until somebody leaves a note. */
const agent = `#!/bin/sh
file=src/part-$AUTODEV_PHASE.ts
mkdir -p src
echo "// part $AUTODEV_PHASE, $AUTODEV_RUN_ID" > "$file"
if [ -e hard ] && [ "$AUTODEV_PHASE" = 2a ] && ! grep -q 'asked to mind' "$AUTODEV_BRIEF"; then
  echo wrong > "$file"
fi
printf '{ "phase_id": "%s", "status": "complete", "tasks": { "total": 1, "completed": 1 },
  "commit_message": "feat: part %s" }' "$AUTODEV_PHASE" "$AUTODEV_PHASE" > "$AUTODEV_RESULT"
`;

const config = `agents:
  mine: { command: sh scripts/agent.sh }
gates:
  test: sh scripts/test.sh
`;

const gate = `[ ! -e red ] || { echo "it is red"; exit 1; }
! grep -rqx wrong src 2>/dev/null
`;

const specKit = `# Tasks: Login

## Phase 1: Setup

- [ ] T001 Create the project in src/
- [ ] T002 [P] Configure linting

## Phase 2: User Story 1

- [ ] T003 [US1] The form in src/form.ts
`;

/** As small as what the documents say of it allows: every phase that is run takes its time. */
const threePhases = planOf([
  { id: "1", parallel: [] },
  { id: "2A", needs: ["1"], parallel: ["2B"] },
  { id: "2B", needs: ["1"], parallel: ["2A"] },
]);

async function project(more: Readonly<Record<string, string>> = {}): Promise<Repo> {
  const repo = makeRepo({
    "scripts/agent.sh": agent,
    "scripts/test.sh": gate,
    ".autodev/config.yaml": config,
    "specs/001-login/tasks.md": specKit,
    [plan]: threePhases,
    ...more,
  });
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "--message=project");
  return repo;
}

async function ends(code: number, ran: Promise<Ran>): Promise<Ran> {
  const done = await ran;
  expect(done.code, done.all).toBe(code);
  return done;
}

const hashIn = ({ all }: Ran): string => /[0-9a-f]{64}/.exec(all)?.[0] ?? "";

/** What would run, by where a story begins: where nothing is left to do, no agent is among it. */
const hashes = new Map<string, string>();

/** As a person at a terminal would have approved it. */
async function trust(repo: Repo, where = "a project"): Promise<void> {
  const hash = hashes.get(where) ?? hashIn(await repo.autodev("trust", plan));
  hashes.set(where, hash);
  await ends(0, repo.autodev("trust", plan, "--sha256", hash));
}

const build = (repo: Repo, ...args: string[]): Promise<Ran> => repo.autodev("build", plan, ...args);

async function after(make: Promise<Repo>, code: number, ...args: readonly string[]): Promise<Repo> {
  const repo = await make;
  await trust(repo);
  await ends(code, build(repo, ...args));
  return repo;
}

interface Start {
  /** Made once; each story gets a copy. */
  readonly make: () => Promise<Repo>;
  /** `false`: nothing is approved yet. */
  readonly trusted?: false;
  /** In the copy. */
  readonly prepare?: (repo: Repo) => Promise<void> | void;
}

const starts: Readonly<Record<string, Start>> = {
  "an empty folder": { make: async () => repoAt(makeFolder("empty")), trusted: false },
  "a project that nobody trusts yet": { make: project, trusted: false },
  "a project": { make: project },
  "a run that is complete": { make: () => after(project(), 0, "--commit=auto") },
  "a run that ended half-way": { make: () => after(project(), 0, "--commit=auto", "--only", "1") },
  "a run that has halted": { make: () => after(project({ hard: "" }), 4, "--commit=auto") },
  "a red baseline": { make: () => after(project({ red: "" }), 3, "--commit=auto") },
  "changes that are not committed": {
    make: project,
    prepare: (repo) => repo.write("README.md", "# Changed\n"),
  },
  "a damaged journal": {
    make: () => original("a run that is complete"),
    prepare(repo) {
      const [segment = ""] = segmentsOf(repo);
      const bytes = fs.readFileSync(segment);
      const middle = bytes.length >> 1;
      bytes[middle] = (bytes[middle] ?? 0) ^ 1;
      fs.writeFileSync(segment, bytes);
    },
  },
  "a clone of a project": {
    make: project,
    trusted: false,
    prepare(repo) {
      const origin = makeFolder("origin");
      gitIn(origin)("init", "--quiet", "--bare", "--initial-branch=main");
      repo.git("remote", "add", "origin", origin);
      repo.git("push", "--quiet", "origin", "main");
    },
  },
};

const startOf = (name: string): Start => {
  const start = starts[name];
  if (!start) throw new Error(`nothing begins with "${name}"`);
  return start;
};

const made = new Map<string, Promise<Repo>>();

function original(name: string): Promise<Repo> {
  let repo = made.get(name);
  if (!repo) made.set(name, (repo = startOf(name).make()));
  return repo;
}

async function begin(name: string): Promise<Repo> {
  const { trusted, prepare } = startOf(name);
  const root = path.join(makeFolder("story"), "project");
  fs.cpSync((await original(name)).root, root, { recursive: true, preserveTimestamps: true });
  const repo = repoAt(root);
  // Approvals are bound to the place.
  if (trusted !== false) await trust(repo, name);
  await prepare?.(repo);
  return repo;
}

// ── the stories ────────────────────────────────────────────────────────────────────────────────

interface Exception {
  /** What it ends with, if not with 0. */
  readonly code?: number;
  readonly why: string;
  /** What a person does before it, by hand. */
  readonly before?: (repo: Repo) => void;
  readonly terminal?: true;
}

interface Story {
  readonly start: string;
  /** Under these headings it begins anew. */
  readonly under?: Readonly<Record<string, string>>;
  /** Several: the first time, the second time. */
  readonly lines?: Readonly<Record<string, Exception | readonly Exception[]>>;
}

const edited =
  (file: string, from: string, to: string) =>
  (repo: Repo): void => {
    const text = repo.read(file);
    expect(text).toContain(from);
    repo.write(file, text.replace(from, to));
  };

const ledger = "docs/ledger-plan.md";

/** Those that take longest come first: several are told at once. */
const stories: Readonly<Record<string, Story>> = {
  "docs/guides/fleet.md": { start: "a clone of a project" },
  "docs/guides/recover.md": {
    start: "an empty folder",
    under: {
      "it-was-killed-or-the-power-went": "a run that ended half-way",
      "it-has-halted": "a run that has halted",
      "a-phase-that-keeps-failing": "an empty folder",
      "the-gates-fail-before-anybody-has-worked": "a red baseline",
      "the-tree-has-changes-that-are-not-committed": "changes that are not committed",
      "the-disk-is-full": "a run that is complete",
      "the-journal-is-damaged": "a damaged journal",
      "it-says-that-the-repository-is-held": "a run that is complete",
      "begin-anew": "a run that ended half-way",
    },
    lines: {
      "autodev attach": { code: 4, why: "it ends as the run has ended: halted" },
      "autodev shell 2B": { code: 2, why: "there is no terminal here for a shell" },
      'git commit --all --message "Break it"': {
        why: "the text before it says what to change",
        before: edited(ledger, "self.spent > self.limit", "self.spent >= self.limit"),
      },
      [`autodev build ${ledger} --commit=auto`]: [
        { code: 4, why: "the phase is broken" },
        {
          why: "the text before it says what to put back",
          before: edited(ledger, "self.spent >= self.limit", "self.spent > self.limit"),
        },
      ],
      "autodev doctor": { code: 1, why: "there is damage" },
    },
  },
  "docs/guides/run-a-plan.md": {
    start: "a project",
    under: {
      "first-look-then-trust": "a project that nobody trusts yet",
      "run-it": "a project",
      "watch-it": "a project",
      "stop-it-go-on-with-it": "a project",
      "review-before-it-is-published": "a project",
      "have-a-phase-tried-again": "a run that has halted",
      "check-what-came-of-it": "a run that is complete",
    },
    lines: {
      [`autodev trust ${plan}`]: { code: 3, why: "nobody is at a terminal to approve it" },
      [`autodev build ${plan} --commit=auto --review --branch feature`]: {
        code: 3,
        why: "the question whether to publish is open",
      },
    },
  },
  "README.md": {
    start: "an empty folder",
    lines: { "autodev example": { why: "it is shown as a terminal leaves it", terminal: true } },
  },
  "CONTRIBUTING.md": { start: "an empty folder" },
  "docs/figures.md": { start: "an empty folder" },
  "docs/guarantees.md": { start: "an empty folder" },
  "docs/notices.md": { start: "an empty folder" },
  "docs/plans.md": { start: "an empty folder" },
  "docs/plan-runs.md": { start: "a project" },
  "docs/seeds.md": { start: "an empty folder" },
  "docs/track-record.md": { start: "an empty folder" },
  "docs/trackers.md": { start: "an empty folder" },
  "docs/troubleshooting.md": {
    start: "a run that is complete",
    under: { "3-a-decision-is-required": "a red baseline" },
  },
  "docs/verification.md": { start: "a run that is complete" },
  "docs/guides/agents.md": { start: "an empty folder" },
  "docs/guides/dashboard.md": { start: "a project" },
  "docs/guides/inside-your-agent.md": { start: "a project that nobody trusts yet" },
  "docs/guides/write-a-plan.md": {
    start: "an empty folder",
    under: { "take-over-one-that-you-have": "a project" },
  },
  "docs/guides/run-a-flow.md": { start: "an empty folder" },
  "docs/guides/your-own-flow.md": {
    start: "an empty folder",
    lines: {
      "autodev flow check": [
        { why: "nothing is wrong yet" },
        {
          code: 1,
          why: "the text before it says what is wrong",
          before: edited(".autodev/flows/mend.yaml", "optional: true", "optinal: true"),
        },
      ],
    },
  },
  "docs/guides/use-in-ci.md": {
    start: "a project that nobody trusts yet",
    under: { "in-a-shell": "a clone of a project", "on-github": "a clone of a project" },
    lines: {
      [`autodev trust ${plan} --json`]: { code: 3, why: "it is not trusted yet, and says so" },
    },
  },
  "examples/python/README.md": { start: "an empty folder" },
  "examples/typescript/README.md": { start: "an empty folder" },
};

// ── what is not typed, but looked at ───────────────────────────────────────────────────────────

const { scripts } = JSON.parse(fs.readFileSync(path.join(packageRoot, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

/** The names that a program of ours knows, as it says itself when it is given another. */
function namesOf(script: string): readonly string[] {
  const before = named.get(script);
  if (before) return before;
  const args = ["scripts/run.mjs", `${script}/main.ts`, "--only", "no-such-name"];
  const { stderr } = spawnSync(process.execPath, args, { cwd: packageRoot, encoding: "utf8" });
  const names = (/(?:rows|is no group): (.*)/.exec(stderr)?.[1] ?? "").split(", ");
  named.set(script, names);
  return names;
}
const named = new Map<string, readonly string[]>();

interface Rule {
  readonly is: RegExp;
  readonly why: string;
  readonly holds: (words: RegExpExecArray) => void;
}

const rules: readonly Rule[] = [
  {
    is: /^autodev (?:worker|fleet|engine migrate|(?:build|start|attach|retry|stop|decide|decisions)\b.*(?:--engine[ =]postgres|--run \S+))/,
    why: "it needs a database, as test/fleet.test.ts has it: its options are looked at",
    holds: (words) => expect(misnamed(words[0])).toBeUndefined(),
  },
  {
    is: /^npm install --global @dbos-inc\/dbos-sdk pg$/,
    why: "npm's own: they are our optional peers",
    holds() {
      const manifest = fs.readFileSync(path.join(packageRoot, "package.json"), "utf8");
      const { peerDependencies } = JSON.parse(manifest) as { peerDependencies: object };
      expect(Object.keys(peerDependencies).sort()).toEqual(["@dbos-inc/dbos-sdk", "pg"]);
    },
  },
  {
    is: /^npm run (torture|bench)(?: -- (.*))?$/,
    why: "it takes long: its names and options are looked at",
    holds([, script = "", args = ""]) {
      expect(scripts[script]).toBeDefined();
      const only = /--only (\S+)/.exec(args)?.[1];
      if (only !== undefined && only !== "<row>") {
        expect(namesOf(script)).toContain(only);
      }
      const options =
        script === "torture"
          ? ["tier", "only", "seed", "json"]
          : ["short", "only", "json", "charts", "draw"];
      for (const [, option] of args.matchAll(/--(\w+)/g)) expect(options).toContain(option);
    },
  },
  {
    is: /^autodev ui((?: --\S+(?: \d+)?)*)$/,
    why: "it serves until it is ended, as test/ui.test.ts has it: its options are looked at",
    holds([, options = ""]) {
      const known = commandTable.find(({ name }) => name === "ui")?.options ?? [];
      for (const [option] of options.matchAll(/--[\w-]+/g)) {
        expect(known.map(({ flags }) => flags.split(" ")[0])).toContain(option);
      }
    },
  },
  {
    is: /^npm (?:run )?(setup|test|check|docs|picture|tour)$/,
    why: "it installs, or runs all of this: the script is there",
    holds: ([, script = ""]) => expect(scripts[script]).toBeDefined(),
  },
  {
    is: /^npm run (e2e:agents)(?: -- (?:-t|--record) (\S+))?$/,
    why: "it installs real agents: the script is there, and so is the agent",
    holds([, script = "", agent = "claude"]) {
      expect(scripts[script]).toBeDefined();
      const recorded = fs.readdirSync(path.join(packageRoot, "e2e/recorded"));
      expect(recorded).toContain(agent);
    },
  },
  {
    is: /^npm (?:link|pack)$|^npm install --global \.\/(?:tools\/)?autodev-[\d.]+\.tgz$/,
    why: "npm's own; test/package.test.ts packs and installs it",
    holds([command]) {
      const { version, bin } = JSON.parse(
        fs.readFileSync(path.join(packageRoot, "package.json"), "utf8"),
      ) as { version: string; bin: Record<string, string> };
      expect(Object.keys(bin)).toContain("autodev");
      const named = /autodev-([\d.]+)\.tgz/.exec(command)?.[1];
      if (named !== undefined) expect(named).toBe(version);
    },
  },
  {
    is: /^npx vitest run (\S+)(?: -t "(.*)")?$/,
    why: "tests within tests: the file is there, and so is the sentence",
    holds([, file = "", words = ""]) {
      expect(fs.readFileSync(path.join(packageRoot, file), "utf8")).toContain(words);
    },
  },
];

// ── typing ─────────────────────────────────────────────────────────────────────────────────────

/** `autodev` and `autobuild` as they are typed. */
let programs: string;
beforeAll(() => {
  programs = makeFolder("programs");
  for (const name of ["autodev", "autobuild"]) {
    const file = path.join(
      path.dirname(binary()),
      name === "autodev" ? "main.cjs" : "autobuild.cjs",
    );
    const text = `#!/bin/sh\nexec "${process.execPath}" "${file}" "$@"\n`;
    fs.writeFileSync(path.join(programs, name), text, { mode: 0o755 });
  }
});

/** Every line that was ever on the screen of the example, for the picture. */
const onScreen = new Set<string>();

async function atScreen(cwd: string, command: string): Promise<Ran> {
  const [columns, rows] = [80, 60];
  const terminal = atTerminal(cwd, command.split(" ").slice(1), {}, { columns, rows });
  const screen = makeScreen(columns, rows);
  const { code } = await terminal.ended;
  for (const part of terminal.shown().split(/(?<=\u001b\[\?2026l)/)) {
    screen.write(part);
    for (const line of screen.seen()) onScreen.add(masked(line));
  }
  const out = `${screen.all().join("\n")}\n`;
  return { code, signal: null, out, err: "", all: out };
}

/** What stands for something that only the moment knows. */
async function asOfNow(command: string, repo: Repo): Promise<string> {
  if (!/d-[0-9a-f]{12}/.test(command)) return command;
  const [open] = (await repo.decisions()).filter(({ status }) => status === "open");
  if (!open) throw new Error("no decision is open");
  return command.replace(/d-[0-9a-f]{12}/, open.id);
}

/** The hashes that a person would have put into the settings of the CI. */
async function settingsFor(repo: Repo, command: string): Promise<Record<string, string>> {
  if (!command.includes("_SHA256")) return {};
  if (!command.includes("AUDIT_SHA256")) {
    return { TRUST_SHA256: hashIn(await repo.autodev("trust", plan)) };
  }
  return { AUDIT_SHA256: hashIn(await repo.autodev("audit", "HEAD")) };
}

async function type(repo: Repo, command: string, { terminal }: Partial<Exception>): Promise<Ran> {
  if (terminal) return atScreen(repo.root, command);
  const env = {
    PATH: `${programs}:${plainEnvironment["PATH"]}`,
    ...(await settingsFor(repo, command)),
  };
  const script = await asOfNow(command, repo);
  return run("sh", ["-e", "-c", `exec 2>&1\n${script}`], { cwd: repo.root, env, timeout: 120_000 });
}

/** Line by line, in any order: phases land as they come. `…`: there is more. */
function expectShown(shown: readonly string[], out: string, where: string): void {
  const lines = (texts: readonly string[]): Set<string> =>
    new Set(texts.map(masked).filter((line) => line !== ""));
  const [wanted, seen] = [lines(shown), lines(out.split("\n"))];
  const isPart = wanted.delete("…");
  const differences = {
    neverSeen: [...wanted].filter((line) => !seen.has(line)),
    notShown: isPart ? [] : [...seen].filter((line) => !wanted.has(line)),
  };
  expect(differences, where).toEqual({ neverSeen: [], notShown: [] });
}

/** What was shown by a command may hold lines that look like commands: they are not typed again. */
function withOutput(typed: readonly Typed[], at: number, out: string): [readonly string[], number] {
  const shown = [...(typed[at]?.shown ?? [])];
  let next = at + 1;
  for (; next < typed.length && out.includes(`\n$ ${typed[next]?.command}\n`); next++) {
    shown.push(`$ ${typed[next]?.command}`, ...(typed[next]?.shown ?? []));
  }
  return [shown, next];
}

/** What else is in a block of commands has to have a rule. */
const typable = /^(?:autodev|autobuild|git|sh|cd)(?: |$)/;

async function tell(file: string, { start, under, lines = {} }: Story): Promise<void> {
  const typed = readDocument(file).blocks.flatMap(typedIn);
  let repo: Repo | undefined;
  let chapter: string | undefined;
  const typedBefore = new Map<string, number>();
  for (let at = 0; at < typed.length; ) {
    const { command, line, under: heading, shown } = typed[at] as Typed;
    const where = `${file}:${line}: ${command}`;
    const rule = rules.find(({ is }) => is.test(command));
    if (rule) {
      rule.holds(rule.is.exec(command) as RegExpExecArray);
      at++;
      continue;
    }
    if (!command.includes("\n") && !typable.test(command))
      throw new Error(`${where}: no rule for it`);
    const isNew = under?.[heading] !== undefined && heading !== chapter;
    if (!repo || isNew) repo = await begin(under?.[heading] ?? start);
    chapter = heading;
    const folder = /^cd (\S+)$/.exec(command)?.[1];
    if (folder !== undefined) {
      repo = repoAt(repo.at(folder));
      expect(repo.exists("."), where).toBe(true);
      at++;
      continue;
    }
    const times = typedBefore.get(command) ?? 0;
    typedBefore.set(command, times + 1);
    const exception: Partial<Exception> = [lines[command] ?? []].flat()[times] ?? {};
    exception.before?.(repo);
    const ran = await type(repo, command, exception);
    expect(ran.code, `${where}\n${ran.all}`).toBe(exception.code ?? 0);
    expect(ran.all, where).not.toMatch(/bug of ours|\n\s+at .+:\d+:\d+/);
    const [all, next] = shown ? withOutput(typed, at, ran.out) : [[], at + 1];
    if (all.some((text) => text !== "")) expectShown(all, ran.out, where);
    at = next;
  }
}

const patience = 240_000;

describe.concurrent("what a document says to type", () => {
  it("has a starting point for every document", () => {
    expect(Object.keys(stories).sort()).toEqual([...told].sort());
  });

  it.each(Object.entries(stories))("%s", (file, story) => tell(file, story), patience);
});

describe("the picture", () => {
  it("shows nothing that was not on the screen", () => {
    const svg = fs.readFileSync(path.join(packageRoot, "docs/picture.svg"), "utf8");
    const lines = [...svg.matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, text = ""]) =>
      masked(
        text
          .replace(/<[^>]+>/g, "")
          .replaceAll("&lt;", "<")
          .replaceAll("&gt;", ">")
          .replaceAll("&amp;", "&"),
      ),
    );
    expect(lines.length).toBeGreaterThan(10);
    expect(onScreen.size, "the README's example ran").toBeGreaterThan(20);
    expect(lines.filter((line) => line !== "" && !onScreen.has(line))).toEqual([]);
  });
});

// ── names ──────────────────────────────────────────────────────────────────────────────────────

/** All of ours; the plans and projects of strangers in test/ are theirs. */
const documents = spawnSync("git", ["ls-files", "-z", "*.md", ":!test"], {
  cwd: packageRoot,
  encoding: "utf8",
})
  .stdout.split("\0")
  .filter((file) => file !== "")
  .map(readDocument);

/** Everything that a document has in code: spans, and lines of blocks. */
const inCode = documents
  .filter(({ file }) => file !== "CHANGELOG.md")
  .flatMap(({ file, spans, blocks }) => [
    ...spans.map(({ line, text }) => ({ where: `${file}:${line}`, file, text })),
    ...blocks.flatMap((block) =>
      typedIn(block).flatMap(({ line, command }) =>
        command
          .replaceAll("\\\n", " ")
          .split("\n")
          .map((text) => ({ where: `${file}:${line}`, file, text })),
      ),
    ),
  ]);

/** What the program knows beside its table. */
const beside = ["help", "completion", "--version", "--help"];

function misnamed(text: string): string | undefined {
  const words = text.split(/\s+/);
  if (words[0] !== "autodev") return undefined;
  const [first = "", second = ""] = words.slice(1);
  if (first === "" || first.startsWith("<") || beside.includes(first)) return undefined;
  const row = first.startsWith("-")
    ? commandTable.find(({ name }) => name === "start")
    : (commandTable.find(({ name }) => name === `${first} ${second}`) ??
      commandTable.find(({ name, aliases = [] }) => name === first || aliases.includes(first)));
  if (!row) {
    const isFamily = commandTable.some(({ name }) => name.startsWith(`${first} `));
    return isFamily && second === "" ? undefined : `no command "${first}"`;
  }
  const flags = (row.options ?? []).flatMap((option) =>
    option.flags.split(", ").map((flag) => ({ option, flag: flag.split(" ")[0] })),
  );
  for (const [, flag = "", value] of text.matchAll(/(?<=\s)(--?[a-z][\w-]*)(?:=(\S+))?/g)) {
    const known = flags.find((each) => each.flag === flag);
    if (!known) return `${row.name} has no ${flag}`;
    const { choices } = known.option;
    if (
      value !== undefined &&
      choices &&
      !value.split("|").every((each) => choices.includes(each))
    ) {
      return `${value} is no ${flag} of ${row.name}`;
    }
  }
  return undefined;
}

describe("what a document names", () => {
  const wrong = (find: (text: string) => string | undefined, among = inCode): string[] =>
    among.flatMap(({ where, text }) => {
      const why = find(text);
      return why === undefined ? [] : [`${where}: ${text}: ${why}`];
    });

  it("are commands and options of the table", () => {
    expect(wrong(misnamed)).toEqual([]);
  });

  it("are options of some command, where they stand alone", () => {
    const known = new Set([
      ...commandTable.flatMap(({ options = [] }) =>
        options.flatMap((each) => each.flags.split(/, | /)),
      ),
      // Of torture, bench and vitest.
      ..."--tier --seed --short --version --help".split(" "),
    ]);
    const forUsers = inCode.filter(({ file }) => told.includes(file));
    const unknown = wrong((text) => {
      const option = /^--[a-z0-9-]+/.exec(text)?.[0];
      return option === undefined || known.has(option) ? undefined : "unknown";
    }, forUsers);
    expect(unknown).toEqual([]);
  });

  it("are variables that exist", () => {
    const known = [...environmentTable, ...givenEnvironmentTable].map(([name]) => name);
    const isKnown = (name: string): boolean =>
      known.some((each) =>
        each.endsWith("*") ? name.startsWith(each.slice(0, -1)) : each === name,
      );
    const unknown = documents.flatMap(({ file, text }) =>
      [...text.matchAll(/\bAUTODEV_[A-Z_]+/g)].flatMap(([name]) =>
        isKnown(name) ? [] : [`${file}: ${name}`],
      ),
    );
    expect(unknown).toEqual([]);
  });

  it("are codes that autodev help explains", () => {
    const topics = new Set([
      ..."errors exit-codes environment 0 1 2 3 4 5 70 130".split(" "),
      ...catalogue.map(({ code }) => code),
      ...commandTable.flatMap(({ name }) => [name, name.split(" ")[0] ?? ""]),
    ]);
    expect(
      wrong((text) => {
        const topic = /^autodev help ([^<\s]\S*)/.exec(text)?.[1];
        return topic === undefined || topics.has(topic) ? undefined : "unknown";
      }),
    ).toEqual([]);
  });

  it("are places that are there, down to the heading", () => {
    const byFile = new Map(documents.map((each) => [each.file, each]));
    const broken = documents.flatMap(({ file, links }) =>
      links.flatMap(({ line, url }) => {
        if (/^[a-z]+:/.test(url)) return [];
        const [place = "", anchor] = url.split("#");
        const target = place === "" ? file : path.join(path.dirname(file), decodeURI(place));
        const isThere = fs.existsSync(path.join(packageRoot, target));
        const isFound = anchor === undefined || byFile.get(target)?.anchors.has(anchor) === true;
        return isThere && isFound ? [] : [`${file}:${line}: ${url}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  it("are torture rows: the table of promises has only those", () => {
    const rows = namesOf("torture");
    const section = documents
      .find(({ file }) => file === "README.md")
      ?.text.split("## What we promise")[1]
      ?.split("\n## ")[0];
    const promised = [...(section ?? "").matchAll(/\| `([\w-]+)` +\|$/gm)].map(
      ([, name = ""]) => name,
    );
    expect(promised.length).toBeGreaterThan(10);
    expect(promised.filter((name) => !rows.includes(name))).toEqual([]);
  });
});
