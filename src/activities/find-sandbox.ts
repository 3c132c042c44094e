/** By what the agents of a run are confined: what this machine can do, and who will be at work. */
import { applyAgent } from "../core/agent/known.ts";
import { chooseSandbox, type Sandbox } from "../core/agent/sandbox.ts";
import type { Result } from "../core/failure.ts";
import type { Finding } from "../core/finding.ts";
import type { Settings } from "../core/settings.ts";
import { enclosedBy } from "../exec.ts";
import type { BuildOptions } from "./start-run.ts";

export async function findSandbox(
  { sandbox }: Pick<BuildOptions, "sandbox">,
  settings: Settings,
  agents: readonly string[],
): Promise<Result<Sandbox>> {
  const wish = { ...settings.sandbox, ...(sandbox && { mode: sandbox }) };
  const off = wish.network === "off";
  return chooseSandbox(wish, {
    by: await enclosedBy(off ? { network: "off" } : {}),
    agents: agents.map((name) => {
      const { command, use, confined } = settings.agents?.[name] ?? {};
      const isLocal = name === applyAgent.name || (command !== undefined && use === undefined);
      return { name, confined: confined !== false, isRemote: !isLocal };
    }),
  });
}

/** For `autodev doctor`. */
export async function examineSandbox(): Promise<Finding> {
  const by = await enclosedBy();
  if (!by) {
    return {
      code: "sandbox",
      level: "warning",
      message:
        "nothing confines agents here: no namespaces for us, and no bubblewrap that works; they can write your files",
      ...(process.platform === "linux" && { fix: "apt-get install bubblewrap" }),
    };
  }
  const apart = await enclosedBy({ network: "off" });
  const how = by === "namespaces" ? "namespaces of our own" : "bubblewrap";
  const network = apart ? "" : "; the network cannot be taken away";
  return { code: "sandbox", level: "ok", message: `sandbox: ${how}${network}` };
}
