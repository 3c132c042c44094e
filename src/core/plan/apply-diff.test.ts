import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { applyDiff, isDiff, type Patched } from "./apply-diff.ts";

const file = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
const textOf = (patched: Patched): string =>
  patched.is === "applied" ? patched.text : JSON.stringify(patched);
const reasonOf = (patched: Patched): string =>
  patched.is === "misfit" ? patched.reason : JSON.stringify(patched);
const replaced = file.replace("three", "THREE");

describe("a block is a diff", () => {
  it.each([
    ["diff", "anything"],
    ["patch", ""],
    ["diff title=a", ""],
    ["", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"],
    ["ts", "@@ -1 +1 @@\n-a\n+b\n"],
    ["", "@@\n-a\n+b\n"],
    ["", "\ndiff --git a/x b/x\n"],
  ])("by its label or its beginning: %j %j", (info, text) => {
    expect(isDiff(info, text)).toBe(true);
  });

  it.each([
    ["md", "---\ntitle: front matter\n---\n"],
    ["", "+++\ntitle = 'toml'\n+++\n"],
    ["difference", "a"],
    ["sql", "--- a comment\nSELECT 1\n"],
    ["py", "@@decorated"],
  ])("or it is none: %j %j", (info, text) => {
    expect(isDiff(info, text)).toBe(false);
  });
});

describe("a diff is applied", () => {
  const body = " two\n-three\n+THREE\n four\n";
  it.each([
    ["as git writes it", `--- a/x\n+++ b/x\n@@ -2,3 +2,3 @@ one\n${body}`],
    [
      "with all that git adds",
      `diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -2,3 +2,3 @@\n${body}`,
    ],
    ["without file names", `@@ -2,3 +2,3 @@\n${body}`],
    ["without line numbers", `@@\n${body}`],
    ["with dots for numbers", `@@ ... @@\n${body}`],
    ["without any head", body],
    ["with file names and no head", `--- x\n+++ x\n${body}`],
    ["with wrong line numbers", `@@ -400,3 +2,3 @@\n${body}`],
    ["with wrong counts", `@@ -2,30 +2,1 @@\n${body}`],
    ["with a line that stands above", "@@ one @@\n-three\n+THREE\n"],
    ["with blank lines after it", `@@ -2,3 +2,3 @@\n${body}\n\n`],
    ["without context", "@@ -3 +3 @@\n-three\n+THREE\n"],
    ["carried through CRLF", `@@ -2,3 +2,3 @@\n${body}`.replaceAll("\n", "\r\n")],
  ])("%s", (_, diff) => {
    expect(textOf(applyDiff(file, diff))).toBe(replaced);
  });

  it("with several hunks, all of them off by the same", () => {
    const diff = "@@ -12,1 +12,1 @@\n-two\n+TWO\n@@ -16,1 +16,1 @@\n-six\n+SIX\n";
    expect(textOf(applyDiff(file, diff))).toBe(file.replace("two", "TWO").replace("six", "SIX"));
  });

  it("where it fits nearest to its number, and never above the hunk before", () => {
    const same = "a\nx\nb\nx\nc\nx\nd\n";
    expect(textOf(applyDiff(same, "@@ -4 +4 @@\n-x\n+y\n"))).toBe("a\nx\nb\ny\nc\nx\nd\n");
    expect(textOf(applyDiff(same, "@@\n-b\n+B\n@@ -1 +1 @@\n-x\n+y\n"))).toBe(
      "a\nx\nB\ny\nc\nx\nd\n",
    );
    expect(textOf(applyDiff(same, "@@ c\n-x\n+y\n"))).toBe("a\nx\nb\nx\nc\ny\nd\n");
  });

  it("to what its lines say, spaces at their ends aside", () => {
    expect(textOf(applyDiff("a  \n\t\nb\n", "@@\n a\n\n-b\n+c\n"))).toBe("a  \n\t\nc\n");
  });

  it("to lines that begin with signs", () => {
    const sql = "-- old\n++ x\n@ y\n";
    expect(textOf(applyDiff(sql, "@@ -1,2 +1,2 @@\n--- old\n+-- new\n ++ x\n"))).toBe(
      "-- new\n++ x\n@ y\n",
    );
    expect(textOf(applyDiff(sql, "@@ -1,3 +1,3 @@\n--- old\n-++ x\n+++ y\n+-- new\n @ y\n"))).toBe(
      "++ y\n-- new\n@ y\n",
    );
  });

  it("to nothing, when it makes a file", () => {
    const made = "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n";
    expect(textOf(applyDiff("", made))).toBe("a\nb\n");
    expect(textOf(applyDiff("", "+a\n+b\n"))).toBe("a\nb\n");
    expect(reasonOf(applyDiff("c\n", made))).toMatch(/new file/);
  });

  it("down to nothing, when it empties one", () => {
    expect(textOf(applyDiff("a\nb\n", "@@ -1,2 +0,0 @@\n-a\n-b\n"))).toBe("");
  });

  it("and only the part of the file in question counts", () => {
    const part = (name: string, was: string, is: string): string =>
      `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-${was}\n+${is}\n`;
    const diff = part("x.ts", "one", "ONE") + part("y.ts", "two", "TWO");
    expect(textOf(applyDiff(file, diff, "y.ts"))).toBe(file.replace("two", "TWO"));
    expect(textOf(applyDiff(file, diff, "./x.ts"))).toBe(file.replace("one", "ONE"));
    expect(reasonOf(applyDiff(file, diff, "z.ts"))).toBe("it speaks of x.ts, y.ts and not of z.ts");
  });
});

describe("the end of a line", () => {
  const crlf = file.replaceAll("\n", "\r\n");

  it("stays CRLF in a file that has it, whatever the diff has", () => {
    const diff = "@@ -2,3 +2,4 @@\n two\n-three\n+THREE\n+3\n four\n";
    const wanted = crlf.replace("three", "THREE\r\n3");
    expect(textOf(applyDiff(crlf, diff))).toBe(wanted);
    expect(textOf(applyDiff(crlf, diff.replaceAll("\n", "\r\n")))).toBe(wanted);
    const shown = diff.replace(/^([ +-].*)$/gm, "$1\r");
    expect(textOf(applyDiff(crlf, shown))).toBe(wanted);
  });

  it("is the neighbours' in a file that has both", () => {
    expect(textOf(applyDiff("a\r\nb\r\nc\nd\n", "@@\n c\n+x\n d\n"))).toBe("a\r\nb\r\nc\nx\nd\n");
    expect(textOf(applyDiff("a\r\nb\r\nc\nd\n", "@@\n a\n+x\n b\n"))).toBe("a\r\nx\r\nb\r\nc\nd\n");
  });

  it("is missing where the diff says so", () => {
    const none = "\\ No newline at end of file\n";
    expect(textOf(applyDiff("a\nb", `@@ -1,2 +1,2 @@\n a\n-b\n${none}+c\n${none}`))).toBe("a\nc");
    expect(textOf(applyDiff("a\nb", `@@ -1,2 +1,2 @@\n a\n-b\n${none}+b\n`))).toBe("a\nb\n");
    expect(textOf(applyDiff("a\nb\n", `@@ -1,2 +1,2 @@\n a\n-b\n+b\n${none}`))).toBe("a\nb");
    expect(textOf(applyDiff("a\nb", `@@ -1,2 +1,3 @@\n+x\n a\n b\n${none}`))).toBe("x\na\nb");
  });

  it("is added where something follows a line that had none", () => {
    expect(textOf(applyDiff("a\nb", "@@\n b\n+c\n"))).toBe("a\nb\nc\n");
    expect(textOf(applyDiff("a\r\nb", "@@\n b\n+c\n"))).toBe("a\r\nb\r\nc\r\n");
  });
});

describe("a diff that does not fit", () => {
  it.each([
    [
      "names the hunk and the line that is absent",
      "@@ -2 +2 @@\n-two\n+TWO\n@@ -5 +5 @@\n-fife\n+FIVE\n",
      /^hunk 2 \(@@ -5 \+5 @@, line 4 of the diff\) does not fit: there is no line "fife" after line 2/,
    ],
    ["says when the lines are apart", "@@\n one\n-three\n", /there, but not one after the other/],
    ["says when there are two places", "@@\n-x\n+y\n", /fits on line 1 and on line 3/, "x\na\nx\n"],
    ["says when there is no place", "@@\n+y\n", /does not say where/],
    ["says when the place is not there", "@@ -99,0 +100 @@\n+y\n", /there are 7 lines/],
    [
      "says when a line has no sign",
      "@@ -1,2 +1,2 @@\n one\ntwo\n",
      /line 3 of the diff begins with/,
    ],
    ["says when it is prose", "change two to three", /line 1 of the diff begins with neither/],
    ["says when it changes nothing", "@@ -1 +1 @@\n one\n", /changes nothing/],
    ["says when there is nothing", "--- a\n+++ b\n", /holds no hunk/],
    ["says when it is empty", "", /holds no hunk/],
    ["says when it is binary", "diff --git a/x b/x\nGIT binary patch\nliteral 3\n", /binary/],
  ] as const)("%s", (_, diff, reason, text: string = file) => {
    expect(reasonOf(applyDiff(text, diff))).toMatch(reason);
  });

  it("because it was applied before says so", () => {
    const diff = "@@ -2,3 +2,3 @@\n two\n-three\n+THREE\n four\n";
    expect(applyDiff(replaced, diff)).toEqual({ is: "already" });
    expect(applyDiff(replaced, diff.replace(/@@.*@@/, "@@"))).toEqual({ is: "already" });
    expect(applyDiff(file, "@@ -1 +0,0 @@\n-gone\n").is).toBe("misfit");
  });

  it("takes no longer for being hostile", () => {
    const same = "a\n".repeat(100_000);
    expect(applyDiff(same, `@@\n${" a\n".repeat(50_000)}-b\n`).is).toBe("misfit");
    expect(applyDiff(same, `${"@@ -1,9 +1,9 @@\n a\n".repeat(1000)}-b\n`).is).toBe("misfit");
    expect(applyDiff(same, `${"@@ -1,9 +1,9 @@\n a\n".repeat(50_000)}-b\n`).is).toBe("misfit");
  }, 60_000);
});

describe("diffs that git makes of random changes", () => {
  const folder = mkdtempSync(join(tmpdir(), "autodev-diff-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Mulberry32: the same files every time. */
  function randomFrom(seed: number): (below: number) => number {
    let state = seed;
    return (below) => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
    };
  }

  const words = [
    "",
    " ",
    "-",
    "+",
    "--- a",
    "+++ b",
    "@@ -1 +1 @@",
    "\\ No",
    "é",
    "\t{",
    "}",
    "x ",
  ];

  function pair(seed: number, isDistinct: boolean, kinds = 2): { before: string; after: string } {
    const random = randomFrom(seed);
    const ends = [["\n"], ["\r\n"], ["\n", "\r\n"]][random(kinds)] as string[];
    let next = 0;
    const line = (): string =>
      (isDistinct ? `line ${next++}` : (words[random(words.length)] ?? "")) +
      (ends[random(ends.length)] ?? "\n");
    const before = Array.from({ length: random(40) }, line);
    const after = [...before];
    for (let edits = 1 + random(5); edits > 0; edits--) {
      after.splice(random(after.length + 1), random(3), ...Array.from({ length: random(3) }, line));
    }
    const cut = (lines: string[]): string => {
      const text = lines.join("");
      return random(4) === 0 ? text.replace(/\r?\n$/, "") : text;
    };
    return { before: cut(before), after: cut(after) };
  }

  function diffOf(
    seed: number,
    context: number,
    { before, after }: ReturnType<typeof pair>,
  ): string {
    const [a, b] = [join(folder, `${seed}.a`), join(folder, `${seed}.b`)];
    writeFileSync(a, before);
    writeFileSync(b, after);
    const args = [
      "-c",
      "core.autocrlf=false",
      "diff",
      "--no-index",
      "--text",
      `-U${context}`,
      a,
      b,
    ];
    const { stdout, stderr } = spawnSync("git", args, { encoding: "utf8", cwd: folder });
    if (stderr !== "") throw new Error(stderr);
    return stdout;
  }

  it("are applied byte by byte", () => {
    let tried = 0;
    for (let seed = 1; seed <= 250; seed++) {
      const context = [0, 1, 3][seed % 3] as number;
      // Without context nobody can say how a line ends in a file that has both.
      const files = pair(seed, false, context > 0 ? 3 : 2);
      if (files.before === files.after) continue;
      tried++;
      const diff = diffOf(seed, context, files);
      const patched = applyDiff(files.before, diff);
      expect(textOf(patched), `seed ${seed}\n${diff}`).toBe(files.after);
    }
    expect(tried).toBeGreaterThan(200);
  });

  it("are applied byte by byte with their line numbers shifted, or without any", () => {
    let tried = 0;
    for (let seed = 1000; seed < 1200; seed++) {
      const files = pair(seed, true);
      // Lines that are added to nothing have no place but by number.
      if (files.before === files.after || files.before === "") continue;
      tried++;
      const diff = diffOf(seed, 3, files);
      const by = (seed % 60) - 30;
      const shifted = diff.replace(
        /^@@ -(\d+)/gm,
        (_, at) => `@@ -${Math.max(1, Number(at) + by)}`,
      );
      const bare = diff.replace(/^@@ .*@@.*$/gm, "@@");
      const miscounted = diff.replace(/^@@ .*@@/gm, "@@ -1,1 +1,1 @@");
      for (const each of [shifted, bare, miscounted]) {
        expect(textOf(applyDiff(files.before, each)), `seed ${seed}\n${each}`).toBe(files.after);
      }
    }
    expect(tried).toBeGreaterThan(150);
  });

  it("never fit a file that they were applied to, but for its ends", () => {
    for (let seed = 2000; seed < 2060; seed++) {
      const files = pair(seed, true);
      if (files.before === files.after || files.before === "" || files.after === "") continue;
      expect(applyDiff(files.after, diffOf(seed, 3, files)).is).not.toBe("misfit");
    }
  });
});
