/** What `autodev init` has written, in the programs that it was written for. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { HostName } from "../src/core/host/hosts.ts";
import { agents, isInstalled } from "./agents.ts";
import { onHostStage } from "./heard.ts";
import { putFiles } from "./place.ts";
import { binary } from "./project.ts";

const here = join(process.cwd(), "e2e");
const document = "This project is worked on with autodev";
const whole = "Go on with this project's flow. The tools of the MCP server";

interface Visit {
  readonly name: Exclude<HostName, "cursor">;
  readonly call: (tree: string) => readonly string[];
  /** In the home: what a person says once, when it asks whether the folder is trusted. */
  readonly trust?: (tree: string) => Readonly<Record<string, string>>;
  /** What has reached the model. */
  readonly told: readonly string[];
}

const visits: readonly Visit[] = [
  {
    name: "claude",
    call: () => [...agents.claude.headless("/autodev"), "--allowedTools", "mcp__autodev__next"],
    told: [document, whole],
  },
  {
    name: "codex",
    // The same as `trust`, beside a file that is there already.
    call: (tree) => [
      "-c",
      `projects.${JSON.stringify(tree)}.trust_level="trusted"`,
      ...agents.codex.headless("$autodev"),
    ],
    told: [document, whole],
  },
  { name: "gemini", call: () => agents.gemini.headless("/autodev"), told: [document, whole] },
  {
    name: "opencode",
    call: () => ["run", "--format", "json", "--command", "autodev"],
    told: [document, whole],
  },
  {
    name: "copilot",
    // Without a terminal it takes no call by name, and offers its skills to the model instead.
    call: () => agents.copilot.headless("Continue autodev"),
    trust: (tree) => ({ ".copilot/config.json": JSON.stringify({ trustedFolders: [tree] }) }),
    told: [document, "Use it when somebody asks to start, continue or resume autodev."],
  },
];

describe("after autodev init", () => {
  for (const { name, call, trust, told } of visits) {
    it.skipIf(!isInstalled(name, here))(`${name} knows us, and starts our server`, () =>
      onHostStage(name, async ({ place, env, host, asked, heard }) => {
        const cwd = place.tree;
        execFileSync("git", ["init", "--quiet"], { cwd, env });
        execFileSync(process.execPath, [binary, "init", "--yes", "--hosts", name], {
          cwd,
          env,
          stdio: "ignore",
        });
        putFiles(place.home, trust?.(place.tree) ?? {});
        const { exit, lines } = await host(...call(place.tree));
        expect(exit, JSON.stringify(lines)).toBe(0);
        expect(heard()).toEqual([`started ${place.tree} mcp`, "next"]);
        for (const text of told) expect(asked()).toContain(text);
      }),
    );
  }
});
