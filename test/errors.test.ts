/** Errors, explained by the built binary. */
import { describe, expect, it } from "vitest";
import { expectSchema } from "./build-rig.ts";
import { errorOf, jsonOf, makeAskedRepo, makeRepo } from "./rig.ts";

interface HelpView {
  readonly errors: readonly { readonly code: string; readonly exit: number | null }[];
  readonly exitCodes: readonly { readonly code: number }[];
}

describe.concurrent("autodev help", () => {
  const repo = makeRepo();

  it("explains a code: what, why, and what to do", async () => {
    const ran = await repo.autodev("help", "no-commits");
    expect(ran).toMatchObject({ code: 0, err: "" });
    expect(ran.out).toBe(
      [
        "no-commits: the repository has no commit yet: there is nothing to build on",
        "  a command ends with it (exit code 2)",
        "",
        "Usual causes",
        "  - git init was the last thing that happened here",
        "",
        "What to do",
        "  - git add -A && git commit -m 'First commit'",
        "",
      ].join("\n"),
    );
  });

  it("in any spelling", async () => {
    for (const code of ["TEST_FAILURE", "test-failure", "Test_failure"]) {
      expect((await repo.autodev("help", code)).out).toMatch(/^test_failure: /);
    }
  });

  it("suggests what is near", async () => {
    const ran = await repo.autodev("help", "unturst");
    expect(ran.code).toBe(2);
    expect(ran.err).toBe(
      'autodev: there is no help about "unturst"\n  → did you mean: autodev help untrusted?\n',
    );
    const evil = await repo.autodev("help", "\u001b[31mno\u0007pe");
    expect(evil.code).toBe(2);
    expect(evil.err).not.toMatch(/[\u001b\u0007]/);
  });

  it("lists all of them, and those behind an exit code", async () => {
    const all = await repo.autodev("help", "errors");
    expect(all.code).toBe(0);
    for (const code of ["untrusted", "dirty-tree", "test_failure", "cycle", "journal-torn"]) {
      expect(all.out).toMatch(new RegExp(`^  ${code} `, "m"));
    }
    const three = await repo.autodev("help", "3");
    expect(three.out).toMatch(/^exit code 3: /);
    expect(three.out).toContain("untrusted");
    expect(three.out).not.toContain("journal-damaged");
  });

  it("as JSON, of a shape that is written down", async () => {
    const all = jsonOf<HelpView>(await repo.autodev("help", "errors", "--json"));
    expectSchema(all, "help-errors");
    expect(all.errors.length).toBeGreaterThan(100);
    const one = jsonOf<HelpView>(await repo.autodev("help", "locked", "--json"));
    expectSchema(one, "help-errors");
    expect(one.errors).toMatchObject([{ code: "locked", exit: 4 }]);
    const codes = jsonOf<HelpView>(await repo.autodev("help", "exit-codes", "--json"));
    expect(codes.exitCodes.map(({ code }) => code)).toEqual([0, 1, 2, 3, 4, 5, 70, 130]);
    expect(errorOf(await repo.autodev("help", "unturst", "--json"))).toMatchObject({
      code: "usage",
    });
    expect(errorOf(await repo.autodev("help", "status", "--json"))).toMatchObject({
      hint: "autodev help status",
    });
  });

  it("is about commands as before", async () => {
    expect((await repo.autodev("help")).out).toContain("Usage: autodev");
    expect((await repo.autodev("help", "plan", "check")).out).toContain("autodev plan check");
    expect((await repo.autodev("help", "exit-codes")).out).toMatch(/^ {3}0 {2}finished/);
    expect((await repo.autodev("help", "environment")).out).toContain("AUTODEV_NO_NOTIFY");
  });
});

describe.concurrent("a failure", () => {
  it("without a way out of its own names the page about it", async () => {
    const repo = await makeAskedRepo();
    expect((await repo.autodev("decide", repo.decision.id, "A", "--as", "ann")).code).toBe(0);
    const second = await repo.autodev("decide", repo.decision.id, "B", "--as", "ben");
    expect(second.code).toBe(1);
    expect(second.err).toContain("  → autodev help decision-taken\n");
  });

  it("with one says only that", async () => {
    const ran = await makeRepo().autodev("plan", "check", "nowhere.md");
    expect(ran.err.match(/→/g)).toHaveLength(1);
    expect(ran.err).not.toContain("autodev help");
  });
});
