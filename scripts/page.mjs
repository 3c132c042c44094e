/** Builds the dashboard's page: one script, one style sheet, a worker; no more than people wait for. */
import { copyFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** Of all scripts together, compressed: what a phone on a bad line has to fetch. */
const mostBytes = 60 * 1024;

/** `outdir`: where it is found beside the program. */
export async function buildPage(outdir) {
  const worker = "web/run/layout-worker.ts";
  await build({
    entryPoints: { app: "web/main.tsx", ...(existsSync(worker) && { layout: worker }) },
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
  copyFileSync("web/index.html", join(outdir, "index.html"));
  const sizes = readdirSync(outdir)
    .filter((name) => name.endsWith(".js"))
    .map((name) => [name, gzipSync(readFileSync(join(outdir, name)), { level: 9 }).length]);
  const all = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
  if (all > mostBytes) {
    const each = sizes.map(([name, bytes]) => `${name} ${bytes}`).join(", ");
    throw new Error(`the page's scripts have ${all} bytes compressed, of ${mostBytes}: ${each}`);
  }
}
