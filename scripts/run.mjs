/** Runs a TypeScript program of ours: bundled on the fly, the bundle removed afterwards. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { build } from "esbuild";

const [entry, ...args] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "autodev-run-"));
const bundle = join(folder, `${basename(entry, ".ts")}.cjs`);
try {
  await build({
    entryPoints: [entry],
    outfile: bundle,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    external: ["esbuild", "playwright-core"],
    logLevel: "warning",
    // The bundle is elsewhere, what we ship is here.
    define: { "import.meta.dirname": JSON.stringify(process.cwd()) },
    banner: { js: `module.paths.push(${JSON.stringify(join(process.cwd(), "node_modules"))});` },
  });
  const { status, signal } = spawnSync(process.execPath, [bundle, ...args], { stdio: "inherit" });
  process.exitCode = signal ? 130 : (status ?? 1);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
