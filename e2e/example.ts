/**
 * Our own example of six phases, for agents with a model: its plan says what is wanted and its
 * scripts do it, file by file as `apply` has done it. What comes out must be the same tree.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environmentIn, makePlace } from "./place.ts";
import { binary } from "./project.ts";
import type { Script, Step } from "./script.ts";

export const examplePlan = "docs/linkcheck-plan.md";

export interface Example {
  /** The project before the first phase, its plan with a marker in each section. */
  readonly files: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, Script>>;
  /** What each file holds when all is done. */
  readonly end: Readonly<Record<string, string>>;
}

/** `slowly`: how long each phase naps before it writes anything, in seconds; seen as `nap-2a`. */
export function exampleFor({ slowly }: { readonly slowly: number }): Example {
  const place = makePlace();
  const folder = mkdtempSync(join(tmpdir(), "autodev-example-"));
  try {
    const env = environmentIn(place);
    const made = join(folder, "example");
    execFileSync(process.execPath, [binary, "example", "typescript", made, "--json"], {
      env,
      stdio: "ignore",
    });
    const git = (...args: readonly string[]): string =>
      execFileSync("git", args, { cwd: made, env, encoding: "utf8" });
    const commits = git("log", "--reverse", "--format=%H %(trailers:key=Autobuild-Phase,valueonly)")
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => line.split(" ") as [string, string]);
    const [base = ""] = commits[0] ?? [];
    const phases = commits.slice(1).map(([commit, phase]) => ({ commit, phase }));
    const fileAt = (commit: string, name: string): string => git("show", `${commit}:${name}`);
    const names = (commit: string): string[] =>
      git("ls-tree", "-r", "-z", "--name-only", commit).split("\0").filter(Boolean);
    const scripts: Record<string, Script> = {};
    for (const { commit, phase } of phases) {
      const changed = git("diff", "--name-status", "-z", `${commit}^`, commit).split("\0");
      const steps: Step[] = slowly > 0 ? [{ bash: `sh -c 'sleep ${slowly}; :' nap-${phase}` }] : [];
      const files: Changed = { created: [], modified: [], deleted: [] };
      for (let at = 0; at + 1 < changed.length; at += 2) {
        const [how, name = ""] = [changed[at], changed[at + 1]];
        if (name === examplePlan) continue;
        if (how === "D") {
          files.deleted.push(name);
          steps.push({ bash: `rm '${name}'` });
          continue;
        }
        const content = fileAt(commit, name);
        if (how === "A") {
          files.created.push(name);
          steps.push({ write: { path: name, content } });
        } else {
          files.modified.push(name);
          steps.push({ bash: `printf %s ${toBase64(content)} | base64 -d > '${name}'` });
        }
      }
      scripts[phase] = [
        ...steps,
        { json: resultOf(phase, git("log", "-1", "--format=%s", commit), files) },
        { say: "It is done." },
      ];
    }
    const last = phases.at(-1)?.commit ?? "";
    const end = Object.fromEntries(names(last).map((name) => [name, fileAt(last, name)]));
    const files = Object.fromEntries(names(base).map((name) => [name, fileAt(base, name)]));
    files[examplePlan] = withMarkers(files[examplePlan] ?? "");
    return { files, scripts, end };
  } finally {
    rmSync(folder, { recursive: true, force: true });
    place.remove();
  }
}

const toBase64 = (text: string): string => Buffer.from(text).toString("base64");

/** Beside each heading of a phase, the name of its script; no code that `apply` could take. */
const withMarkers = (plan: string): string =>
  plan.replace(
    /^(### Phase (\S+?):.*)$/gm,
    (_all, heading: string, id: string) => `${heading}\n\n[[script:${id.toLowerCase()}]]`,
  );

interface Changed {
  readonly created: string[];
  readonly modified: string[];
  readonly deleted: string[];
}

const resultOf = (phase: string, subject: string, files: Changed): object => ({
  phase_id: phase,
  status: "complete",
  tasks: { total: 1, completed: 1 },
  gates: {},
  commit_message: subject.trim(),
  files,
  plan_updated: false,
  error: null,
});
