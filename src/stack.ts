/**
 * What a project is built with, and which commands check it, from its own files: its scripts
 * first, else the tool's usual call. A gate without a tool is skipped, with the reason.
 */
import type { Gate, Stack } from "./core/plan/run-event.ts";

export interface Detected {
  readonly stack: Stack;
  readonly gates: readonly Gate[];
}

/** The four that every project is asked for, in this order. */
export const standardGates = ["lint", "format", "typecheck", "test"] as const;

type Commands = Partial<Record<(typeof standardGates)[number], string>>;

interface Kind {
  /** A file in the top folder that tells. */
  readonly mark: string;
  read(text: string, names: ReadonlySet<string>): { stack: Partial<Stack>; commands: Commands };
}

const kinds: readonly Kind[] = [
  { mark: "package.json", read: readPackage },
  {
    mark: "go.mod",
    read: () => ({
      stack: {
        language: "go",
        package_manager: "go",
        test_framework: "go test",
        linter: "go vet",
        formatter: "gofmt",
      },
      commands: { lint: "go vet ./...", test: "go test ./..." },
    }),
  },
  {
    mark: "Cargo.toml",
    read: () => ({
      stack: {
        language: "rust",
        package_manager: "cargo",
        test_framework: "cargo test",
        linter: "clippy",
        formatter: "rustfmt",
      },
      commands: { typecheck: "cargo check", test: "cargo test" },
    }),
  },
  { mark: "pyproject.toml", read: readPython },
  { mark: "Makefile", read: readMakefile },
];

/** `names`: what lies in the top folder; `read`: the text of one of them. */
export function detectStack(
  names: readonly string[],
  read: (name: string) => string | undefined,
): Detected {
  const known = new Set(names);
  for (const kind of kinds) {
    const text = known.has(kind.mark) ? read(kind.mark) : undefined;
    if (text === undefined) continue;
    const { stack, commands } = kind.read(text, known);
    return { stack: { ...nothing, ...stack }, gates: gatesFrom(commands, kind.mark) };
  }
  return { stack: nothing, gates: gatesFrom({}, undefined) };
}

/** The files that `detectStack` may want to read. */
export const stackMarks: readonly string[] = kinds.map(({ mark }) => mark);

const nothing: Stack = {
  language: null,
  framework: null,
  package_manager: null,
  test_framework: null,
  linter: null,
  formatter: null,
};

const gatesFrom = (commands: Commands, mark: string | undefined): Gate[] =>
  standardGates.map((name) => {
    const command = commands[name];
    if (command !== undefined) return { name, command };
    return { name, command: null, reason: `${mark ?? "the top folder"} names no command for it` };
  });

function readPackage(text: string, names: ReadonlySet<string>): ReturnType<Kind["read"]> {
  let json: { scripts?: Record<string, unknown>; dependencies?: object; devDependencies?: object };
  try {
    json = JSON.parse(text) as typeof json;
  } catch {
    return { stack: { language: "javascript" }, commands: {} };
  }
  const uses = new Set(
    [json.dependencies, json.devDependencies].flatMap((each) => Object.keys(each ?? {})),
  );
  const first = (...candidates: string[]): string | null =>
    candidates.find((each) => uses.has(each)) ?? null;
  const manager = names.has("pnpm-lock.yaml")
    ? "pnpm"
    : names.has("yarn.lock")
      ? "yarn"
      : names.has("bun.lock") || names.has("bun.lockb")
        ? "bun"
        : "npm";
  const scripts = new Set(Object.keys(json.scripts ?? {}));
  const script = (...candidates: string[]): string | undefined => {
    const name = candidates.find((each) => scripts.has(each));
    return name === undefined ? undefined : `${manager} run ${name}`;
  };
  const commands = {
    lint: script("lint"),
    format: script("format:check", "check:format", "format-check", "prettier:check"),
    typecheck: script("typecheck", "type-check", "check-types", "tsc"),
    test: script("test"),
  };
  return {
    stack: {
      language: uses.has("typescript") || names.has("tsconfig.json") ? "typescript" : "javascript",
      framework: first(
        "next",
        "nuxt",
        "@nestjs/core",
        "express",
        "fastify",
        "hono",
        "svelte",
        "vue",
        "react",
      ),
      package_manager: manager,
      test_framework: first("vitest", "jest", "mocha", "ava", "@playwright/test"),
      linter: first("eslint", "oxlint", "@biomejs/biome"),
      formatter: first("prettier", "@biomejs/biome", "dprint"),
    },
    commands: Object.fromEntries(
      Object.entries(commands).filter(([, command]) => command !== undefined),
    ) as Commands,
  };
}

function readPython(text: string): ReturnType<Kind["read"]> {
  return {
    stack: {
      language: "python",
      package_manager: /\[tool\.poetry\]/.test(text)
        ? "poetry"
        : /\[tool\.uv\]/.test(text)
          ? "uv"
          : "pip",
      test_framework: /pytest/.test(text) ? "pytest" : null,
      linter: /ruff/.test(text) ? "ruff" : null,
      formatter: /ruff/.test(text) ? "ruff" : /black/.test(text) ? "black" : null,
    },
    commands: {
      ...(/ruff/.test(text) && { lint: "ruff check .", format: "ruff format --check ." }),
      ...(/mypy/.test(text) && { typecheck: "mypy ." }),
      ...(/pytest/.test(text) && { test: "python -m pytest" }),
    },
  };
}

function readMakefile(text: string): ReturnType<Kind["read"]> {
  const targets = new Set(
    [...text.matchAll(/^([A-Za-z][\w-]*)\s*:(?!=)/gm)].map((match) => match[1]),
  );
  const commands: Commands = {};
  for (const name of standardGates) if (targets.has(name)) commands[name] = `make ${name}`;
  return { stack: {}, commands };
}
