import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  version: string;
};

describe("the package", () => {
  let folder = "";

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "autodev-package-"));
    // The gate has built it; packing must not build again while other tests run the binary.
    execFileSync("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: root });
    const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "";
    execFileSync("npm", ["init", "-y"], { cwd: folder, stdio: "ignore" });
    execFileSync("npm", ["install", "--no-audit", "--no-fund", `./${tarball}`], {
      cwd: folder,
      stdio: "ignore",
    });
  }, 120_000);

  const autodev = (...args: string[]): { status: number | null; stdout: string; stderr: string } =>
    spawnSync(join(folder, "node_modules", ".bin", "autodev"), args, {
      cwd: folder,
      // Its own place for approvals and caches: the caller's are not for tests.
      env: {
        ...process.env,
        XDG_CONFIG_HOME: join(folder, "config"),
        XDG_CACHE_HOME: join(folder, "cache"),
      },
      encoding: "utf8",
    });

  it("installs into an empty folder and says its version", () => {
    expect(autodev("--version")).toMatchObject({ status: 0, stdout: `${version}\n` });
    const autobuild = join(folder, "node_modules", ".bin", "autobuild");
    expect(spawnSync(autobuild, ["--version"], { encoding: "utf8" }).stdout).toBe(`${version}\n`);
  });

  it("shows a status there", () => {
    const { status, stdout } = autodev("status", "--json");
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ version: 1, source: "scan", runs: [] });
  });

  it("makes an example and runs it, from nothing but the tarball", () => {
    const { status, stdout, stderr } = autodev("example", "typescript", "--json");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const summary = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as {
      folder: string;
      commits: object[];
    };
    expect(summary).toMatchObject({ type: "example", trusted: true, holds: true });
    expect(summary.commits).toHaveLength(6);
    expect(readdirSync(summary.folder)).toContain(".gitignore");
  }, 180_000);

  it("has the pages that an example ends with", () => {
    const { status, stdout } = autodev("example", "python", "ledger", "--no-run");
    expect(status).toBe(0);
    const [, page = ""] = /^All about runs: (.+)$/m.exec(stdout) ?? [];
    expect(readFileSync(page, "utf8")).toContain("# Running a plan");
  });

  it("is a library with types and subpaths", () => {
    const program = `import { openProject } from "autodev";
      import { parseStateFile } from "autodev/core";
      import { storeContract } from "autodev/testing";
      console.log(typeof openProject, typeof parseStateFile, typeof storeContract);`;
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
      cwd: folder,
      encoding: "utf8",
    });
    expect(stdout).toBe("function function function\n");
  });

  it("has no install scripts and at most five runtime dependencies", () => {
    const installed = JSON.parse(
      readFileSync(join(folder, "node_modules", "autodev", "package.json"), "utf8"),
    ) as { scripts: Record<string, string>; dependencies: Record<string, string> };
    const hooks = ["preinstall", "install", "postinstall"];
    expect(hooks.filter((hook) => installed.scripts[hook])).toEqual([]);
    expect(Object.keys(installed.dependencies).length).toBeLessThanOrEqual(5);
  });
});
