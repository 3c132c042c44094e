import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { bundle } from "../../torture/rig.ts";
import { canHide, canLayer, type Ended, type ExecOptions, exec, mintTrusted } from "../exec.ts";

const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "autodev-sight-")));
fs.chmodSync(scratch, 0o755);
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }));

let counter = 0;
let root: string;
const at = (name: string): string => path.join(root, name);

beforeEach(() => {
  root = path.join(scratch, `with space ${++counter}`);
  for (const name of ["hidden/kept/deep", "hidden/other", "work"]) {
    fs.mkdirSync(at(name), { recursive: true });
  }
  fs.writeFileSync(at("hidden/file"), "secret");
  fs.writeFileSync(at("hidden/kept/deep/file"), "kept");
});

afterEach(() => {
  delete process.env["AUTODEV_NO_NAMESPACE"];
});

const run = (line: string, options: Partial<ExecOptions> = {}): Promise<Ended> =>
  exec(mintTrusted(line), { cwd: at("work"), marker: "sight", ...options });

describe("a hidden folder", () => {
  it("is empty to the command and cannot be written, and stays as it was", async () => {
    const hide = [at("hidden")];
    const { tail, code } = await run("ls -A ../hidden; echo x >../hidden/new || pwd", { hide });
    expect(code).toBe(0);
    // Which of the two streams is heard first is left to chance.
    expect(tail).toContain(at("work"));
    expect(tail.length).toBe(2);
    expect(fs.readdirSync(at("hidden")).sort()).toEqual(["file", "kept", "other"]);
  });

  it("shows what is kept of it, to be read", async () => {
    const options = { hide: [at("hidden")], keep: [at("hidden/kept/deep")] };
    const list = "find ../hidden | sort; cat ../hidden/kept/deep/file";
    expect((await run(list, options)).tail).toEqual([
      "../hidden",
      "../hidden/kept",
      "../hidden/kept/deep",
      "../hidden/kept/deep/file",
      "kept",
    ]);
    const writes = await run("echo x >../hidden/kept/deep/file; echo x >../hidden/new", options);
    expect(writes.code).not.toBe(0);
    expect(fs.readFileSync(at("hidden/kept/deep/file"), "utf8")).toBe("kept");
  });

  it("may lie in another, or not be there", async () => {
    const hide = [at("hidden/other"), at("hidden"), at("nowhere")];
    expect((await run("ls -A ../hidden", { hide })).tail).toEqual([]);
  });

  it("holds nothing open for the command", async () => {
    const options = { hide: [at("hidden")], keep: [at("hidden/kept")] };
    const { tail } = await run("ls -l /proc/self/fd", options);
    expect(tail.join("\n")).not.toContain("hidden");
  });

  it("that the command would work in keeps it from starting", async () => {
    const ended = await run("true", { cwd: at("hidden/other"), hide: [at("hidden")] });
    expect(ended.code).toBeNull();
    expect(ended.notStarted).toContain("hidden/other");
  });

  it("is hidden from everything that the command starts; the command can be stopped", async () => {
    const stop = new AbortController();
    const hide = [at("hidden")];
    const onLine = (): void => stop.abort();
    const line = "trap 'ls -A ../hidden; echo stopped; exit 3' TERM; echo up; sleep 20 & wait";
    const ended = await run(line, { hide, signal: stop.signal, onLine });
    expect(ended).toMatchObject({ aborted: true, code: 3, tail: ["up", "stopped"] });
  });

  it("is seen without namespaces", async () => {
    process.env["AUTODEV_NO_NAMESPACE"] = "1";
    expect(await canHide()).toBe(false);
    expect((await run("cat ../hidden/file", { hide: [at("hidden")] })).tail).toEqual(["secret"]);
  });
});

describe("a layer", () => {
  const layer = (): NonNullable<ExecOptions["layer"]> => {
    for (const name of ["below/deps", "kernel"]) fs.mkdirSync(at(name), { recursive: true });
    fs.writeFileSync(at("below/deps/x"), "below");
    return { folder: at("work"), below: at("below"), work: at("kernel") };
  };

  it("shows both, keeps what is below, and what one command changes the next one sees", async () => {
    fs.writeFileSync(at("work/own"), "own");
    const options = { layer: layer(), hide: [at("below")] };
    const first = await run("cat own deps/x; echo new >deps/x; rm own; ls -A ../below", options);
    expect(first.tail).toEqual(["ownbelow"]);
    expect((await run("cat deps/x; ls", options)).tail).toEqual(["new", "deps"]);
    expect(fs.readFileSync(at("below/deps/x"), "utf8")).toBe("below");
  });

  it("that cannot be had keeps the command from starting", async () => {
    process.env["AUTODEV_NO_NAMESPACE"] = "1";
    const ended = await run("true", { layer: layer() });
    expect(ended.notStarted).toBe("layers of folders cannot be had here");
  });

  it("is not tried in a place whose name the kernel would misread", async () => {
    expect(await canLayer(root)).toBe(true);
    const comma = at("a,b");
    fs.mkdirSync(comma);
    expect(await canLayer(comma)).toBe(false);
    expect(fs.readdirSync(comma)).toEqual([]);
    expect(fs.readdirSync(root).filter((name) => name.startsWith("layer-"))).toEqual([]);
  });
});

it.skipIf(process.getuid?.() !== 0)("works the same for a user who is not root", async () => {
  const entry = path.join(scratch, "entry.ts");
  const from = JSON.stringify(path.join(import.meta.dirname, "..", "exec.ts"));
  fs.writeFileSync(
    entry,
    `import { canHide, canLayer, exec, mintTrusted } from ${from};
     const [, , root] = process.argv;
     const layer = { folder: root + "/work", below: root + "/below", work: root + "/kernel" };
     const options = { cwd: root + "/work", marker: "x", layer,
       hide: [root + "/hidden", root + "/below"], keep: [root + "/hidden/kept"] };
     const line = 'id -u; ls -A ../hidden; cat deps/x; echo new >deps/x; rm -r deps; ls ../below';
     const all = async () => [await canHide(), await canLayer(root),
       (await exec(mintTrusted(line), options)).tail];
     void all().then((each) => process.stdout.write(JSON.stringify(each)));`,
  );
  const program = await bundle(entry, { out: path.join(scratch, "entry.cjs") });
  for (const name of ["below/deps", "kernel"]) fs.mkdirSync(at(name), { recursive: true });
  fs.writeFileSync(at("below/deps/x"), "below\n");
  spawnSync("chown", ["-R", "65534:65534", root]);
  const as = ["--reuid=65534", "--regid=65534", "--clear-groups", process.execPath, program, root];
  const { stdout, stderr } = spawnSync("setpriv", as, { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual([true, true, ["65534", "kept", "below"]]);
  expect(fs.readFileSync(at("below/deps/x"), "utf8")).toBe("below\n");
});
