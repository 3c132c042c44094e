import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as net from "node:net";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { bundle } from "../../torture/rig.ts";
import {
  type Access,
  canHide,
  canLayer,
  type Ended,
  type ExecOptions,
  enclosedBy,
  exec,
  mintTrusted,
} from "../exec.ts";

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

/** Tried as a user would; how it is called by us is what is tested. */
const noBubblewrap =
  spawnSync("bwrap", ["--dev-bind", "/", "/", "--unshare-pid", "true"]).status !== 0;
const means = [
  ["namespaces", "", false],
  ["bubblewrap", "own", noBubblewrap],
] as const;

describe.each(means)("by %s, a hidden folder", (by, unwanted, isAbsent) => {
  beforeEach(async ({ skip }) => {
    skip(isAbsent, `${by} cannot be had here`);
    process.env["AUTODEV_NO_NAMESPACE"] = unwanted;
    expect(await enclosedBy()).toBe(by);
  });

  it("is empty to the command and cannot be written, and stays as it was", async () => {
    const hide = [at("hidden")];
    const { tail, code } = await run("ls -A ../hidden; echo x >../hidden/new || pwd", { hide });
    expect(code).toBe(0);
    // Which of the two streams is heard first is left to chance.
    expect(tail).toContain(at("work"));
    expect(tail.length).toBe(2);
    expect(fs.readdirSync(at("hidden")).sort()).toEqual(["file", "kept", "other"]);
  });

  it("stays hidden within a folder that was closed before it", async () => {
    const access: Access[] = [
      { path: at("hidden"), writable: false },
      { path: at("work"), writable: true },
      { path: at("hidden/kept"), writable: false, hidden: true },
    ];
    const looks =
      "cat ../hidden/file; echo; ls -A ../hidden/kept; echo x >../hidden/kept/new || pwd";
    const { tail } = await run(looks, { access });
    expect(tail).toContain("secret");
    expect(tail).toContain(at("work"));
    expect(tail.join()).not.toContain("deep");
    expect(fs.readdirSync(at("hidden/kept"))).toEqual(["deep"]);
  });

  it("may be a file, which is empty then, by whatever link it is read", async () => {
    fs.symlinkSync("file", at("hidden/link"));
    const looks = "cat ../hidden/file ../hidden/link; echo x >../hidden/file; ls ../hidden/other";
    const hidden = { path: at("hidden/link"), writable: false, hidden: true } as const;
    for (const options of [{ access: [hidden] }, { hide: [at("hidden/link")] }]) {
      expect(await run(looks, options)).toMatchObject({ code: 0, tail: [] });
    }
    expect(fs.readFileSync(at("hidden/file"), "utf8")).toBe("secret");
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

describe.each(means)("by %s, a place", (by, unwanted, isAbsent) => {
  const access = (): Access[] => [
    { path: root, writable: false },
    { path: at("hidden/file"), writable: false },
    { path: at("nowhere"), writable: false },
    { path: at("work"), writable: true },
  ];
  beforeEach(({ skip }) => {
    skip(isAbsent, `${by} cannot be had here`);
    process.env["AUTODEV_NO_NAMESPACE"] = unwanted;
  });

  it("that is closed can be read and not written, one that is open in it can", async () => {
    const line = `cat ../hidden/file; echo x >mine && echo written
      for each in "echo x >../new" "echo x >../hidden/file" "rm -r ../hidden" "mv ../hidden ../h"; do
        sh -c "$each" 2>/dev/null && echo "did $each"
      done; true`;
    expect((await run(line, { access: access() })).tail).toEqual(["secretwritten"]);
    expect(fs.readdirSync(root).sort()).toEqual(["hidden", "work"]);
    expect(fs.readFileSync(at("work/mine"), "utf8")).toBe("x\n");
  });

  it("stays closed, whatever the command mounts", async () => {
    const line = `mount -o remount,bind,rw "$PWD/.." || umount "$PWD/.." ||
      unshare -Urm sh -c 'umount "$PWD/.." || mount -o remount,bind,rw "$PWD/.."'; echo x >../new`;
    expect((await run(line, { access: access() })).code).not.toBe(0);
    expect(fs.existsSync(at("new"))).toBe(false);
  });

  it("is closed through a link that leads to it as well", async () => {
    fs.symlinkSync(root, path.join(scratch, `link ${counter}`));
    const linked = path.join(scratch, `link ${counter}`);
    const places = [
      { path: path.join(linked, "hidden"), writable: false },
      { path: path.join(linked, "work"), writable: true },
    ];
    const line = "echo x >mine; echo x >../hidden/new";
    expect((await run(line, { access: places })).code).not.toBe(0);
    expect(fs.existsSync(at("hidden/new"))).toBe(false);
    expect(fs.existsSync(at("work/mine"))).toBe(true);
  });

  it("that is replaced all the time keeps no command from starting", async () => {
    const stop = new AbortController();
    const file = JSON.stringify(at("hidden/file"));
    const busy = exec(
      {
        program: "node",
        args: [
          "-e",
          `const fs = require("node:fs");
           console.log("up");
           setInterval(() => { fs.writeFileSync(${file} + "2", "new"); fs.renameSync(${file} + "2", ${file}); }, 5)`,
        ],
      },
      { cwd: root, marker: "busy", signal: stop.signal },
    );
    const places = [{ path: at("hidden/file"), writable: false }];
    const said: (string | undefined)[] = [];
    for (let n = 0; n < 20; n++) {
      const ended = await run("read -r word; echo $word", {
        access: places,
        talk(to) {
          to.say("hello");
          to.hangUp();
        },
      });
      said.push(ended.notStarted ?? ended.tail[0]);
    }
    stop.abort();
    await busy;
    expect(new Set(said)).toEqual(new Set(["hello"]));
  });

  it("on another machine is out of reach without a network; its own loopback is there", async () => {
    const line = `grep : /proc/net/dev | cut -d: -f1 | tr -d ' '
      node -e 'const s = require("node:net").createServer((c) => c.end("heard")).listen(0, "127.0.0.1", () =>
        require("node:net").connect(s.address().port, "127.0.0.1").on("data", (d) => { console.log(String(d)); s.close(); }))'`;
    expect(await enclosedBy({ network: "off" })).toBe(by);
    expect((await run(line, { network: "off" })).tail).toEqual(["lo", "heard"]);
    expect((await run(line, { network: "off", access: access() })).tail).toEqual(["lo", "heard"]);
  });

  it("where this machine listens is out of reach without a network", async () => {
    const server = net.createServer((socket) => socket.end("host"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as net.AddressInfo;
    const line = `node -e 'require("node:net").connect(${port}, "127.0.0.1").on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code))'`;
    expect((await run(line)).tail).toEqual(["host"]);
    expect((await run(line, { network: "off" })).tail).toEqual(["ECONNREFUSED"]);
    await new Promise((resolve) => server.close(resolve));
  });
});

it("a command that is to have no network is not started where it cannot be taken away", async () => {
  process.env["AUTODEV_NO_NAMESPACE"] = "1";
  expect(await enclosedBy({ network: "off" })).toBeUndefined();
  const ended = await run("true", { network: "off" });
  expect(ended.notStarted).toBe("the network cannot be taken away here");
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
    `import { canHide, canLayer, enclosedBy, exec, mintTrusted } from ${from};
     const [, , root] = process.argv;
     const layer = { folder: root + "/work", below: root + "/below", work: root + "/kernel" };
     const options = { cwd: root + "/work", marker: "x", layer,
       hide: [root + "/hidden", root + "/below"], keep: [root + "/hidden/kept"] };
     const line = 'id -u; ls -A ../hidden; cat deps/x; echo new >deps/x; rm -r deps; ls ../below';
     const all = async () => [await canHide(), await canLayer(root),
       (await exec(mintTrusted(line), options)).tail];
     const apart = async () => {
       const { tail } = await exec(mintTrusted("id -u; grep : /proc/net/dev | cut -d: -f1; echo x >../work/x; echo x >../new"),
         { cwd: root + "/work", marker: "x", network: "off",
           access: [{ path: root, writable: false }, { path: root + "/work", writable: true }] });
       return [await enclosedBy({ network: "off" }), tail.slice(0, 2)];
     };
     void (async () => {
       const each = [await all(), await apart()];
       process.env.AUTODEV_NO_NAMESPACE = "own";
       each.push(await apart());
       process.stdout.write(JSON.stringify(each));
     })();`,
  );
  const program = await bundle(entry, { out: path.join(scratch, "entry.cjs") });
  for (const name of ["below/deps", "kernel"]) fs.mkdirSync(at(name), { recursive: true });
  fs.writeFileSync(at("below/deps/x"), "below\n");
  spawnSync("chown", ["-R", "65534:65534", root]);
  const as = ["--reuid=65534", "--regid=65534", "--clear-groups", process.execPath, program, root];
  const { stdout, stderr } = spawnSync("setpriv", as, { encoding: "utf8" });
  expect(stderr).toBe("");
  const [all, own, wrapped] = JSON.parse(stdout) as unknown[];
  expect(all).toEqual([true, true, ["65534", "kept", "below"]]);
  expect(own).toEqual(["namespaces", ["65534", "    lo"]]);
  if (!noBubblewrap) expect(wrapped).toEqual(["bubblewrap", ["65534", "    lo"]]);
  expect([fs.existsSync(at("new")), fs.existsSync(at("work/x"))]).toEqual([false, true]);
  expect(fs.readFileSync(at("below/deps/x"), "utf8")).toBe("below\n");
});
