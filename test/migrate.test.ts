/** `autodev migrate`: forth, back, and shown without being done. */
import * as fs from "node:fs";
import { describe, expect, it } from "vitest";
import {
  autodevIn,
  errorOf,
  expectNoCrash,
  former,
  generation1,
  generation2,
  generation3,
  jsonOf,
  makeFolder,
  makeRepo,
  pictureOf,
  present,
  type Repo,
  type Status,
  stateText,
} from "./rig.ts";

interface Migration {
  readonly changed: boolean;
  readonly dryRun: boolean;
  readonly from: { readonly path: string; readonly generation: number };
  readonly to: { readonly path: string; readonly generation: number };
  readonly difference: readonly string[];
  readonly notes: readonly string[];
}

function makeCommitted(file: string, text: string): Repo {
  const repo = makeRepo({ [file]: text });
  repo.git("add", ".");
  repo.git("commit", "-qm", "state");
  return repo;
}

const place = ({ flow, step, name, status, subStep, retryCount, cycle }: Status): unknown => ({
  flow,
  step,
  name,
  status,
  subStep,
  retryCount,
  cycle,
});

async function migrate(repo: Repo, ...args: string[]): Promise<void> {
  const ran = await repo.autodev("migrate", ...args);
  expectNoCrash(ran);
  expect(ran.code, ran.all).toBe(0);
}

const full1 = `${generation1}owner: me

## Step ↔ SubStep Reference
step: N ← autopilot step
sub_step: M ← sub-skill's own

## Completed Steps

| Step | Name     | Completed  | Key Outcome |
|------|----------|------------|-------------|
| 0    | Problem  | 2026-01-02 | found       |
| 1    | Research | 2026-01-03 | 2 drafts, step 2 next |

## Key Decisions
- Tech stack: Rust

## Last Session
date: 2026-01-04
ended_at: Step 2 Plan — SubStep 4 Architecture Review
reason: user paused
notes: see step 2

## Retry Log
| Attempt | Step | Name | SubStep | Failure Reason | Timestamp |
|---------|------|------|---------|----------------|-----------|
| 1 | 2 | Plan | 3 | step 2 broke | 2026-01-04 |

## Blockers
- [none]

## My Own Section
step: 2
  odd   spacing	and tabs
`;

describe.concurrent("to generation 3", () => {
  it("generation 1: title, keys and step numbers change, all else stays byte for byte", async () => {
    const repo = makeCommitted(former, full1);
    const before = await repo.status();
    await migrate(repo);
    expect(repo.exists(former)).toBe(false);
    expect(repo.read(present)).toBe(
      full1
        .replace("# Autopilot State", "# Autodev State")
        .replace("step: 2\n", "flow: greenfield\nstep: 3\n")
        .replace(
          "sub_step: 4 — Architecture Review & Risk Assessment\n",
          'sub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: ""\n',
        )
        .replace("retry_count: 0\n", "retry_count: 0\ncycle: 1\n")
        .replace("| 0    | Problem ", "| 1    | Problem ")
        .replace("| 1    | Research", "| 2    | Research")
        .replace("ended_at: Step 2 Plan", "ended_at: Step 3 Plan")
        .replace("| 1 | 2 | Plan | 3 |", "| 1 | 3 | Plan | 3 |"),
    );
    const after = await repo.status();
    expect(place(after)).toEqual(place(before));
    expect(after).toMatchObject({ generation: 3, source: "state", corrections: [] });
  });

  it("generation 2: the same", async () => {
    const repo = makeCommitted(former, generation2);
    const before = await repo.status();
    await migrate(repo);
    expect(repo.read(present)).toBe(
      generation2
        .replace("# Autopilot State", "# Autodev State")
        .replace(
          /sub_step: .*\n/,
          'sub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: ""\n',
        )
        .replace("retry_count: 0\n", "retry_count: 0\ncycle: 1\n"),
    );
    expect(place(await repo.status())).toEqual(place(before));
  });

  it("renames with git mv: history follows", async () => {
    const repo = makeCommitted(former, full1);
    await migrate(repo);
    expect(repo.git("status", "--porcelain")).toMatch(
      /^R[ M] _docs\/_autopilot_state\.md -> _docs\/_autodev_state\.md$/m,
    );
    repo.git("commit", "-qam", "migrated");
    expect(repo.git("log", "--follow", "--oneline", present).trim().split("\n")).toHaveLength(2);
  });

  it("renames a file that git does not know, too", async () => {
    const repo = makeRepo({ [former]: generation1 });
    await migrate(repo);
    expect(repo.exists(former)).toBe(false);
    expect(await repo.status()).toMatchObject({ generation: 3, step: "3" });
  });

  it("renames a file of generation 3 under the former name, and changes nothing in it", async () => {
    const repo = makeCommitted(former, generation3);
    await migrate(repo);
    expect(repo.read(present)).toBe(generation3);
    expect(repo.exists(former)).toBe(false);
  });

  it("of what is of generation 3 already changes nothing", async () => {
    const repo = makeCommitted(present, generation3);
    const ran = await repo.autodev("migrate", "--json");
    expect(jsonOf<Migration>(ran)).toMatchObject({ changed: false });
    expect(repo.git("status", "--porcelain")).toBe("");
  });

  it("keeps CRLF and BOM", async () => {
    const repo = makeCommitted(former, `\uFEFF${full1.replaceAll("\n", "\r\n")}`);
    await migrate(repo);
    const text = repo.read(present);
    expect(text.startsWith("\uFEFF# Autodev State\r\n")).toBe(true);
    expect(text).not.toMatch(/[^\r]\n/);
    expect(await repo.status()).toMatchObject({ generation: 3, step: "3", corrections: [] });
  });

  it("goes past an empty file under the present name", async () => {
    const repo = makeRepo({ [former]: generation1, [present]: "" });
    await migrate(repo);
    expect(await repo.status()).toMatchObject({ generation: 3, step: "3" });
    expect(repo.exists(former)).toBe(false);
  });

  const olds: [string, string][] = [
    ...[
      "0 Problem",
      "1b Research",
      "2a UI Design",
      "5 Run Tests",
      "5c Performance Test",
      "pre Document",
      "2b Blackbox Test Spec",
      "2ea UI Design",
      "2h Run Tests",
      "2i Deploy",
    ].map((step): [string, string] => ["", step]),
    ...[
      "3 Code Testability Revision",
      "6 Run Tests",
      "10 Run Tests",
      "11 Update Docs",
      "14 Deploy",
    ].map((step): [string, string] => ["flow: existing-code\n", step]),
  ];
  for (const [flow, step] of olds) {
    it(`what ${flow ? "generation 2" : "generation 1"} calls ${step} is the same place before and after`, async () => {
      const [code, ...name] = step.split(" ");
      const block = `${flow}step: ${code}\nname: ${name.join(" ")}\nstatus: in_progress\nsub_step: 2b — Some Phase\nretry_count: 1`;
      const repo = makeRepo({ [former]: stateText(block, "Autopilot State") });
      const before = await repo.status();
      expect(before.source).toBe("state");
      await migrate(repo);
      const after = await repo.status();
      expect(place(after)).toEqual(place(before));
      expect(after).toMatchObject({ generation: 3, source: "state", corrections: [] });
    });
  }

  it("a finished flow: Done becomes done", async () => {
    const repo = makeRepo({
      [former]: stateText(
        "step: done\nname: Done\nstatus: completed\nretry_count: 0",
        "Autopilot State",
      ),
    });
    await migrate(repo);
    expect(repo.read(present)).toMatch(/^step: done$/m);
    expect(await repo.status()).toMatchObject({ step: "done", generation: 3, status: "completed" });
  });

  it("of a file whose step cannot be understood is refused with its line", async () => {
    const repo = makeRepo({
      [former]: generation1.replace("step: 2\nname: Plan", "step: 9z\nname: What"),
    });
    const before = pictureOf(repo.at("_docs"));
    const ran = await repo.autodev("migrate", "--json");
    expect(ran.code).toBe(1);
    const error = errorOf(ran);
    expect(error.message).toContain("_docs/_autopilot_state.md:4");
    expect(error.hint).toBeTruthy();
    expect(pictureOf(repo.at("_docs"))).toEqual(before);
  });
});

describe.concurrent("back", () => {
  it("to generation 2: the 13-step form, under the former name", async () => {
    const repo = makeCommitted(present, generation3);
    await migrate(repo, "--to", "2");
    expect(repo.exists(present)).toBe(false);
    expect(repo.read(former)).toBe(
      stateText(
        "flow: existing-code\nstep: 9\nname: Implement\nstatus: in_progress\nsub_step: 7 — Batch Loop\nretry_count: 0",
        "Autopilot State",
      ),
    );
    expect(await repo.status()).toMatchObject({
      generation: 2,
      step: "10",
      subStep: { phase: 7, name: "batch-loop" },
    });
    expect(repo.git("status", "--porcelain")).toMatch(/^R/m);
  });

  it("to generation 1: letters, no flow", async () => {
    const repo = makeCommitted(present, generation3);
    await migrate(repo, "--to", "1");
    expect(repo.read(former)).toBe(
      stateText(
        "step: 2g\nname: Implement\nstatus: in_progress\nsub_step: 7 — Batch Loop\nretry_count: 0",
        "Autopilot State",
      ),
    );
    expect(await repo.status()).toMatchObject({ generation: 1, step: "10", flow: "existing-code" });
  });

  it("what the old form has no place for is said, and the journal keeps it", async () => {
    const repo = makeCommitted(present, generation3);
    const ran = await repo.autodev("migrate", "--to", "2");
    expect(ran.code, ran.all).toBe(0);
    expect(ran.out).toMatch(/cycle 3/);
    expect(ran.out).toMatch(/batch 2 of ~4/);
    expect(await repo.status()).toMatchObject({ cycle: 3 });
  });

  for (const to of ["1", "2"]) {
    it(`to generation ${to} and forth again is the same place, the cycle included`, async () => {
      const text = generation3.replace("batch 2 of ~4", "").concat("\n## Mine\nkeep: this\n");
      const repo = makeCommitted(present, text);
      await migrate(repo, "--to", to);
      expect((await repo.status()).generation).toBe(Number(to));
      await migrate(repo);
      expect(repo.read(present)).toBe(text);
      expect(repo.exists(former)).toBe(false);
      repo.git("add", "-A");
      expect(repo.git("status", "--porcelain")).toBe("");
    });
  }

  it("the variant of a sub-step survives the way there and back", async () => {
    const text = stateText(`flow: existing-code
step: 3
name: Test Spec
status: failed
sub_step:
  phase: 1
  name: test-case-generation
  detail: "variant 1b"
retry_count: 3
cycle: 1`);
    const repo = makeCommitted(present, text);
    await migrate(repo, "--to", "1");
    expect(repo.read(former)).toContain(
      "step: 2b\nname: Blackbox Test Spec\nstatus: failed\nsub_step: 1b — Test Case Generation\nretry_count: 3\n",
    );
    await migrate(repo);
    expect(repo.read(present)).toBe(text);
  });

  for (const to of ["1", "2"]) {
    it(`done becomes Done in generation ${to}`, async () => {
      const text = generation3.replace(
        "step: 10\nname: Implement\nstatus: in_progress",
        "step: done\nname: Done\nstatus: completed",
      );
      const repo = makeCommitted(present, text);
      await migrate(repo, "--to", to);
      expect(repo.read(former)).toMatch(/^name: Done$/m);
      expect(await repo.status()).toMatchObject({ step: "done", status: "completed" });
    });
  }

  const homeless: [string, string, string, string][] = [
    ["existing-code", "2", "Architecture Baseline Scan", "1"],
    ["existing-code", "2", "Architecture Baseline Scan", "2"],
    ["existing-code", "12", "Test-Spec Sync", "2"],
    ["existing-code", "13", "Update Docs", "2"],
    ["existing-code", "17", "Retrospective", "2"],
    ["existing-code", "4", "Code Testability Revision", "1"],
    ["existing-code", "7", "Run Tests", "1"],
    ["greenfield", "11", "Retrospective", "1"],
    ["meta-repo", "2", "Config Review", "2"],
  ];
  for (const [flow, step, name, to] of homeless) {
    it(`${flow} ${step} ${name} has no column in generation ${to}: refused by name, nothing is changed`, async () => {
      const text = generation3
        .replace("existing-code", flow)
        .replace("step: 10\nname: Implement", `step: ${step}\nname: ${name}`);
      const repo = makeCommitted(present, text);
      for (const more of [[], ["--dry-run"]]) {
        const ran = await repo.autodev("migrate", "--to", to, ...more, "--json");
        expect(ran.code, ran.all).toBe(1);
        const error = errorOf(ran);
        expect(error.message).toContain(name);
        expect(error.message).toContain(`generation ${to}`);
        expect(error.hint).toBeTruthy();
      }
      expect(repo.git("status", "--porcelain")).toBe("");
    });
  }
});

describe.concurrent("--dry-run", () => {
  for (const [file, text, to] of [
    [former, full1, "3"],
    [former, generation2, "3"],
    [present, generation3, "2"],
    [present, generation3, "1"],
  ] as const) {
    it(`shows the difference from ${file} to generation ${to} and changes nothing`, async () => {
      const repo = makeCommitted(file, text);
      const before = pictureOf(repo.root);
      const ran = await repo.autodev("migrate", "--to", to, "--dry-run", "--json");
      expect(ran.code, ran.all).toBe(0);
      const shown = jsonOf<Migration>(ran);
      expect(shown).toMatchObject({ changed: true, dryRun: true, to: { generation: Number(to) } });
      const words = await repo.autodev("migrate", "--to", to, "--dry-run");
      expect(words.out).toMatch(/^-# Auto/m);
      expect(words.out).toMatch(/^\+# Auto/m);
      expect(words.out).toMatch(/nothing was changed/i);
      expect(pictureOf(repo.root)).toEqual(before);
      // What it shows is what is then done.
      await migrate(repo, "--to", to);
      const lines = shown.difference
        .filter((line) => !line.startsWith("-"))
        .map((line) => line.slice(1));
      expect(repo.read(to === "3" ? present : former)).toContain(lines.join("\n"));
    });
  }
});

describe.concurrent("migrate", () => {
  it("without a state file says so and names the way out", async () => {
    const repo = makeRepo();
    const ran = await repo.autodev("migrate", "--json");
    expect(ran.code).toBe(2);
    expect(errorOf(ran).hint).toContain("autodev");
    expect(repo.exists(".git/autodev")).toBe(false);
  });

  it("never removes the state file: afterwards there is exactly one", async () => {
    const repo = makeCommitted(former, generation1);
    for (const to of ["3", "1", "3", "2", "3"]) {
      await migrate(repo, "--to", to);
      const states = fs.readdirSync(repo.at("_docs")).filter((name) => name.endsWith("_state.md"));
      expect(states).toHaveLength(1);
      expect(await repo.status()).toMatchObject({
        step: "3",
        name: "Plan",
        subStep: { phase: 4 },
        generation: Number(to),
      });
    }
  });

  it("of a file that was edited by hand takes the edit with it", async () => {
    const repo = makeRepo({ [former]: generation1 });
    expect((await repo.autodev()).code).toBe(3);
    repo.write(former, generation1.replace("sub_step: 4", "sub_step: 5"));
    await migrate(repo);
    expect(await repo.status()).toMatchObject({ generation: 3, subStep: { phase: 5 } });
  });

  it("after the question was asked answers it: it is not asked again", async () => {
    const repo = makeRepo({ [former]: generation1 });
    expect((await repo.autodev()).code).toBe(3);
    await migrate(repo);
    const ran = await repo.autodev();
    expect(ran.code, ran.all).toBe(0);
    expect((await repo.status()).decisions).toEqual([]);
  });

  it("with both names asks which one first", async () => {
    const repo = makeRepo({ [present]: generation3, [former]: generation1 });
    const ran = await repo.autodev("migrate", "--to", "2", "--json");
    expect(ran.code, ran.all).toBe(3);
    expect(repo.read(present)).toBe(generation3);
    expect(repo.read(former)).toBe(generation1);
  });

  it("with conflict markers is refused with the line", async () => {
    const repo = makeRepo({
      [former]: `<<<<<<< a\n${generation1}=======\n${generation2}>>>>>>> b\n`,
    });
    const ran = await repo.autodev("migrate");
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("_docs/_autopilot_state.md:1");
  });

  it("outside a repository changes nothing, exit 2", async () => {
    const folder = makeFolder("plain");
    fs.mkdirSync(`${folder}/_docs`);
    fs.writeFileSync(`${folder}/${former}`, generation1);
    const ran = await autodevIn({ cwd: folder }, "migrate");
    expect(ran.code).toBe(2);
    expect(ran.err).toContain("git init");
    expect(fs.readFileSync(`${folder}/${former}`, "utf8")).toBe(generation1);
  });
});
