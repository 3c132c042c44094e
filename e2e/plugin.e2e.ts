/** The folder `plugin/`, unchanged, in the programs that install such folders. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type AgentName, agents, isInstalled } from "./agents.ts";
import { onHostStage } from "./heard.ts";

const here = join(process.cwd(), "e2e");
const plugin = join(process.cwd(), "plugin");
const added = ["plugin", "marketplace", "add", plugin];

interface Installer {
  readonly name: AgentName;
  /** What it calls our server. */
  readonly server?: string;
  readonly install: readonly (readonly string[])[];
  readonly call: readonly string[];
  /** What of the skill reaches the model at once. */
  readonly told: string;
}

/** Our recipe turns plugins off. */
const withPlugins = ["-c", "features.plugins=true"];
const whole = "Go on with this project's flow. The tools of the MCP server";

const installers: readonly Installer[] = [
  {
    name: "claude",
    server: "plugin_autodev_autodev",
    install: [added, ["plugin", "install", "autodev@autodev"]],
    call: [
      ...agents.claude.headless("/autodev:autodev"),
      "--allowedTools",
      "mcp__plugin_autodev_autodev__next",
    ],
    told: whole,
  },
  {
    name: "codex",
    install: [
      [...withPlugins, ...added],
      [...withPlugins, "plugin", "add", "autodev@autodev"],
    ],
    call: [...withPlugins, ...agents.codex.headless("$autodev:autodev")],
    told: whole,
  },
  {
    name: "copilot",
    install: [added, ["plugin", "install", "autodev@autodev"]],
    // Without a terminal it takes no call by name, and offers its skills to the model instead.
    call: agents.copilot.headless("Continue autodev"),
    told: "Use it when somebody asks to start, continue or resume autodev.",
  },
];

describe("the plugin", () => {
  it.skipIf(!isInstalled("claude", here))("is valid to Claude Code, strictly", () =>
    onHostStage("claude", async ({ host }) => {
      const { exit, lines } = await host("plugin", "validate", "--strict", plugin);
      expect(exit, JSON.stringify(lines)).toBe(0);
    }),
  );

  for (const { name, server, install, call, told } of installers) {
    it.skipIf(!isInstalled(name, here))(`of ${name} starts our server in the project`, () =>
      onHostStage(
        name,
        async (stage) => {
          for (const args of [...install, call]) {
            const { exit, lines } = await stage.host(...args);
            expect(exit, JSON.stringify(lines)).toBe(0);
          }
          expect(stage.heard()).toEqual([`started ${stage.place.tree} mcp`, "next"]);
          expect(stage.asked()).toContain(told);
        },
        server,
      ),
    );
  }
});
