/** JavaScript and TypeScript: package.json, its scripts, and who installs. */
import { namedFiles } from "../core/trust.ts";
import type { Ground, Installed, Kind, Packager, Uses } from "./kind.ts";
import { isBerry, manifest, scriptsOf, workspacesOf } from "./node-manifests.ts";
import { execOf, scripts } from "./node-scripts.ts";
import { objectIn, type Tree, within } from "./tree.ts";

/** What may decide the folders' content beside the manifest and the lock file. */
const besides = [".npmrc", ".nvmrc", ".node-version", ".tool-versions", "patches/*"];

const packagers: readonly Packager[] = [
  {
    name: "pnpm",
    files: ["pnpm-lock.yaml", "pnpm-workspace.yaml"],
    mentions: [[manifest, /"packageManager"\s*:\s*"pnpm@/]],
    folders: ["node_modules"],
    keyFiles: ["pnpm-lock.yaml", "pnpm-workspace.yaml", ".pnpmfile.cjs", ...besides],
    programs: ["node", "pnpm"],
  },
  {
    name: "yarn",
    files: ["yarn.lock"],
    mentions: [[manifest, /"packageManager"\s*:\s*"yarn@/]],
    folders: ["node_modules"],
    keyFiles: ["yarn.lock", ".yarnrc.yml", ".yarnrc", ".yarn/patches/*", ...besides],
    programs: ["node", "yarn"],
  },
  {
    name: "bun",
    files: ["bun.lock", "bun.lockb"],
    mentions: [[manifest, /"packageManager"\s*:\s*"bun@/]],
    folders: ["node_modules"],
    keyFiles: ["bun.lock", "bun.lockb", "bunfig.toml", ...besides],
    programs: ["bun"],
  },
  {
    name: "npm",
    files: ["package-lock.json", "npm-shrinkwrap.json"],
    always: "no lock file of another",
    folders: ["node_modules"],
    keyFiles: ["package-lock.json", "npm-shrinkwrap.json", ...besides],
    programs: ["node", "npm"],
  },
];

export const node: Kind = {
  name: "javascript",
  marks: [manifest],
  languages: [
    {
      name: "typescript",
      packages: ["typescript"],
      files: ["tsconfig.json", "tsconfig.base.json"],
    },
    { name: "javascript", always: "package.json is there" },
  ],
  frameworks: [
    { name: "next", packages: ["next"] },
    { name: "nuxt", packages: ["nuxt"] },
    { name: "nestjs", packages: ["@nestjs/core"] },
    { name: "angular", packages: ["@angular/core"] },
    { name: "remix", packages: ["@remix-run/react", "@remix-run/node"] },
    { name: "astro", packages: ["astro"] },
    { name: "sveltekit", packages: ["@sveltejs/kit"] },
    { name: "express", packages: ["express"] },
    { name: "fastify", packages: ["fastify"] },
    { name: "hono", packages: ["hono"] },
    { name: "koa", packages: ["koa"] },
    { name: "electron", packages: ["electron"] },
    { name: "svelte", packages: ["svelte"] },
    { name: "vue", packages: ["vue"] },
    { name: "react", packages: ["react"] },
  ],
  packagers,
  tools: [
    // Tests.
    {
      name: "vitest",
      packages: ["vitest"],
      files: ["vitest.config.*", "vitest.workspace.*"],
      started: /\bvitest\b/,
      calls: { test: "vitest run" },
    },
    {
      name: "jest",
      packages: ["jest", "@jest/core", "react-scripts"],
      files: ["jest.config.*"],
      parts: ["package.json#jest"],
      started: /\bjest\b|\breact-scripts test\b/,
      calls: { test: "jest" },
    },
    {
      name: "mocha",
      packages: ["mocha"],
      files: [".mocharc.*"],
      started: /\bmocha\b/,
      calls: { test: "mocha" },
    },
    { name: "ava", packages: ["ava"], started: /\bava\b/, calls: { test: "ava" } },
    { name: "tap", packages: ["tap"], started: /(?:^|\s)tap\b/, calls: { test: "tap" } },
    {
      name: "jasmine",
      packages: ["jasmine"],
      started: /\bjasmine\b/,
      calls: { test: "jasmine" },
    },
    {
      name: "node:test",
      mentions: [
        ["**/*.test.{js,mjs,cjs,ts,mts,cts}", /["']node:test["']/],
        ["{test,tests}/**/*.{js,mjs,cjs}", /["']node:test["']/],
      ],
      started: /\bnode\b.*\s--test\b/,
      calls: { test: "node --test" },
    },
    {
      name: "bun",
      files: ["bunfig.toml"],
      needs: { mentions: [["**/*.test.{js,ts,tsx}", /["']bun:test["']/]] },
      started: /\bbun test\b/,
      calls: { test: "bun test" },
    },
    {
      name: "playwright",
      packages: ["@playwright/test"],
      files: ["playwright.config.*"],
      started: /\bplaywright test\b/,
      calls: { test: "playwright test" },
    },
    // Linters; who formats, too, comes after those who only format.
    {
      name: "eslint",
      packages: ["eslint"],
      files: ["eslint.config.*", ".eslintrc", ".eslintrc.*"],
      needs: {
        files: ["eslint.config.*", ".eslintrc", ".eslintrc.*"],
        parts: ["package.json#eslintConfig"],
      },
      started: /\beslint\b/,
      calls: { lint: "eslint ." },
    },
    {
      name: "oxlint",
      packages: ["oxlint"],
      files: [".oxlintrc.json"],
      started: /\boxlint\b/,
      calls: { lint: "oxlint" },
    },
    { name: "xo", packages: ["xo"], started: /(?:^|\s)xo\b/, calls: { lint: "xo" } },
    {
      name: "standard",
      packages: ["standard"],
      started: /(?:^|\s)standard\b/,
      calls: { lint: "standard" },
    },
    {
      name: "prettier",
      packages: ["prettier"],
      files: [".prettierrc", ".prettierrc.*", "prettier.config.*"],
      parts: ["package.json#prettier"],
      started: /\bprettier\b/,
      calls: { format: "prettier --check ." },
    },
    {
      name: "dprint",
      packages: ["dprint"],
      files: ["dprint.json", ".dprint.json"],
      started: /\bdprint\b/,
      calls: { format: "dprint check" },
    },
    {
      name: "biome",
      packages: ["@biomejs/biome"],
      files: ["biome.json", "biome.jsonc"],
      started: /\bbiome\b/,
      calls: { lint: "biome lint .", format: "biome format ." },
    },
    // Types.
    {
      name: "vue-tsc",
      packages: ["vue-tsc"],
      needs: { files: ["tsconfig.json"] },
      calls: { typecheck: "vue-tsc --noEmit" },
    },
    {
      name: "svelte-check",
      packages: ["svelte-check"],
      needs: { files: ["tsconfig.json", "jsconfig.json"] },
      calls: { typecheck: "svelte-check" },
    },
    {
      name: "tsc",
      packages: ["typescript"],
      needs: { mentions: [["tsconfig.json", /"references"\s*:\s*\[\s*[{/]/]] },
      calls: { typecheck: "tsc -b" },
    },
    {
      name: "tsc",
      packages: ["typescript"],
      needs: { files: ["tsconfig.json"] },
      calls: { typecheck: "tsc --noEmit" },
    },
    { name: "flow", packages: ["flow-bin"], calls: { typecheck: "flow check" } },
  ],
  uses,
  scripts,
  call: (_, packager, call) =>
    `${execOf(packager)}${call}`.replace(/^npx --no-install node /, "node "),
  install,
};

/** What the workspaces need counts as well: their tests are the project's. */
function uses(tree: Tree): Uses {
  const found = new Map<string, Ground>();
  for (const file of [manifest, ...workspacesOf(tree)]) {
    for (const group of ["devDependencies", "dependencies", "optionalDependencies"]) {
      for (const name of Object.keys(objectIn(tree.json(file), group))) {
        if (!found.has(name)) found.set(name, { why: `${group} of ${file}`, file });
      }
    }
  }
  return found;
}

// ── installing ─────────────────────────────────────────────────────────────────────────────────

function install(tree: Tree, packager: Packager): Installed {
  const workspaces = workspacesOf(tree);
  const manifests = [manifest, ...workspaces];
  const needed = manifests.some((file) =>
    ["dependencies", "devDependencies", "optionalDependencies"].some(
      (group) => Object.keys(objectIn(tree.json(file), group)).length > 0,
    ),
  );
  const folders = manifests.map((file) => file.replace(/package\.json$/, "node_modules"));
  const lock = packager.keyFiles.find((file) => /lock|shrinkwrap/.test(file) && tree.has(file));
  const plugAndPlay =
    packager.name === "yarn" &&
    isBerry(tree) &&
    !/^nodeLinker:\s*["']?(?:node-modules|pnpm)/m.test(tree.text(".yarnrc.yml") ?? "");
  const installed: Installed = {
    folders: plugAndPlay
      ? [".yarn/cache", ".yarn/unplugged", ".pnp.cjs", ".pnp.loader.mjs"]
      : folders,
    keyFiles: [
      ...manifests,
      ...packager.keyFiles.flatMap((each) => (each.includes("*") ? tree.like(each) : [each])),
      ...usedByInstalling(tree, manifests),
    ],
    programs: packager.programs,
  };
  // Folders that the repository itself holds are filled already.
  if ((!needed && workspaces.length === 0) || tree.hasFolder("node_modules")) return installed;
  const text = setupOf(packager.name, lock !== undefined, tree);
  const why = lock === undefined ? `${manifest}, without a lock file` : `${lock} is there`;
  return { ...installed, setup: { text, why, file: lock ?? manifest } };
}

function setupOf(name: string, locked: boolean, tree: Tree): string {
  switch (name) {
    case "pnpm":
      return locked ? "pnpm install --frozen-lockfile" : "pnpm install --no-lockfile";
    case "yarn":
      if (!locked) return "yarn install";
      return isBerry(tree) ? "yarn install --immutable" : "yarn install --frozen-lockfile";
    case "bun":
      return locked ? "bun install --frozen-lockfile" : "bun install --no-save";
    default:
      return locked ? "npm ci" : "npm install --no-package-lock";
  }
}

/** Files that installing itself runs or reads: they decide what the folders hold. */
function usedByInstalling(tree: Tree, manifests: readonly string[]): string[] {
  const found: string[] = [];
  for (const file of manifests) {
    const own = scriptsOf(tree.json(file));
    const folder = file.slice(0, -manifest.length).replace(/\/$/, "");
    for (const name of ["preinstall", "install", "postinstall", "prepare"]) {
      const named = namedFiles(own.get(name) ?? "", folder);
      found.push(
        ...named.filter((each) => tree.has(each)),
        ...named.map((each) => within(folder, each)).filter((each) => tree.has(each)),
      );
    }
  }
  return [...found, ...tree.like("**/schema.prisma")];
}
