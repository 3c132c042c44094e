import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { awaitingInvocation } from "../core/flow/state.ts";
import { openReports } from "./skill-reports.ts";

const secret = "hush-hush-0123456789-and-more-of-it";
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "autodev-reports-"));
  vi.stubEnv("MY_API_KEY", secret);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

it("a detail that is cut has no half of a secret at its end, and a name none in it", () => {
  const reports = openReports(folder, "", { from: awaitingInvocation, phases: [] });
  const long = "so much to say ".repeat(20).slice(0, 285);
  execFileSync(reports.program, ["1", "look", `${long}${secret}`]);
  execFileSync(reports.program, ["2", secret, "it"]);
  const [first, second] = reports.fresh();
  expect(first?.detail).toBe(`${long}[masked]`);
  expect(second?.name).toBe("masked");
});
