import { describe, expect, it } from "vitest";
import type { Failure } from "../failure.ts";
import type { PhaseFile } from "./phase-file.ts";
import { inconsistencies, readPhaseFile, readRunConfig } from "./read-run-files.ts";

const file = ".autobuild/phases/phase-2a.json";

/** As the description of the format shows it, by another tool's hand. */
const complete = `{
  "phase_id": "2a",
  "phase_name": "Backend API",
  "status": "complete",
  "attempt": 1,
  "max_attempts": 2,
  "timestamps": {
    "started": "2025-01-25T10:15:00Z",
    "completed": "2025-01-25T10:25:00Z",
    "duration_seconds": 600
  },
  "dependencies": { "depends_on": ["1"], "parallel_with": ["2b", "2c"], "blocks": ["3"] },
  "execution": {
    "subagent_id": "task-abc123",
    "subagent_model": "sonnet",
    "tasks_total": 4,
    "tasks_completed": 4
  },
  "quality_gates": {
    "lint": { "passed": true, "command": "pnpm run lint", "output_summary": "No errors" },
    "test": {
      "passed": true,
      "command": "pnpm test",
      "output_summary": "47 tests passed, 0 failed",
      "coverage": "87%"
    }
  },
  "verification": {
    "subagent_claimed": "complete",
    "fresh_verification": "passed",
    "verified_at": "2025-01-25T10:26:00Z"
  },
  "commit": {
    "message": "feat(api): implement JWT token validation\\n\\n- Add validateToken function",
    "type": "feat",
    "scope": "api",
    "files_created": ["src/api/auth.ts", "src/api/auth.test.ts"],
    "files_modified": ["src/api/routes.ts"],
    "files_deleted": [],
    "committed": true,
    "commit_sha": "a1b2c3d"
  },
  "plan_updates": { "tasks_checked": 4, "dod_checked": 6, "status_updated": true },
  "error": null
}
`;

const minimal = {
  phase_id: "2a",
  phase_name: "Backend API",
  status: "pending",
  attempt: 0,
  max_attempts: 2,
};

function problem(text: string): Failure {
  const read = readPhaseFile(text, file);
  if (read.ok) throw new Error(`was read: ${text.slice(0, 100)}`);
  expect(read.failure).toMatchObject({ code: "run-file-invalid", file });
  return read.failure;
}

const errorsOf = (text: string): readonly string[] => problem(text).details?.slice(4) ?? [];

describe("reading a phase file", () => {
  it("takes what other tools write", () => {
    expect(readPhaseFile(complete, file)).toEqual({ ok: true, value: JSON.parse(complete) });
  });

  it("needs five fields; others may be absent or null, and unknown ones are kept", () => {
    expect(readPhaseFile(JSON.stringify(minimal), file)).toEqual({ ok: true, value: minimal });
    const nulls = { ...minimal, timestamps: null, commit: null, error: null, execution: null };
    expect(readPhaseFile(JSON.stringify(nulls), file)).toEqual({ ok: true, value: nulls });
    const more = { ...minimal, timestamps: { last_updated: "x" }, theirs: [1, { a: null }] };
    expect(readPhaseFile(JSON.stringify(more), file)).toEqual({ ok: true, value: more });
  });

  it("takes a byte order mark, CRLF and lone CR", () => {
    expect(readPhaseFile(`\uFEFF${complete}`, file).ok).toBe(true);
    expect(readPhaseFile(complete.replaceAll("\n", "\r\n"), file).ok).toBe(true);
    expect(readPhaseFile(complete.replaceAll("\n", "\r"), file).ok).toBe(true);
    const [error] = errorsOf(complete.replaceAll("\n", "\r\n").replace('"complete"', '"done"'));
    expect(error).toContain("(line 4: ");
  });

  it("says a missing field as the format does, with its line", () => {
    const failure = problem(`\n${complete.replace('  "status": "complete",\n', "")}`);
    expect(failure.details).toEqual([
      "STATE FILE VALIDATION FAILED",
      "============================",
      "",
      `File: ${file}`,
      "Error: Missing required field 'status' (line 2: expected one of pending, running, complete, failed, blocked, found nothing)",
    ]);
    expect(failure.line).toBe(2);
    expect(failure.message).toMatch(`${file}:2: Missing required field 'status'`);
  });

  it("names line, field, expected and found of each wrong value", () => {
    const wrong = complete
      .replace('"status": "complete"', '"status": "done"')
      .replace('"attempt": 1', '"attempt": "1"')
      .replace('"max_attempts": 2', '"max_attempts": 0')
      .replace('"tasks_total": 4', '"tasks_total": 4.5')
      .replace('"passed": true', '"passed": "yes"')
      .replace('["src/api/routes.ts"]', '["a", 7]');
    expect(errorsOf(wrong)).toEqual([
      `Error: Wrong value in field 'status' (line 4: expected one of pending, running, complete, failed, blocked, found "done")`,
      `Error: Wrong value in field 'attempt' (line 5: expected a number, found "1")`,
      "Error: Wrong value in field 'max_attempts' (line 6: expected at least 1, found 0)",
      "Error: Wrong value in field 'execution.tasks_total' (line 16: expected a whole number, found 4.5)",
      `Error: Wrong value in field 'quality_gates.lint.passed' (line 20: expected true or false, found "yes")`,
      "Error: Wrong value in field 'commit.files_modified.1' (line 38: expected a text in quotes, found 7)",
    ]);
    expect(problem(wrong).message).toContain("(and 5 more)");
    expect(errorsOf("[1]")).toEqual([
      "Error: Not an object (line 1: expected an object {…}, found [1])",
    ]);
    expect(errorsOf("7")[0]).toContain("found 7");
    expect(errorsOf('"text\\u0007"')[0]).toContain("found ");
  });

  it("refuses the same key twice, where JSON.parse would keep the last", () => {
    const twice = complete.replace('  "error": null', '  "status": "pending",\n  "error": null');
    expect(errorsOf(twice)).toEqual([
      "Error: Field 'status' is there twice (line 44: expected it once, found it in line 4 already)",
    ]);
    // However it is spelt.
    expect(errorsOf(complete.replace('"error"', '"\\u0073tatus"'))[0]).toContain("'status'");
    expect(errorsOf(complete.replace('"scope"', '"type"'))[0]).toContain("'commit.type'");
  });

  it("tells what happened to a damaged file", () => {
    const conflict = complete.replace(
      '  "status": "complete",\n',
      '<<<<<<< HEAD\n  "status": "complete",\n=======\n  "status": "failed",\n>>>>>>> theirs\n',
    );
    expect(errorsOf(conflict)).toEqual([
      "Error: Unresolved merge conflict (line 4: expected one version of the lines, found <<<<<<< HEAD)",
    ]);
    expect(errorsOf("")[0]).toContain("The file is empty (line 1: ");
    expect(errorsOf("\uFEFF \r\n\t")[0]).toContain("The file is empty");
    expect(errorsOf("\0\0\0\0")).toEqual([
      "Error: Not JSON (line 1: expected a value, found the character U+0000)",
    ]);
    expect(errorsOf(`${complete}\n{}`)[0]).toContain("(line 47: expected the end of the file");
    for (const [text, found] of [
      ['{\n"attempt": NaN}', "NaN"],
      ['{\n"attempt": -Infinity}', "-Infinity"],
      ['{\n"attempt": 01}', "01"],
      ['{\n"attempt": +1}', "+1"],
      ['{\n"attempt": .5}', ".5"],
      ['{\n"attempt": undefined}', "undefined"],
      ["{\n'attempt': 1}", "'attempt'"],
      ['{\n"a" 1}', "1"],
      ['{\n"a": 1,}', "}"],
      ['{\n"a": [1,]}', "]"],
      ['{\n"a": 1 "b": 2}', '"b"'],
      ['{\n"a": "\\x"}', 'x"'],
      ['{\n"a": 1 // no\n}', "//"],
    ] as const) {
      expect(errorsOf(text)[0]).toMatch(/^Error: Not JSON \(line 2: expected .+, found .+\)$/);
      expect(errorsOf(text)[0]?.endsWith(`found ${found})`), text).toBe(true);
    }
  });

  it("never throws, wherever the file is cut off or hit", () => {
    for (let end = 0; end < complete.length - 2; end++) {
      const failure = problem(complete.slice(0, end));
      expect(failure.line).toBeGreaterThan(0);
    }
    const words = errorsOf(complete.slice(0, complete.indexOf('"commit"')));
    expect(words).toEqual([
      "Error: The file ends too early (line 32: expected a field's name in quotes, found the end of the file)",
    ]);
    for (let at = 0; at < complete.length; at++) {
      for (const byte of ["\0", '"', "}", "\\", "\n", "9"]) {
        const hit = complete.slice(0, at) + byte + complete.slice(at + 1);
        let parses = true;
        try {
          JSON.parse(hit);
        } catch {
          parses = false;
        }
        const read = readPhaseFile(hit, file);
        // Ours and the engine's parser agree on what is JSON.
        if (!parses) expect(read.ok).toBe(false);
        else if (!read.ok) expect(read.failure.message).not.toMatch(/Not JSON|too early/);
      }
    }
  });

  it("does not run out of stack, and is not led astray by names", () => {
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"],
    ] as const) {
      const deep = `{"x": ${open.repeat(200_000)}1${close.repeat(200_000)}}`;
      expect(errorsOf(deep)[0]).toContain("Nested too deeply (line 1: expected at most 64 levels");
      expect(errorsOf(open.repeat(200_000)).length).toBe(1);
    }
    const evil = JSON.stringify(minimal).replace(
      "{",
      '{"__proto__": {"polluted": 1}, "constructor": 1, "quality_gates": {"__proto__": null, "toString": {"passed": true}}, ',
    );
    const read = readPhaseFile(evil, file);
    expect(read.ok).toBe(true);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(read.ok && (read.value as Record<string, unknown>)["polluted"]).toBeFalsy();
    const odd = JSON.stringify({ ...minimal, quality_gates: { "a\nb.c": { passed: 1 } } });
    expect(errorsOf(odd)[0]).toContain("'quality_gates.a b.c.passed'");
    // A missing field is not found on the prototype.
    expect(errorsOf("{}")).toHaveLength(5);
  });
});

describe("reading config.json", () => {
  it("needs the plan and the mode, and takes nulls for the rest", () => {
    const config = { plan_path: "p.md", commit_mode: "auto", stack: { language: null } };
    expect(readRunConfig(JSON.stringify(config), "c")).toEqual({ ok: true, value: config });
    const read = readRunConfig('{"commit_mode": "manual"}', "c");
    expect(read.ok ? [] : read.failure.details?.slice(4)).toEqual([
      "Error: Missing required field 'plan_path' (line 1: expected a text in quotes, found nothing)",
      `Error: Wrong value in field 'commit_mode' (line 1: expected one of auto, message-only, single, found "manual")`,
    ]);
  });
});

describe("files that contradict each other", () => {
  const of = (phase_id: string, status: PhaseFile["status"], more = {}): PhaseFile => ({
    phase_id,
    phase_name: "",
    status,
    attempt: 1,
    max_attempts: 2,
    ...more,
  });
  const plan = [
    { id: "0", dependsOn: [] },
    { id: "1", dependsOn: ["0"] },
    { id: "2a", dependsOn: ["1"] },
    { id: "3", dependsOn: ["2a"] },
  ];

  it("are none when all is well", () => {
    const files = [
      of("0", "complete", { skipped: "tools are there", commit: null }),
      of("1", "complete", { commit: { message: "x" } }),
      of("2A", "failed"),
      of("3", "blocked"),
    ];
    expect(inconsistencies(files, plan)).toEqual([]);
  });

  it("are told one by one", () => {
    const files = [
      of("0", "complete", { commit: null }),
      of("1", "running"),
      of("2a", "complete", { commit: { message: "x" } }),
      of("2A", "pending"),
      of("9", "pending"),
    ];
    expect(inconsistencies(files, plan)).toEqual([
      "two files say that they are of phase 2a",
      "phase 0 is complete, but its file has no record of a commit",
      "phase 2a is complete, but 1, which it depends on, is running",
      "phase 3 is in the plan, but has no file",
      "phase 9 has a file, but is not in the plan",
    ]);
  });
});
