/** Each of these went wrong once. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { describe, expect, it } from "vitest";
import { binary, former, generation1, generation3, makeRepo, present } from "./rig.ts";

const asked = async (repo: ReturnType<typeof makeRepo>): Promise<number> =>
  (await repo.events()).filter((event) => event.type === "decision-asked").length;

describe.concurrent("never again:", () => {
  it("a question that lapsed and came up again could not be answered", async () => {
    const repo = makeRepo({ [present]: generation3 });
    expect((await repo.autodev()).code).toBe(0);
    repo.write(former, generation1);
    expect((await repo.autodev()).code).toBe(3);
    fs.rmSync(repo.at(former));
    expect((await repo.autodev()).code).toBe(0);
    expect((await repo.status()).decisions).toEqual([]);
    repo.write(former, generation1);
    expect((await repo.autodev()).code).toBe(3);
    const [open] = (await repo.status()).decisions;
    expect((await repo.autodev("decide", open?.id ?? "", "A")).code).toBe(0);
    expect((await repo.autodev()).code).toBe(0);
    expect(repo.exists(former)).toBe(false);
  });

  it("a branch from before a migration got a second state file", async () => {
    const repo = makeRepo({ [former]: generation1 });
    repo.git("add", ".");
    repo.git("commit", "-qm", "old");
    repo.git("branch", "old");
    expect((await repo.autodev("--decide", "recommended")).code).toBe(0);
    repo.git("add", "-A");
    repo.git("commit", "-qm", "migrated");
    repo.git("checkout", "-q", "old");
    await repo.autodev();
    expect(repo.exists(present)).toBe(false);
    expect(repo.git("status", "--porcelain")).toBe("");
    repo.git("checkout", "-q", "main");
    expect(await repo.status()).toMatchObject({ generation: 3, step: "3" });
  });

  it("killed between the rename and the record, a migration was asked about twice", async () => {
    const repo = makeRepo({ [former]: generation1 });
    expect((await repo.autodev()).code).toBe(3);
    const [open] = (await repo.status()).decisions;
    expect((await repo.autodev("decide", open?.id ?? "", "A")).code).toBe(0);
    fs.renameSync(repo.at(former), repo.at(present));
    expect((await repo.autodev()).code).toBe(0);
    expect(await repo.status()).toMatchObject({ generation: 3, step: "3" });
    expect(await asked(repo)).toBe(1);
    const log = (await repo.autodev("log")).all;
    expect(log).not.toContain("edited by hand");
  });

  it("a reader that went away took the exit code with it", async () => {
    const repo = makeRepo({ [former]: generation1 });
    const command = `node "${binary()}" --no-work --no-input --json | true; exit \${PIPESTATUS[0]}`;
    const { status } = spawnSync("bash", ["-c", command], { cwd: repo.root });
    expect(status).toBe(3);
  });

  it("an answer that outlived its journal was asked for again", async () => {
    const repo = makeRepo({ [former]: generation1 });
    expect((await repo.autodev()).code).toBe(3);
    const [open] = (await repo.status()).decisions;
    expect((await repo.autodev("decide", open?.id ?? "", "B")).code).toBe(0);
    fs.rmSync(repo.at(".git/autodev/journal"), { recursive: true });
    expect((await repo.autodev()).code).toBe(0);
    expect(repo.exists(former)).toBe(true);
  });

  it("a damaged state file kept people from answering", async () => {
    const repo = makeRepo({ [former]: generation1 });
    expect((await repo.autodev()).code).toBe(3);
    const [open] = (await repo.status()).decisions;
    repo.write(former, `<<<<<<< ours\n${generation1}=======\n${generation1}>>>>>>> theirs\n`);
    expect((await repo.autodev("decisions")).all).toContain(open?.id ?? "no decision");
    expect((await repo.autodev("decide", open?.id ?? "", "B")).code).toBe(0);
    repo.write(former, generation1);
    expect((await repo.autodev()).code).toBe(0);
  });

  it("two names passed unseen through migrate", async () => {
    const repo = makeRepo({ [former]: generation1, [present]: generation3 });
    expect((await repo.autodev("migrate")).code).toBe(3);
  });

  it("migrate did not know a file that the journal has", async () => {
    const repo = makeRepo({ [present]: generation3 });
    expect((await repo.autodev()).code).toBe(0);
    fs.rmSync(repo.at(present));
    expect((await repo.autodev("migrate", "--to", "2")).code).toBe(0);
    expect(await repo.status()).toMatchObject({ generation: 2, step: "10" });
  });
});
