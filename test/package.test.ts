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

  const autodev = (...args: string[]): { status: number | null; stdout: string } =>
    spawnSync(join(folder, "node_modules", ".bin", "autodev"), args, {
      cwd: folder,
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
