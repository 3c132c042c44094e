/** What people settle in `.autodev/config.yaml`, or for themselves; everything has a default. */
import { z } from "zod";
import { sizePattern } from "./keep.ts";
import { NotifySettings } from "./notice.ts";
import { commitModes } from "./plan/run-event.ts";

export const Settings = z.strictObject({
  state: z
    .strictObject({
      sections: z
        .enum(["pointer", "full"])
        .exactOptional()
        .describe("How much the state file tells."),
    })
    .exactOptional(),
  agent: z.string().min(1).exactOptional().describe("Who does the work, unless `--agent` says so."),
  agents: z
    .record(
      z.string().regex(/^[a-z][a-z0-9-]{0,31}$/),
      z.strictObject({
        command: z.string().min(1).describe("Reads a brief on standard input, writes a result."),
        confined: z
          .boolean()
          .exactOptional()
          .describe("`false`: it may write your own files too, not only its work tree."),
      }),
    )
    .exactOptional()
    .describe("Programs of your own that can do a phase."),
  setup: z
    .string()
    .min(1)
    .exactOptional()
    .describe("Run in a fresh checkout before the gates: `npm ci`, say."),
  gates: z
    .record(
      z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/),
      z.union([z.string().min(1), z.literal(false)]),
    )
    .exactOptional()
    .describe("What must exit with 0 before a phase lands, by name; `false` drops one."),
  checkout: z
    .strictObject({
      files: z
        .array(z.string().min(1))
        .exactOptional()
        .describe("Files that git ignores and the gates need, such as `.env.test`."),
    })
    .exactOptional(),
  verify: z
    .strictObject({
      bite: z
        .enum(["on", "off"])
        .exactOptional()
        .describe("Whether a phase's tests have to fail without its code; it costs a second run."),
    })
    .exactOptional(),
  keep: z
    .strictObject({
      days: z
        .int()
        .min(0)
        .max(36_500)
        .exactOptional()
        .describe("How old `autodev clean` lets things become; 30."),
      size: z
        .string()
        .regex(sizePattern)
        .exactOptional()
        .describe("How much may be kept, `2GB` say; of transcripts, also at the end of each run."),
    })
    .exactOptional()
    .describe("What autodev keeps on disk beside its memory."),
  build: z
    .strictObject({
      commit: z.enum(commitModes).exactOptional(),
      jobs: z.int().min(1).max(64).exactOptional(),
      attempts: z.int().min(1).max(20).exactOptional(),
      attempt_minutes: z.number().positive().exactOptional(),
      gate_minutes: z.number().positive().exactOptional(),
    })
    .exactOptional(),
  notify: NotifySettings.exactOptional().describe("Who hears of a run that needs people, and how."),
});
export type Settings = z.infer<typeof Settings>;

/**
 * What a person may settle for all projects, in a file of their own. Not what a project is checked
 * by: a commit is audited in other clones, and nobody else has that file.
 */
export const UserSettings = Settings.pick({ agent: true, agents: true, build: true, notify: true });

/** The project's word goes before the user's, key by key. */
export const mergedSettings = (
  user: z.infer<typeof UserSettings>,
  project: Settings,
): Settings => ({
  ...user,
  ...project,
  ...joined("agents", user, project),
  ...joined("build", user, project),
  ...joined("notify", user, project),
});

function joined<K extends "agents" | "build" | "notify">(
  key: K,
  user: Settings,
  project: Settings,
): Pick<Settings, K> | undefined {
  const [below, above] = [user[key], project[key]];
  if (below === undefined && above === undefined) return undefined;
  return { [key]: { ...below, ...above } } as Pick<Settings, K>;
}
