/** Builds what is published: one CommonJS bundle per command, the page, and the library as ES modules. */
import { spawnSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { build } from "esbuild";
import { buildPage } from "./page.mjs";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const commands = readdirSync("src/cli/commands")
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
  .map((name) => name.slice(0, -3));

/**
 * Every file of the examples, by example and path: they travel inside the program, so that what is
 * trusted as ours is what we built. (npm would also leave their .gitignore behind.)
 */
const examples = Object.fromEntries(
  readdirSync("examples").map((name) => {
    const folder = join("examples", name);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !isLeftover(entry))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
    const named = (file) => relative(folder, file).split(sep).join("/");
    return [
      name,
      Object.fromEntries(files.map((file) => [named(file), readFileSync(file, "utf8")])),
    ];
  }),
);

/** What running their tests in place leaves behind. */
function isLeftover({ parentPath, name }) {
  return /[\\/](?:__pycache__|node_modules|\.autobuild)(?:[\\/]|$)/.test(join(parentPath, name));
}

/**
 * `import * as fs` in a CommonJS bundle copies every property of the module at start. Named
 * exports of just what is used cost nothing: two milliseconds of every `status`.
 */
const leanBuiltins = {
  name: "lean-builtins",
  setup(bundle) {
    bundle.onResolve({ filter: /^node:(fs|path)$/ }, ({ path, kind }) =>
      kind === "import-statement" ? { path, namespace: "builtin" } : undefined,
    );
    bundle.onLoad({ filter: /.*/, namespace: "builtin" }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter(
        (name) => name !== "default" && name !== "promises",
      );
      const lines = names.map(
        (name) => `export const ${name} = /* @__PURE__ */ (() => m.${name})();`,
      );
      return { contents: `const m = process.getBuiltinModule("${path}");\n${lines.join("\n")}` };
    });
  },
};

rmSync("dist", { recursive: true, force: true });
await build({
  entryPoints: {
    main: "src/cli/main.ts",
    autobuild: "src/cli/autobuild.ts",
    program: "src/cli/program.ts",
    mcp: "src/mcp/main.ts",
    dashboard: "src/dashboard/main.ts",
    "dashboard-fleet": "src/dashboard/fleet-main.ts",
    ...Object.fromEntries(commands.map((name) => [name, `src/cli/commands/${name}.ts`])),
  },
  outdir: "dist/cli",
  outExtension: { ".js": ".cjs" },
  bundle: true,
  // Optional: only who shares runs with other machines has them.
  external: ["./main.cjs", "pg", "@dbos-inc/dbos-sdk"],
  platform: "node",
  format: "cjs",
  target: "node20",
  minify: true,
  plugins: [leanBuiltins],
  legalComments: "none",
  define: {
    AUTODEV_VERSION: JSON.stringify(version),
    AUTODEV_EXAMPLES: JSON.stringify(examples),
    // A CommonJS bundle knows its folder by this name; what we ship is found from there.
    "import.meta.dirname": "__dirname",
  },
  logLevel: "warning",
});
await buildPage("dist/web");
for (const name of ["main", "autobuild"]) chmodSync(`dist/cli/${name}.cjs`, 0o755);

if (!process.argv.includes("--cli-only")) {
  const types = spawnSync(
    process.execPath,
    ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"],
    {
      stdio: "inherit",
    },
  );
  if (types.status !== 0) process.exit(types.status ?? 1);
  await withPackages("dist/lib/formats/test-code", /from "@lezer\//);
  await withPackages("dist/lib/formats", /from "jsonc-parser"/);
  await withPackages("dist/lib", /from "aws4fetch"/);
  await withPackages("dist/lib/trackers", /from "@modelcontextprotocol\//);
}

/** Parsers and a protocol's client are nobody else's business: they come with the files that use them. */
async function withPackages(folder, used) {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(".js"))
    .map((name) => `${folder}/${name}`)
    .filter((file) => used.test(readFileSync(file, "utf8")));
  for (const file of files) {
    await build({
      entryPoints: [file],
      outfile: file,
      allowOverwrite: true,
      bundle: true,
      external: ["zod", "zod/*"],
      plugins: [oursStay(file)],
      format: "esm",
      platform: "node",
      target: "node20",
      legalComments: "none",
      logLevel: "warning",
    });
  }
}

/** What a file of ours imports of ours is a file of its own; a package's parts come along. */
function oursStay(file) {
  return {
    name: "ours-stay",
    setup(bundle) {
      bundle.onResolve({ filter: /^\.\.?\// }, ({ path, importer }) =>
        importer === resolve(file) ? { path, external: true } : undefined,
      );
    },
  };
}
