/** Builds the dashboard's pages: one script and one style sheet each, a worker; no more than people wait for. */
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** Of all scripts of a page together, compressed: what a phone on a bad line has to fetch. */
const limits = [
  { page: "index.html", scripts: ["app.js", "layout.js"], mostBytes: 60 * 1024 },
  { page: "fleet.html", scripts: ["fleet.js"], mostBytes: 20 * 1024 },
];

/** `outdir`: where it is found beside the program. */
export async function buildPage(outdir) {
  await build({
    entryPoints: {
      app: "web/main.tsx",
      layout: "web/run/layout-worker.ts",
      fleet: "web/fleet/main.tsx",
    },
    outdir,
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "warning",
  });
  for (const { page, scripts, mostBytes } of limits) {
    copyFileSync(join("web", page), join(outdir, page));
    const sizes = scripts.map((name) => [name, compressed(join(outdir, name))]);
    const all = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
    if (all > mostBytes) {
      const each = sizes.map(([name, bytes]) => `${name} ${bytes}`).join(", ");
      throw new Error(`${page}'s scripts have ${all} bytes compressed, of ${mostBytes}: ${each}`);
    }
  }
}

const compressed = (file) => gzipSync(readFileSync(file), { level: 9 }).length;
