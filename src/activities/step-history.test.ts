import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { type DocsRepo, docsRepo, must, unbornRepo } from "../../test/docs-rig.ts";
import { lastCompletion } from "./step-history.ts";

const said = (repo: DocsRepo, subject: string, ...trailers: string[]): string => {
  const message = [subject, ...(trailers.length > 0 ? ["", ...trailers] : [])].join("\n");
  repo.git("commit", "--allow-empty", "--quiet", `--message=${message}`);
  return repo.git("rev-parse", "HEAD").trim();
};

const completed = (repo: DocsRepo, flow: string, step: string, cycle: number): string =>
  said(
    repo,
    `docs: step ${step}`,
    `Autodev-Flow: ${flow}`,
    `Autodev-Step: ${step}`,
    `Autodev-Cycle: ${cycle}`,
    `Autodev-Step-Id: ${flow}-${step}-${cycle}`,
  );

describe("the last completion of a step", () => {
  it("is the newest commit whose trailers say so", async () => {
    const repo = docsRepo();
    const first = completed(repo, "greenfield", "1", 1);
    const other = completed(repo, "existing-code", "1", 1);
    const ninth = completed(repo, "existing-code", "9", 1);
    const again = completed(repo, "existing-code", "9", 2);
    said(repo, "something else\n\nAutodev-Flow: greenfield\nAutodev-Step: 1\n\nin its body");
    const find = async (flow: string, step: string, cycle?: number) =>
      must(await lastCompletion(repo.engine, { flow, step, ...(cycle !== undefined && { cycle }) }))
        ?.commit;
    expect(await find("greenfield", "1")).toBe(first);
    expect(await find("existing-code", "1")).toBe(other);
    expect(await find("existing-code", "9")).toBe(again);
    expect(await find("existing-code", "9", 1)).toBe(ninth);
    expect(await find("existing-code", "9", 3)).toBeUndefined();
    expect(await find("greenfield", "9")).toBeUndefined();
    expect(await find("existing-code", "16.5")).toBeUndefined();
  });

  it("has the date of its commit", async () => {
    const repo = docsRepo();
    const commit = completed(repo, "greenfield", "1", 1);
    const found = must(await lastCompletion(repo.engine, { flow: "greenfield", step: "1" }));
    expect(found).toEqual({
      commit,
      date: repo.git("log", "-1", "--format=%cI").trim(),
    });
  });

  it("is none where there is no commit, and none that another branch has", async () => {
    const none = { flow: "greenfield", step: "1" };
    expect(must(await lastCompletion(unbornRepo().engine, none))).toBeUndefined();
    const repo = docsRepo();
    repo.git("switch", "--quiet", "--create", "side");
    completed(repo, "greenfield", "1", 1);
    repo.git("switch", "--quiet", "main");
    expect(must(await lastCompletion(repo.engine, none))).toBeUndefined();
  });

  it("is found in one process, among thousands of commits", async () => {
    const repo = docsRepo();
    const commit = completed(repo, "greenfield", "1", 1);
    const stream = ["reset refs/heads/main", `from ${commit}`, ""];
    for (let at = 0; at < 9000; at++) {
      stream.push(
        "commit refs/heads/main",
        `committer A <a@b> ${1_800_000_000 + at} +0000`,
        "data 5",
        `c${String(at).padStart(4, "0")}`,
      );
    }
    execFileSync("git", ["fast-import", "--quiet", "--force"], {
      cwd: repo.root,
      input: `${stream.join("\n")}\n`,
    });
    let processes = 0;
    const counting = {
      ...repo.engine,
      call: (call: Parameters<typeof repo.engine.call>[0]) => {
        processes++;
        return repo.engine.call(call);
      },
    };
    const found = must(await lastCompletion(counting, { flow: "greenfield", step: "1" }));
    expect(found?.commit).toBe(commit);
    expect(processes).toBe(1);
  });
});
