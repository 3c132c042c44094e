import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");

/** Who may import whom; the picture of it is in ARCHITECTURE.md. */
const areas: Record<
  string,
  { is: RegExp; mayImport: readonly string[]; packages: readonly string[] }
> = {
  core: { is: /^src\/core\//, mayImport: ["core"], packages: ["zod"] },
  contract: { is: /^src\/(store|agent|tracker|engine)\.ts$/, mayImport: ["core"], packages: [] },
  /** Agents start processes through this one file and through nothing else. */
  exec: {
    is: /^src\/exec(?:\.ts$|\/)/,
    mayImport: ["core", "single", "exec"],
    packages: ["node:"],
  },
  single: {
    is: /^src\/(?:(?:config|git|github|clock|trust|sandbox|safe-text|stack|dependency-cache|notify|object-store|result-tool)\.ts$|(?:git|stack)\/)/,
    mayImport: ["core", "single", "exec"],
    packages: ["node:", "yaml", "zod", "aws4fetch"],
  },
  format: {
    is: /^src\/formats\//,
    mayImport: ["core", "format"],
    packages: ["@lezer/", "yaml", "jsonc-parser"],
  },
  agent: {
    is: /^src\/agents\//,
    mayImport: ["core", "contract", "exec", "agent"],
    packages: ["node:"],
  },
  tracker: {
    is: /^src\/trackers\//,
    mayImport: ["core", "contract", "exec", "tracker"],
    packages: ["@modelcontextprotocol/client"],
  },
  store: {
    is: /^src\/stores\//,
    mayImport: ["core", "contract", "store"],
    packages: ["node:", "pg", "@dbos-inc/dbos-sdk"],
  },
  activity: {
    is: /^src\/activities\//,
    mayImport: ["core", "contract", "format", "single", "exec", "activity"],
    packages: ["node:"],
  },
  engine: {
    is: /^src\/engines\//,
    mayImport: ["core", "contract", "single", "store", "activity", "engine"],
    packages: ["node:", "@dbos-inc/dbos-sdk"],
  },
  project: {
    is: /^src\/project(?:\.ts$|\/)/,
    mayImport: "core contract format single exec store activity agent tracker engine project".split(
      " ",
    ),
    packages: ["node:"],
  },
  cli: {
    is: /^src\/cli\//,
    mayImport: ["core", "project", "cli"],
    packages: ["node:", "zod", "commander", "std-env", "@bomb.sh/tab", "@dagrejs/dagre"],
  },
  /** The agent's door; what a model or a client sends is checked there by schemas. */
  mcp: {
    is: /^src\/mcp\//,
    mayImport: ["core", "project", "mcp"],
    packages: ["node:", "zod", "@modelcontextprotocol/server"],
  },
  /** The browser's door: what it shows is read, and the page folds on by itself. */
  dashboard: {
    is: /^src\/dashboard\//,
    mayImport: ["core", "project", "dashboard"],
    packages: ["node:"],
  },
  /** The page: whatever it decides, it decides by what core has. */
  web: { is: /^web\//, mayImport: ["core", "web"], packages: ["preact"] },
  testing: {
    is: /^src\/testing\//,
    mayImport: ["core", "contract", "testing"],
    packages: ["node:"],
  },
  library: {
    is: /^src\/index\.ts$/,
    mayImport: ["core", "contract", "store", "project"],
    packages: [],
  },
};

type Sources = ReadonlyMap<string, string>;

const areaOf = (file: string): string | undefined =>
  Object.keys(areas).find((name) => areas[name]?.is.test(file));

function violations(sources: Sources): string[] {
  const found: string[] = [];
  for (const [file, source] of sources) {
    const name = areaOf(file);
    const area = name ? areas[name] : undefined;
    if (!area) {
      found.push(`${file} is in no area: a new folder or top-level file needs an ADR`);
      continue;
    }
    for (const target of importsOf(source)) {
      if (!target.startsWith(".")) {
        const allowed = area.packages.some((each) => target === each || target.startsWith(each));
        if (!allowed) found.push(`${file} (${name}) imports ${target}`);
        continue;
      }
      const imported = posix.normalize(posix.join(posix.dirname(file), target));
      const other = areaOf(imported);
      if (!other || !area.mayImport.includes(other)) {
        found.push(`${file} (${name}) imports ${imported} (${other ?? "no area"})`);
      }
      const siblings = [/^src\/stores\/(file|memory)/, /^src\/cli\/(commands)\/\w+/];
      if (siblings[0]?.test(file) && siblings[0].test(imported)) {
        const [a, b] = [file, imported].map((each) => siblings[0]?.exec(each)?.[1]);
        if (a !== b) found.push(`${file} imports another store, ${imported}`);
      }
    }
    if (source.includes("mintTrusted") && !/^src\/(?:exec|trust)\.ts$/.test(file)) {
      found.push(`${file} makes Trusted values, which only trust.ts may`);
    }
    if (name === "core") {
      for (const forbidden of [
        /\bnew Date\b/,
        /\bDate\.now\b/,
        /\bMath\.random\b/,
        /\bprocess\./,
      ]) {
        if (forbidden.test(withoutComments(source))) found.push(`${file} uses ${forbidden.source}`);
      }
    }
  }
  return found;
}

const importsOf = (source: string): string[] =>
  [...source.matchAll(/\b(?:from\s|import\()\s*"([^"]+)"/g)].map((match) => match[1] as string);

const withoutComments = (source: string): string =>
  source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, "");

function sourcesUnder(folder: string): Map<string, string> {
  const sources = new Map<string, string>();
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const isSource = /\.tsx?$/.test(entry.name) && !/\.(?:test|d)\.ts$/.test(entry.name);
    if (!entry.isFile() || !isSource) continue;
    const full = join(entry.parentPath, entry.name);
    sources.set(relative(root, full).replaceAll("\\", "/"), readFileSync(full, "utf8"));
  }
  return sources;
}

describe("the architecture", () => {
  const sources = new Map(["src", "web"].flatMap((name) => [...sourcesUnder(join(root, name))]));

  it("holds: nobody imports what he may not", () => {
    expect(violations(sources)).toEqual([]);
  });

  it.each([
    ["a disk in core", "src/core/flow/flow.ts", 'import * as fs from "node:fs";'],
    ["a store in core", "src/core/evolve.ts", 'import { sha256 } from "../stores/file.ts";'],
    ["a disk in the page", "web/source.ts", 'import * as fs from "node:fs";'],
    ["a door in the page", "web/api.ts", 'import { guard } from "../src/dashboard/guard.ts";'],
    ["a clock in core", "src/core/decision.ts", "export const now = () => Date.now();"],
    [
      "an adapter in a door",
      "src/cli/commands/status.ts",
      'import { x } from "../../stores/file.ts";',
    ],
    ["one door in another", "src/mcp/fetch-work.ts", 'import { x } from "../cli/prompt.ts";'],
    [
      "an activity in a store",
      "src/stores/memory.ts",
      'import { hold } from "../activities/hold.ts";',
    ],
    ["a disk in a format", "src/formats/kiro.ts", 'import * as fs from "node:fs";'],
    [
      "a format in a door",
      "src/cli/commands/plan-new.ts",
      'import { x } from "../../formats/kiro.ts";',
    ],
    ["one store in another", "src/stores/memory.ts", 'import { x } from "./file/journal.ts";'],
    [
      "an activity in a tracker",
      "src/trackers/mcp.ts",
      'import { hold } from "../activities/hold.ts";',
    ],
    ["a package nobody chose", "src/activities/survey.ts", 'import glob from "fast-glob";'],
    ["a utils folder", "src/utils/strings.ts", "export {};"],
  ])("fails on %s", (_, file, line) => {
    const planted = new Map(sources).set(file, `${line}\n${sources.get(file) ?? ""}`);
    expect(violations(planted).length).toBe(1);
  });

  it("keeps the fold free of zod at run time, so that a page can run it", () => {
    const fold = new Set<string>();
    const visit = (file: string): void => {
      if (fold.has(file)) return;
      fold.add(file);
      const source = (sources.get(file) ?? "").replace(/import type [^;]+;/g, "");
      for (const target of importsOf(source)) {
        if (target.startsWith(".")) visit(posix.normalize(posix.join(dirname(file), target)));
        else fold.add(target);
      }
    };
    visit("src/core/evolve.ts");
    expect([...fold].filter((each) => !each.startsWith("src/core/"))).toEqual([]);
  });
});

describe("the words", () => {
  const context = readFileSync(join(root, "CONTEXT.md"), "utf8");
  const sources = sourcesUnder(join(root, "src"));
  const exported = [...sources.values()].flatMap((source) =>
    [
      ...source.matchAll(/^export (?:type|interface|const|function|class|async function) (\w+)/gm),
    ].map((match) => match[1] as string),
  );

  it("of CONTEXT.md are exported names", () => {
    const terms = [...context.matchAll(/^\*\*(\w+)\*\*/gm)].map((match) => match[1] as string);
    expect(terms.length).toBeGreaterThan(8);
    expect(terms.filter((term) => !exported.includes(term))).toEqual([]);
  });

  it("to avoid are no file and no export", () => {
    const list = /^Avoid: (.+)\.$/m.exec(context)?.[1] ?? "";
    const avoided = list.split(", ").map((word) => word.toLowerCase().replaceAll(" ", ""));
    expect(avoided.length).toBeGreaterThan(5);
    const names = [
      ...exported,
      ...[...sources.keys()].map((file) => file.replace(/^.*\/|\.ts$/g, "")),
    ];
    const wordsOf = (name: string): string[] =>
      name.split(/(?=[A-Z])|[-_]/).map((word) => word.toLowerCase());
    const bad = names.filter((name) =>
      avoided.some((word) => wordsOf(name).includes(word) || name.toLowerCase() === word),
    );
    expect(bad).toEqual([]);
  });
});
