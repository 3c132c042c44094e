/**
 * Every command in every surrounding in which there is no person at a terminal: valid output, nothing
 * that a terminal would obey, the same exit code. Made from the command table: a command that is not
 * in the list below is a failure.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { commandTable } from "../src/cli/table.ts";
import {
  build,
  expectComplete,
  expectSchema,
  makeBuildRepo,
  plan,
  planOf,
  trustHash,
} from "./build-rig.ts";
import { autodevIn, makeFolder, type Ran } from "./rig.ts";

interface Recipe {
  readonly args: readonly string[];
  readonly code: number;
  /** Of the same with `--json`, where it differs. */
  readonly jsonCode?: number;
  /** One object a line; the last is of the shape. */
  readonly lines?: true;
  /** In a repository with a run that is complete (the default), or in an empty folder. */
  readonly where?: "nowhere";
}

/** What each is called with; most do nothing but tell. */
const recipes: Readonly<Record<string, Recipe>> = {
  start: { args: [], code: 0 },
  status: { args: ["status"], code: 0 },
  next: { args: ["next"], code: 0 },
  skip: { args: ["skip", "--yes"], code: 0 },
  back: { args: ["back", "1", "--yes"], code: 0 },
  rollback: { args: ["rollback", "1", "--yes"], code: 0 },
  "flow list": { args: ["flow", "list"], code: 0 },
  "flow check": { args: ["flow", "check"], code: 0 },
  "flow graph": { args: ["flow", "graph"], code: 0 },
  "skills list": { args: ["skills", "list"], code: 0 },
  "skills show": { args: ["skills", "show", "problem"], code: 0 },
  "skills check": { args: ["skills", "check"], code: 0 },
  "skills eject": { args: ["skills", "eject", "nothing-of-ours"], code: 2 },
  "plan check": { args: ["plan", "check", plan], code: 0 },
  "plan graph": { args: ["plan", "graph", plan], code: 0 },
  "plan tick": { args: ["plan", "tick", plan, "1", "--dry-run"], code: 0 },
  "plan import": { args: ["plan", "import", plan], code: 0 },
  "plan new": { args: ["plan", "new"], code: 0 },
  build: { args: ["build", plan], code: 0, lines: true },
  attach: { args: ["attach"], code: 0, lines: true },
  stop: { args: ["stop"], code: 0 },
  retry: { args: ["retry", "1"], code: 2 },
  example: { args: ["example", "--list"], code: 0 },
  trust: { args: ["trust", plan], code: 3 },
  audit: { args: ["audit", "HEAD", "--no-gates"], code: 0 },
  decisions: { args: ["decisions"], code: 0 },
  decide: { args: ["decide", "d-000000000000", "A"], code: 2 },
  migrate: { args: ["migrate", "--dry-run"], code: 0 },
  log: { args: ["log", "-n", "3"], code: 0, lines: true },
  diff: { args: ["diff", "1"], code: 0 },
  // Without a terminal there is nobody to be in a shell.
  shell: { args: ["shell", "1"], code: 2, jsonCode: 0 },
  clean: { args: ["clean", "--dry-run"], code: 0 },
  ui: { args: ["ui", "--until-input-ends"], code: 0 },
  doctor: { args: ["doctor"], code: 0 },
  agents: { args: ["agents"], code: 0 },
  "agents test": { args: ["agents", "test", "apply"], code: 0 },
  init: { args: ["init", "--dry-run", "--yes", "--hosts", "claude"], code: 0 },
  // No database is named: test/fleet.test.ts has one.
  fleet: { args: ["fleet"], code: 1 },
  "fleet pause": { args: ["fleet", "pause"], code: 1 },
  "fleet resume": { args: ["fleet", "resume"], code: 1 },
  "fleet limit": { args: ["fleet", "limit", "claude"], code: 1 },
  "fleet log": { args: ["fleet", "log", "r0123456789"], code: 2 },
  worker: { args: ["worker"], code: 1 },
  "engine migrate": { args: ["engine", "migrate"], code: 1 },
  tracker: { args: ["tracker"], code: 0 },
  "tracker sync": { args: ["tracker", "sync"], code: 4 },
  "tracker tools": { args: ["tracker", "tools"], code: 4 },
};

/** It speaks to programs alone, in a protocol of its own: test/mcp.test.ts. */
const spoken = ["mcp"];

/** What `--json` prints there is of another shape than what the command otherwise prints. */
const shapes: Readonly<Record<string, string>> = { example: "example-list", start: "status" };

const surroundings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "a pipe": {},
  NO_COLOR: { NO_COLOR: "1" },
  CI: { CI: "true" },
  "an agent's shell": { CLAUDECODE: "1" },
  "a dumb terminal": { TERM: "dumb" },
};

let finished: string;
beforeAll(async () => {
  const repo = makeBuildRepo(planOf([{ id: "1" }]));
  await trustHash(repo);
  expectComplete(await build(repo));
  // Left as `autodev` leaves it: its state file is there, and committed.
  await repo.autodev();
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "--message=state");
  finished = repo.root;
}, 120_000);

function place(): string {
  const root = path.join(makeFolder("matrix"), "project");
  fs.cpSync(finished, root, { recursive: true, preserveTimestamps: true });
  return root;
}

// oxlint-disable-next-line no-control-regex -- that is what is looked for
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

const call = (cwd: string, { args }: Recipe, env: Record<string, string>, ...more: string[]) =>
  autodevIn({ cwd, env, timeout: 60_000 }, ...args, ...more);

function expectPlain(ran: Ran): void {
  expect(ran.all).not.toMatch(obeyed);
  expect(ran.all).not.toMatch(/autodev: a bug|^\s+at .*\.cjs/m);
}

it("knows every command", () => {
  const known = [...Object.keys(recipes), ...spoken];
  expect(known.sort()).toEqual(commandTable.map(({ name }) => name).sort());
});

const tried = commandTable.filter(({ name }) => !spoken.includes(name));

describe.each(tried.map((row) => [row.name, row] as const))("autodev %s", (name, row) => {
  const recipe = recipes[name];
  if (!recipe) return;
  const root = (): string => (recipe.where ? makeFolder("nowhere") : place());

  it("says the same in each of them, and nothing that a terminal would obey", async () => {
    const ran: Record<string, Ran> = {};
    for (const [where, env] of Object.entries(surroundings)) {
      ran[where] = await call(root(), recipe, env);
    }
    for (const [where, each] of Object.entries(ran)) {
      expectPlain(each);
      expect(each.code, `${where}: ${each.all}`).toBe(recipe.code);
      expect(each.all.trim(), where).not.toBe("");
    }
  });

  it("--json is JSON of the published shape, and nothing else is on its output", async () => {
    expect(row.shape, "a schema").toBeDefined();
    for (const env of [{}, { CI: "true", NO_COLOR: "1" }]) {
      const ran = await call(root(), recipe, env, "--json");
      expectPlain(ran);
      const code = recipe.jsonCode ?? recipe.code;
      expect(ran.code, ran.all).toBe(code);
      const texts = recipe.lines ? ran.out.trim().split("\n") : [ran.out];
      const values = texts.map((text) => JSON.parse(text) as object);
      const last = values.at(-1) ?? {};
      const own = Array.isArray(row.shape) ? row.shape[0] : row.shape;
      const shape = "error" in last ? "error" : (shapes[name] ?? own ?? "");
      expectSchema(last, shape);
    }
  });

  it("a word too many is an error of usage, in words and as JSON", async () => {
    const wrong = await call(root(), recipe, {}, "--no-such-option");
    expect(wrong.code, wrong.all).toBe(2);
    expectPlain(wrong);
    const told = await call(root(), recipe, {}, "--no-such-option", "--json");
    expect(told.code).toBe(2);
    expectSchema(JSON.parse(told.out), "error");
  });
});
