/**
 * Clean checkouts with real package managers: what a check sees is the commit, whatever the user's
 * working copy holds, whatever an earlier check did to its dependencies, and whoever was killed.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type CheckoutSite,
  type CleanCheckout,
  cleanCheckout,
  dependencyFolder,
} from "../src/activities/clean-checkout.ts";
import type { Dependencies } from "../src/dependency-cache.ts";
import { canHide, canLayer, type Ended, exec, mintTrusted } from "../src/exec.ts";
import { openGit } from "../src/git/call.ts";
import { bundle } from "../torture/rig.ts";
import { makeFolder, makeRepo, type Repo } from "./rig.ts";

const npmCi = "npm ci --offline --no-audit --no-fund";
const npm: Dependencies = {
  folders: ["node_modules"],
  keyFiles: ["package.json", "package-lock.json"],
  tools: ["node", "npm"],
};

let repo: Repo;
let checks: string;

const setEnvironment = (name: string, value: string | undefined): void => {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
};

const before = { ...process.env };
afterEach(() => {
  for (const name of Object.keys(process.env)) setEnvironment(name, before[name]);
});

beforeEach(() => {
  checks = path.join(makeFolder("cache"), "checks");
});

const siteOf = (setup: string | undefined, dependencies?: Dependencies): CheckoutSite => {
  const gitDir = repo.at(".git");
  const never = new AbortController().signal;
  return {
    git: openGit({ gitDir, commonDir: gitDir, workTree: repo.root }),
    folders: { attempts: repo.at(".autodev/var"), checks, scratch: checks, transcripts: "" },
    setup: setup === undefined ? undefined : mintTrusted(setup),
    gateMs: 120_000,
    signal: never,
    killNow: never,
    tell: () => {},
    ...(dependencies && { dependencies }),
  };
};

async function checkout(site: CheckoutSite, slot = 0, commit = head()): Promise<CleanCheckout> {
  const made = await cleanCheckout(site, { id: "run" }, { slot, commit });
  if (!made.ok) throw new Error(made.failure.message);
  const { setupEnded } = made.value;
  if (setupEnded) throw new Error(`set-up: ${setupEnded.notStarted} ${setupEnded.tail.join("\n")}`);
  return made.value;
}

const head = (): string => repo.git("rev-parse", "HEAD").trim();

const gate = ({ folder, env, hide, keep, layer }: CleanCheckout, line: string): Promise<Ended> =>
  exec(mintTrusted(line), { cwd: folder, env, hide, keep, ...(layer && { layer }), marker: "run" });

const said = async (place: CleanCheckout, line: string): Promise<string> => {
  const { tail, code } = await gate(place, line);
  return [...tail, ...(code === 0 ? [] : [`(${code})`])].join("\n");
};

function commitAll(): void {
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "--allow-empty", "--message=step");
}

const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, {
    cwd: repo.root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });

const entries = (): string[] =>
  fs.existsSync(dependencyFolder(checks)) ? fs.readdirSync(dependencyFolder(checks)) : [];

/** An npm workspace, where `a` uses its neighbour `b` and a package from a file. */
function makeWorkspace(): void {
  const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
  const vendor = makeFolder("vendor");
  fs.mkdirSync(path.join(vendor, "package"));
  fs.writeFileSync(path.join(vendor, "package", "index.js"), 'module.exports = "dep";\n');
  fs.writeFileSync(
    path.join(vendor, "package", "package.json"),
    json({ name: "dep", version: "1.0.0" }),
  );
  repo = makeRepo({
    ".gitignore": "node_modules/\n",
    "package.json": json({
      name: "root",
      private: true,
      workspaces: ["packages/*"],
      dependencies: { dep: "file:dep-1.0.0.tgz" },
    }),
    "packages/a/package.json": json({
      name: "@ws/a",
      version: "1.0.0",
      dependencies: { "@ws/b": "1.0.0" },
    }),
    "packages/a/index.js": 'console.log(require("@ws/b"), require("dep"));\n',
    "packages/b/package.json": json({ name: "@ws/b", version: "1.0.0" }),
    "packages/b/index.js": 'module.exports = "committed";\n',
  });
  execFileSync("tar", ["-czf", repo.at("dep-1.0.0.tgz"), "-C", vendor, "package"]);
  run("npm", "install", "--offline", "--no-audit", "--no-fund");
  commitAll();
}

const useOfBoth = "node packages/a/index.js";

const worlds = [
  { world: "with namespaces", none: undefined },
  { world: "without namespaces", none: "1" },
] as const;

describe.each(worlds)("npm workspaces, $world", ({ none }) => {
  let base: string;
  /** One cache for all that need nothing but a filled one. */
  let shared: string;
  beforeAll(() => {
    makeWorkspace();
    base = head();
    shared = path.join(makeFolder("shared"), "checks");
  }, 60_000);
  beforeEach(() => {
    setEnvironment("AUTODEV_NO_NAMESPACE", none);
    setEnvironment("npm_config_ignore_scripts", "false");
    repo.git("reset", "--quiet", "--hard", base);
  });

  const use = useOfBoth;

  it("sees the commit's neighbour, not the one that the user is at", async () => {
    repo.write("packages/b/index.js", 'module.exports = "the user\'s";\n');
    setEnvironment("NODE_PATH", repo.at("node_modules"));
    setEnvironment("INIT_CWD", repo.root);
    const site = siteOf(npmCi, npm);
    for (const filled of ["setup", "cache", "cache"]) {
      const place = await checkout(site);
      expect(place.filled).toBe(filled);
      expect(await said(place, use)).toBe("committed dep");
      expect(await said(place, "readlink -f node_modules/@ws/b")).toBe(
        `${place.folder}/packages/b`,
      );
    }
    expect(run("node", "packages/a/index.js").trim()).toBe("the user's dep");
  });

  it("fails on the commit's broken neighbour, though the user's is whole", async () => {
    repo.write("packages/b/index.js", "throw new Error('broken');\n");
    commitAll();
    const broken = head();
    repo.git("reset", "--quiet", "--hard", base);
    setEnvironment("NODE_PATH", repo.at("node_modules"));
    const site = siteOf(npmCi, npm);
    for (const filled of ["setup", "cache"]) {
      const place = await checkout(site, 0, broken);
      expect(place.filled).toBe(filled);
      expect((await gate(place, use)).code).toBe(1);
    }
    expect(await said(await checkout(site, 0, base), use)).toBe("committed dep");
  });

  it("finds nothing of the user's node_modules without a set-up command", async () => {
    const place = await checkout(siteOf(undefined, npm));
    expect(place.filled).toBe("none");
    expect(fs.existsSync(repo.at("node_modules/dep/index.js"))).toBe(true);
    expect((await gate(place, use)).code).toBe(1);
    expect(entries()).toEqual([]);
  });

  it("shares one entry among slots, each with links into itself", async () => {
    const site = siteOf(npmCi, npm);
    expect((await checkout(site, 0)).filled).toBe("setup");
    const place = await checkout(site, 1);
    expect(place.filled).toBe("cache");
    expect(await said(place, `${use}; readlink -f node_modules/@ws/b`)).toBe(
      `committed dep\n${place.folder}/packages/b`,
    );
  });

  it.each([
    ["writes into a file", "echo 'module.exports = \"evil\";' >node_modules/dep/index.js"],
    [
      "writes into a file in place, with its old time",
      "t=$(stat -c %Y node_modules/dep/index.js); chmod -R u+w node_modules; printf evil | dd of=node_modules/dep/index.js conv=notrunc 2>/dev/null; touch -d @$t node_modules/dep/index.js",
    ],
    ["removes everything", "rm -rf node_modules/* node_modules/.package-lock.json"],
    [
      "adds a package that wins",
      "mkdir -p packages/a/node_modules/dep && echo 'module.exports = \"evil\";' >packages/a/node_modules/dep/index.js",
    ],
    [
      "turns a package into a link",
      "rm -r node_modules/dep && ln -s ../packages/b node_modules/dep",
    ],
    ["closes it", "chmod 000 node_modules/dep node_modules/@ws"],
  ])("shows nothing of a gate that %s to the next one", async (_, scribble) => {
    checks = shared;
    const site = siteOf(npmCi, npm);
    for (let round = 0; round < 2; round++) {
      const place = await checkout(site);
      expect((await gate(place, scribble)).code).toBe(0);
      const next = await checkout(site, round);
      expect(next.filled).toBe("cache");
      expect(await said(next, use)).toBe("committed dep");
    }
  });

  it("does not use an entry that somebody has written into", async () => {
    const site = siteOf(npmCi, npm);
    await checkout(site);
    const [id = ""] = entries();
    const file = path.join(dependencyFolder(checks), id, "tree/node_modules/dep/index.js");
    const { atime, mtime, size } = fs.statSync(file);
    fs.writeFileSync(file, 'module.exports = "bad";\n');
    fs.utimesSync(file, atime, mtime);
    expect(fs.statSync(file).size).toBe(size);
    const place = await checkout(site);
    expect(place.filled).toBe("setup");
    expect(await said(place, use)).toBe("committed dep");
    expect((await checkout(site)).filled).toBe("cache");
  });

  it("runs the set-up command once for two that want the same at once", async () => {
    const site = siteOf(npmCi, npm);
    const places = await Promise.all([checkout(site, 0), checkout(site, 1)]);
    expect(places.map(({ filled }) => filled).sort()).toEqual(["cache", "setup"]);
    for (const place of places) expect(await said(place, use)).toBe("committed dep");
  });
});

describe("an npm workspace's set-up command", () => {
  let base: string;
  beforeAll(() => {
    makeWorkspace();
    base = head();
  }, 60_000);
  beforeEach(() => {
    setEnvironment("npm_config_ignore_scripts", "false");
    repo.git("reset", "--quiet", "--hard", base);
  });

  it("installs anew when a manifest, the command or a tool is another", async () => {
    expect((await checkout(siteOf(npmCi, npm))).filled).toBe("setup");
    repo.write("packages/b/index.js", 'module.exports = "other";\n');
    commitAll();
    expect((await checkout(siteOf(npmCi, npm))).filled).toBe("cache");
    expect((await checkout(siteOf(`${npmCi} --no-progress`, npm))).filled).toBe("setup");
    const tools = { ...npm, tools: [...npm.tools, "git"] };
    expect((await checkout(siteOf(npmCi, tools))).filled).toBe("setup");
    const manifest = JSON.parse(repo.read("package.json")) as object;
    repo.write("package.json", JSON.stringify({ ...manifest, version: "2.0.0" }));
    commitAll();
    expect((await checkout(siteOf(npmCi, npm))).filled).toBe("setup");
  });

  it("runs the set-up command every time if it does more than install", async () => {
    for (let round = 0; round < 2; round++) {
      const place = await checkout(siteOf(`${npmCi} && echo built >built.txt`, npm));
      expect(place.filled).toBe("setup");
      expect(await said(place, `cat built.txt; ${useOfBoth}`)).toBe("built\ncommitted dep");
    }
    expect(entries()).toEqual([]);
  });

  it("runs the set-up command every time if what it installs lies elsewhere too", async () => {
    const manifest = JSON.parse(repo.read("package.json")) as object;
    const scripts = { postinstall: "echo generated >generated.txt" };
    repo.write("package.json", JSON.stringify({ ...manifest, scripts }));
    commitAll();
    for (let round = 0; round < 2; round++) {
      const place = await checkout(siteOf(npmCi, npm));
      expect(place.filled).toBe("setup");
      expect(await said(place, "cat generated.txt")).toBe("generated");
    }
  });

  it("installs anew for every tree whose own scripts have a hand in it", async () => {
    const manifest = JSON.parse(repo.read("package.json")) as object;
    const scripts = { postinstall: "cp schema.txt node_modules/schema.txt" };
    repo.write("package.json", JSON.stringify({ ...manifest, scripts }));
    for (const schema of ["first", "second"]) {
      repo.write("schema.txt", schema);
      commitAll();
      for (const filled of ["setup", "cache"]) {
        const place = await checkout(siteOf(npmCi, npm));
        expect(place.filled).toBe(filled);
        expect(await said(place, "cat node_modules/schema.txt")).toBe(schema);
      }
    }
  });
});

// ── other processes, and their death ───────────────────────────────────────────────────────────

/** Makes a checkout in a process of its own, which can be killed. */
const script = `
const [, , root, checks, slot, commit, setup, dependencies] = process.argv;
const gitDir = root + "/.git";
const never = new AbortController().signal;
const site = {
  git: openGit({ gitDir, commonDir: gitDir, workTree: root }),
  folders: { attempts: root, checks, scratch: checks },
  setup: mintTrusted(setup), dependencies: JSON.parse(dependencies),
  gateMs: 120000, signal: never, killNow: never, tell() {},
};
cleanCheckout(site, { id: "run" }, { slot: Number(slot), commit }).then((made) => {
  process.stdout.write(JSON.stringify(made.ok ? { filled: made.value.filled } : made.failure));
});`;

/** Takes its time, as far as a test has it, and half of what it installs is there meanwhile. */
const slowNpm = `#!/bin/sh
[ "$1" = --version ] && exec echo 1.0.0
mkdir -p node_modules/dep
echo 'module.exports = "half' >node_modules/dep/index.js
sleep 0.3
echo 'module.exports = "dep";' >node_modules/dep/index.js
for name in 1 2 3 4 5 6 7 8 9; do mkdir node_modules/$name && echo $name >node_modules/$name/x; done
`;

describe("other processes", () => {
  let program: string;
  let bin: string;

  beforeAll(async () => {
    repo = makeRepo({ ".gitignore": "node_modules/\n", "package.json": "{}\n" });
    commitAll();
    bin = makeFolder("bin");
    fs.writeFileSync(path.join(bin, "npm"), slowNpm, { mode: 0o755 });
    // The last thing before an entry gets its name: there is time to die.
    fs.writeFileSync(path.join(bin, "sync"), "#!/bin/sh\nsleep 0.3\n", { mode: 0o755 });
    const source = path.join(import.meta.dirname, "..", "src");
    const from = (file: string): string => JSON.stringify(path.join(source, `${file}.ts`));
    const imports = [
      `import { cleanCheckout } from ${from("activities/clean-checkout")};`,
      `import { mintTrusted } from ${from("exec")};`,
      `import { openGit } from ${from("git/call")};`,
    ];
    const entry = path.join(bin, "entry.ts");
    fs.writeFileSync(entry, [...imports, script].join("\n"));
    program = await bundle(entry, { out: path.join(bin, "entry.cjs") });
  }, 60_000);

  const inWorld = (none: string | undefined): void => {
    setEnvironment("AUTODEV_NO_NAMESPACE", none);
    setEnvironment("PATH", `${bin}:${process.env["PATH"]}`);
  };

  const start = (slot: number): ChildProcess => {
    const args = [repo.root, checks, String(slot), head(), "npm ci", JSON.stringify(npm)];
    return spawn(process.execPath, [program, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
      env: process.env,
    });
  };

  const ending = async (child: ChildProcess): Promise<string> => {
    let text = "";
    child.stdout?.on("data", (chunk) => (text += String(chunk)));
    await once(child, "close");
    return text;
  };

  it.each(worlds)("fill the same entry at once, $world, and both have it", async ({ none }) => {
    inWorld(none);
    const ends = await Promise.all([ending(start(0)), ending(start(1))]);
    for (const end of ends) expect(end).toMatch(/^\{"filled":"(?:setup|cache)"\}$/);
    expect(entries().length).toBe(1);
    const place = await checkout(siteOf("npm ci", npm), 2);
    expect(place.filled).toBe("cache");
    expect(await said(place, use)).toBe("dep");
  });

  const moments: readonly (readonly [string, () => boolean])[] = [
    [
      "while the set-up command runs",
      () => fs.existsSync(path.join(checks, "slot-0", "node_modules")),
    ],
    ["when an entry is being filled", () => entries().some((name) => name.startsWith("filling-"))],
    [
      "when an entry has its files, but not its name",
      () =>
        entries().some((name) =>
          fs.existsSync(path.join(dependencyFolder(checks), name, "tree", "node_modules")),
        ),
    ],
    ["once an entry is there", () => entries().some((name) => /^[0-9a-f]{40}$/.test(name))],
  ];

  const cases = moments.flatMap(([moment, reached]) =>
    worlds.map(({ world, none }) => ({ moment, world, reached, none })),
  );

  it.each(cases)(
    "are killed $moment, $world: the next is right",
    async ({ moment, reached, none }) => {
      inWorld(none);
      const child = start(0);
      const ended = once(child, "close");
      while (!reached() && child.exitCode === null) await new Promise(setImmediate);
      child.kill("SIGKILL");
      // An entry that is there is one of the last things: its maker may have ended well by now.
      const [code, signal] = (await ended) as [number | null, string | null];
      if (!moment.startsWith("once")) expect([code, signal]).toEqual([null, "SIGKILL"]);
      const site = siteOf("npm ci", npm);
      const place = await checkout(site);
      expect(await said(place, use)).toBe("dep");
      expect(entries()).toEqual([expect.stringMatching(/^[0-9a-f]{40}$/)]);
      expect((await checkout(site)).filled).toBe("cache");
    },
  );

  const use = `node -p 'require("dep")'`;
});

// ── Python ─────────────────────────────────────────────────────────────────────────────────────

const python = "/usr/bin/python3";
const install = "install --quiet --no-build-isolation --no-deps -e .";
const venvSetup = `${python} -m venv --system-site-packages --without-pip .venv && .venv/bin/python -m pip ${install}`;
const venv: Dependencies = { folders: [".venv"], keyFiles: ["pyproject.toml"], tools: ["python3"] };

const layouts = [
  {
    layout: "src",
    module: "src/thing/__init__.py",
    packages: '[tool.setuptools.packages.find]\nwhere = ["src"]\n',
  },
  {
    layout: "flat",
    module: "thing/__init__.py",
    packages: '[tool.setuptools]\npackages = ["thing"]\n',
  },
];

describe.each(layouts)("a Python project of $layout layout", ({ module, packages }) => {
  let users: string;

  beforeAll(() => {
    repo = makeRepo({
      ".gitignore": ".venv/\n*.egg-info/\n__pycache__/\nbuild/\n",
      "pyproject.toml": `[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[project]\nname = "thing"\nversion = "1.0"\n[project.scripts]\nthing = "thing:main"\n${packages}`,
      [module]: 'value = "committed"\ndef main():\n    print(value, __file__)\n',
    });
    commitAll();
    // The user works in an environment of his own, with his working copy installed in it.
    users = makeFolder("users-venv");
    run(python, "-m", "venv", "--system-site-packages", "--without-pip", users);
    run(path.join(users, "bin", "python"), "-m", "pip", ...install.split(" "));
    repo.write(module, 'value = "the user\'s"\ndef main():\n    print(value, __file__)\n');
  }, 60_000);

  const activate = (): void => {
    setEnvironment("VIRTUAL_ENV", users);
    setEnvironment("PATH", `${path.join(users, "bin")}:${process.env["PATH"]}`);
  };

  it.each(worlds)(
    "is seen as committed, $world, though another copy is installed",
    async ({ none }) => {
      setEnvironment("AUTODEV_NO_NAMESPACE", none);
      activate();
      const elsewhere = "cd / && python -c 'import thing; thing.main()'";
      expect(execFileSync("sh", ["-c", elsewhere], { encoding: "utf8" })).toBe(
        `the user's ${repo.at(module)}\n`,
      );
      const place = await checkout(siteOf(undefined));
      expect(await said(place, elsewhere)).toBe(`committed ${place.folder}/${module}`);
      expect(await said(place, "thing")).toBe(`committed ${place.folder}/${module}`);
    },
  );

  it("is not there, with namespaces, when the commit has none, though the user has", async () => {
    activate();
    expect(await canHide()).toBe(true);
    const users = repo.read(module);
    repo.git("rm", "--quiet", "-r", "--force", module);
    repo.git("commit", "--quiet", "--message=gone");
    repo.write(module, users);
    try {
      const place = await checkout(siteOf(undefined));
      expect((await gate(place, "python -c 'import thing; thing.value'")).code).toBe(1);
    } finally {
      repo.git("reset", "--quiet", "--soft", "HEAD~1");
    }
  });

  it.each(worlds)("has an environment of its own in each slot, $world", async ({ none }) => {
    setEnvironment("AUTODEV_NO_NAMESPACE", none);
    const site = siteOf(venvSetup, venv);
    const own = ".venv/bin/thing && .venv/bin/python -c 'import sys; print(sys.prefix)'";
    for (const [slot, filled] of [
      [0, "setup"],
      [0, "cache"],
      [1, "setup"],
      [1, "cache"],
      [0, "cache"],
    ] as const) {
      const place = await checkout(site, slot);
      expect([slot, place.filled]).toEqual([slot, filled]);
      expect(await said(place, own)).toBe(
        `committed ${place.folder}/${module}\n${place.folder}/.venv`,
      );
    }
  });

  it("leads the user's own .venv to the checkout's", async () => {
    setEnvironment("VIRTUAL_ENV", repo.at(".venv"));
    setEnvironment("PATH", `${repo.at(".venv/bin")}:${process.env["PATH"]}`);
    const place = await checkout(siteOf(venvSetup, venv));
    expect(await said(place, "thing; echo $VIRTUAL_ENV")).toBe(
      `committed ${place.folder}/${module}\n${place.folder}/.venv`,
    );
  });
});

it("layers can be had on this machine, so that both ways were tried", async () => {
  fs.mkdirSync(checks, { recursive: true });
  expect(await canLayer(checks)).toBe(true);
  setEnvironment("AUTODEV_NO_NAMESPACE", "1");
  expect(await canLayer(checks)).toBe(false);
});
