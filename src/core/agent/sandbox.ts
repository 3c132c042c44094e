/**
 * Whether agents are confined, and by what: facts in, choice out. What confinement is stands in
 * `activities/confinement.ts`; here is only what is wished for, what can be had, and what is said.
 *
 *  1. Nobody is confined less than was asked for without being told.
 *  2. `required` is kept for everybody at work, or nobody begins.
 *  3. Whoever was to have no network has none, or does not begin.
 */
import { z } from "zod";
import { fail, type Result, succeed } from "../failure.ts";

export const sandboxModes = ["off", "auto", "required"] as const;
export type SandboxMode = (typeof sandboxModes)[number];

export const SandboxSettings = z.strictObject({
  mode: z
    .enum(sandboxModes)
    .exactOptional()
    .describe("`auto`: agents are confined where that can be had; `required`: or do not begin."),
  network: z
    .enum(["on", "off"])
    .exactOptional()
    .describe(
      "`off`: for `apply` and for commands of your own; agents that ask a model need theirs.",
    ),
});
export type SandboxSettings = z.infer<typeof SandboxSettings>;

/** By what they are confined; none: by nothing. */
export interface Sandbox {
  readonly mode: SandboxMode;
  readonly by?: SandboxMeans;
  readonly network: "on" | "off";
  /** Those who are not confined all the same, because their settings say so. */
  readonly free: readonly string[];
}

/** Namespaces of our own, or those of bubblewrap. */
export type SandboxMeans = "namespaces" | "bubblewrap";

export interface SandboxFacts {
  /** By what this machine can do what is wished for, with or without a network. */
  readonly by: SandboxMeans | undefined;
  /** Everybody who may come to work. */
  readonly agents: readonly {
    readonly name: string;
    /** Whether the settings let it be. */
    readonly confined: boolean;
    /** It works with a model somewhere else. */
    readonly isRemote: boolean;
  }[];
}

/** What a person wants for all projects, a project cannot weaken. */
export function stricter(
  one: SandboxSettings = {},
  other: SandboxSettings = {},
): SandboxSettings | undefined {
  const modes = [one.mode, other.mode].filter((mode) => mode !== undefined);
  const mode = [...sandboxModes].reverse().find((each) => modes.includes(each));
  const network = [one.network, other.network].includes("off")
    ? "off"
    : (one.network ?? other.network);
  if (mode === undefined && network === undefined) return undefined;
  return { ...(mode && { mode }), ...(network && { network }) };
}

export function chooseSandbox(
  { mode = "auto", network = "on" }: SandboxSettings,
  { by, agents }: SandboxFacts,
): Result<Sandbox> {
  const free = agents.filter(({ confined }) => !confined).map(({ name }) => name);
  if (network === "off") {
    const remote = agents.filter(({ isRemote }) => isRemote).map(({ name }) => name);
    if (mode === "off") {
      return fail("usage", "sandbox.network is off, and the sandbox is off: that excludes itself", {
        hint: "--sandbox=auto, or sandbox: { network: on } in .autodev/config.yaml",
      });
    }
    if (remote.length > 0) {
      return fail("usage", `${remote.join(", ")} cannot work without a network`, {
        details: ["sandbox.network is off: neither a model nor our result tool could be reached"],
        hint: "sandbox: { network: on }, or --agent apply, or an agent with a command of its own",
      });
    }
    if (!by) return noSandbox("no agent can be kept from the network here");
  }
  if (mode === "required") {
    if (!by) return noSandbox("no agent can be confined here");
    if (free.length > 0) {
      return fail("no-sandbox", `${free.join(", ")}: not confined, and a sandbox is required`, {
        hint: "drop confined: false from .autodev/config.yaml, or add --sandbox=auto",
      });
    }
  }
  return succeed({ mode, network, free, ...(by && mode !== "off" && { by }) });
}

const noSandbox = (what: string): ReturnType<typeof fail> =>
  fail("no-sandbox", `${what}: there are no namespaces for us, and no bubblewrap that works`, {
    hint: sandboxHint,
  });

export const sandboxHint = "install bubblewrap (apt-get install bubblewrap); autodev doctor checks";

/** What is told once, when a run begins; undefined: all is as one would think. */
export function sandboxWarning({ mode, by }: Sandbox): string | undefined {
  if (mode === "off")
    return "the agents are not confined, as you wished: they can write your files";
  return by
    ? undefined
    : `nothing confines the agents here, they can write your files: no namespaces for us, and no bubblewrap that works (${sandboxHint})`;
}

/** In a few words. */
export function sandboxText({ mode, by, network, free }: Sandbox): string {
  if (!by) return mode === "off" ? "off" : "none: nothing can confine the agents here";
  return [
    by === "namespaces" ? "namespaces of our own" : "bubblewrap",
    ...(network === "off" ? ["no network"] : []),
    ...(free.length > 0 ? [`not for ${free.join(", ")} (confined: false)`] : []),
  ].join(", ");
}
