/** A flow carried out by somebody's own agent: the same artifacts, commits and questions as by ours. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type FlowProject, madeBy, makeFlowProject, outcomeOf, questionsOf } from "./flow-rig.ts";
import { type Called, connect, type Host } from "./mcp-rig.ts";
import { makeFolder, sleep } from "./rig.ts";

const patience = 600_000;
const agent = path.join(import.meta.dirname, "flow", "agent.mjs");

const open: Host[] = [];
afterEach(async () => {
  for (const host of open.splice(0)) await host.close();
});

async function host(project: FlowProject): Promise<Host> {
  const connected = await connect(project, { env: project.environment });
  open.push(connected);
  return connected;
}

/** The model of the host: does what the brief says, and hands over what it would report. */
async function workBy(from: Host, project: FlowProject, work: Called): Promise<Called> {
  const folder = makeFolder("host");
  const [result, subSteps] = [path.join(folder, "result.json"), path.join(folder, "sub-steps")];
  const program = path.join(folder, "sub-step");
  fs.writeFileSync(program, `#!/bin/sh\nprintf '%s\\t%s\\n' "$1" "$2" >> '${subSteps}'\n`, {
    mode: 0o755,
  });
  const [, step] = /^# (?:Step|Phase) ([\w.-]+):/m.exec(work.text) ?? [];
  const ran = spawnSync(process.execPath, [agent], {
    cwd: work.folder,
    input: work.text,
    encoding: "utf8",
    env: {
      ...process.env,
      ...project.environment,
      AUTODEV_PHASE: step,
      AUTODEV_RESULT: result,
      AUTODEV_SUB_STEP: program,
      AUTODEV_STATE_COPY: path.join(folder, "copy"),
    },
  });
  expect(ran.status, ran.stderr).toBe(0);
  const { lease } = work;
  const said = fs.existsSync(subSteps) ? fs.readFileSync(subSteps, "utf8").trim().split("\n") : [];
  for (const line of said) {
    const [number, name] = line.split("\t");
    const told = await from.call("sub_step", { lease, number: Number(number), name });
    expect(told.isError, told.text).toBe(false);
  }
  const {
    phase_id: _,
    plan_updated: __,
    ...claim
  } = JSON.parse(fs.readFileSync(result, "utf8")) as Record<string, unknown>;
  return from.call("report", { lease, ...claim });
}

/** As a person: approves what is to be run, and takes every recommendation. */
async function person(from: Host, project: FlowProject, told: Called): Promise<boolean> {
  const [, plan] = /^autodev trust (\S+)$/m.exec(told.text) ?? [];
  if (plan !== undefined) {
    const asked = await project.autodev("trust", plan);
    const [, hash = ""] = /--sha256 ([0-9a-f]{64})/.exec(asked.all) ?? [];
    expect((await project.autodev("trust", plan, "--sha256", hash)).code).toBe(0);
    return true;
  }
  const [, id, letter] = /autodev decide (d-[0-9a-f]{12}) ([A-D])/.exec(told.text) ?? [];
  if (id === undefined) return false;
  expect((await from.call("decide", { id, answer: letter })).isError).toBe(false);
  return true;
}

/** Until there is nothing more to do, or `until` says so; the answers that gave no work. */
async function goOn(
  from: Host,
  project: FlowProject,
  until: (told: Called) => boolean = () => false,
): Promise<Called> {
  for (let times = 0; times < 80; times++) {
    const work = await from.call("next");
    if (work.lease !== "") {
      const told = await workBy(from, project, work);
      if (told.isError) await person(from, project, told);
      if (until(told) || /the flow is done/.test(told.text)) return told;
      continue;
    }
    if (work.isError && (await person(from, project, work))) continue;
    if (/The session ends here/.test(work.text)) continue;
    return work;
  }
  throw new Error("it goes on and on");
}

describe("a flow by somebody's own agent", { timeout: patience }, () => {
  it("goes from an empty folder to done, and leaves what ours would", async () => {
    const pushed = await makeFlowProject();
    await pushed.flow("--decide", "recommended", "--through-boundaries", "--json");
    const pulled = await makeFlowProject();
    const from = await host(pulled);
    const end = await goOn(from, pulled);
    expect(end.text, end.text).toContain("the flow is done");
    expect(await pulled.status()).toMatchObject({ flow: "greenfield", step: "done" });
    expect(madeBy(pulled)).toEqual(madeBy(pushed));
    expect(await questionsOf(pulled)).toEqual(await questionsOf(pushed));
    expect(pulled.git("status", "--porcelain", "--", ".", ":!.autobuild")).toBe("");
    expect(fs.existsSync(path.join(pulled.root, ".autodev/var"))).toBe(false);
  });

  it("half by the agent, half by the terminal: the same end", async () => {
    const project = await makeFlowProject();
    const from = await host(project);
    await goOn(from, project, () => project.git("log", "--format=%s").includes("step 2 Research"));
    const ran = await project.flow("--decide", "recommended", "--json");
    expect(ran.code, ran.all).toBe(0);
    expect(outcomeOf(ran)).toBe("boundary");
    const end = await goOn(from, project, () =>
      project.git("log", "--format=%s").includes("feat: task 01"),
    );
    expect(end.text).toContain("Verified");
    const rest = await project.flow("--decide", "recommended", "--through-boundaries", "--json");
    expect(rest.code, rest.all).toBe(0);
    expect(outcomeOf(rest)).toBe("done");
    const { commits } = madeBy(project);
    expect(commits.filter((each) => each === "feat: task 01")).toHaveLength(1);
    expect(commits.at(-1)).toBe("docs: step 11 Retrospective complete");
  });
});

describe("a step that was fetched", { timeout: patience }, () => {
  it("is not believed without its artifacts, and is given again with what was missing", async () => {
    const project = await makeFlowProject();
    const from = await host(project);
    const work = await from.call("next");
    expect(work.text).toContain("# Step 1: Problem");
    const told = await from.call("report", { lease: work.lease, status: "complete" });
    expect(told.isError).toBe(true);
    expect(told.text).toContain("Not accepted: it says that it is done, but");
    const again = await from.call("next");
    expect(again.text).toContain("The last try failed: it says that it is done");
    expect(again.lease).not.toBe(work.lease);
    expect((await project.status()).retryCount).toBe(1);
  });

  it("is given without a question about what init has written for hosts", async () => {
    const project = await makeFlowProject();
    const ready = await project.autodev("init", "--yes", "--hosts", "claude,codex");
    expect(ready.code, ready.all).toBe(0);
    const from = await host(project);
    expect((await from.call("next")).text).toContain("# Step 1: Problem");
  });

  it("is left alone by the terminal, which says whose it is", async () => {
    const project = await makeFlowProject();
    const from = await host(project);
    const work = await from.call("next");
    await from.call("sub_step", { lease: work.lease, number: 2, name: "gather-problem" });
    const ran = await project.flow("--no-input");
    expect(ran.code, ran.all).toBe(5);
    expect(ran.all).toContain("tester 1.0.0 has come for it and is at work");
    expect((await workBy(from, project, work)).text).toContain("Accepted");
  });

  it("goes to the terminal when the host is gone; its late report is told so", async () => {
    const project = await makeFlowProject();
    const gone = await host(project);
    const work = await gone.call("next");
    process.kill(gone.pid, "SIGKILL");
    await sleep(200);
    const ran = await project.flow("--decide", "recommended", "--json");
    expect(ran.code, ran.all).toBe(0);
    const next = await host(project);
    const late = await next.call("report", { lease: work.lease, status: "complete" });
    expect(late.isError).toBe(true);
    expect(late.text).toContain("session 1 is over");
  });

  it("goes on with the next host where the last one was", async () => {
    const project = await makeFlowProject();
    const gone = await host(project);
    const work = await gone.call("next");
    const said = await gone.call("sub_step", { lease: work.lease, number: 2, name: "interview" });
    expect(said.isError, said.text).toBe(false);
    const { subStep } = await project.status();
    expect(subStep.phase).toBeGreaterThan(0);
    process.kill(gone.pid, "SIGKILL");
    await sleep(200);
    const next = await host(project);
    const again = await next.call("next");
    expect(again.lease).toBe("flow/1/2");
    expect(again.text).toContain(`Begin at sub-step ${subStep.phase}`);
    const old = await next.call("report", { lease: work.lease, status: "complete" });
    expect(old.text).toContain("is with tester 1.0.0 now");
    expect((await workBy(next, project, again)).text).toContain("Accepted");
  });

  it("asks a person through us, and goes on with the answer", async () => {
    const project = await makeFlowProject();
    const from = await host(project);
    const work = await from.call("next");
    const told = await from.call("report", {
      lease: work.lease,
      status: "failed",
      asks: {
        question: "Which of the two?",
        options: ["This one", "That one"],
        recommendation: "B",
        reason: "it is nearer",
      },
    });
    const [, id = ""] = /(d-[0-9a-f]{12})/.exec((await from.call("next")).text) ?? [];
    expect(told.text).toContain("Call next");
    await from.call("decide", { id, answer: "A" });
    const again = await from.call("next");
    expect(again.text).toContain("The answer is A) This one");
    // The same brief again, for a host that has lost it.
    expect((await from.call("next")).text).toContain("The answer is A) This one");
  });

  it("is written down through no link that the repository holds", async () => {
    const precious = path.join(makeFolder("home"), "precious");
    fs.writeFileSync(precious, "mine\n");
    const project = await makeFlowProject();
    fs.mkdirSync(path.join(project.root, ".autodev/var"), { recursive: true });
    fs.symlinkSync(precious, path.join(project.root, ".autodev/var/flow-1.md"));
    fs.symlinkSync(precious, path.join(project.root, ".autodev/var/.gitignore"));
    project.git("add", "--all", "--force");
    project.git("commit", "--quiet", "--message=links");
    const from = await host(project);
    expect((await from.call("next")).lease).toBe("flow/1/1");
    expect(fs.readFileSync(precious, "utf8")).toBe("mine\n");
  });

  it("and rolled back by a person is not called done", async () => {
    const project = await makeFlowProject();
    const from = await host(project);
    const work = await from.call("next");
    expect((await project.autodev("rollback", "1", "--yes")).code).toBe(0);
    const told = await from.call("report", { lease: work.lease, status: "complete" });
    expect(told.isError, told.text).toBe(true);
    expect(told.text).not.toContain("Accepted");
  });

  it("may write below _docs/ and nowhere else", async () => {
    const project = await makeFlowProject();
    const from = await host(project);
    const work = await from.call("next");
    fs.writeFileSync(path.join(work.folder, "stray.txt"), "stray\n");
    const told = await workBy(from, project, work);
    expect(told.isError).toBe(true);
    expect(told.text).toContain("stray.txt was added, outside of _docs/");
  });

  it("is told when the conversation has become long", async () => {
    const project = await makeFlowProject();
    const from = await host(project);
    const work = await from.call("next");
    let told = await from.call("sub_step", { lease: work.lease });
    for (let times = 0; times < 20; times++) {
      told = await from.call("sub_step", { lease: work.lease });
    }
    expect(told.text).toContain(
      "Context is getting long — recommend continuing in a fresh conversation for better results",
    );
  });
});
