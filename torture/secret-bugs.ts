/** Bugs planted where secrets are masked: each tells one, to a file, a page or a terminal. */
import type { Plant } from "./rig.ts";

const keepSecrets = "src/activities/keep-secrets.ts";
const output = "src/exec/output.ts";

export const secretBugs: readonly {
  readonly name: string;
  readonly slow?: true;
  /** What it is told by; other failures are not it. */
  readonly seen: RegExp;
  readonly plant: Plant & {
    /** The parts of the program that have it. */
    readonly bundles: readonly string[];
  };
}[] = [
  {
    name: "secrets-over-chunks",
    seen: /is in .*transcripts/,
    plant: {
      bundles: ["build"],
      file: output,
      find: 'finish(held.toString("utf8", 0, filled));',
      replace: 'take(held.toString("utf8", 0, filled));',
    },
  },
  {
    name: "secrets-in-lines",
    slow: true,
    seen: /is in .*transcripts/,
    plant: {
      bundles: ["build"],
      file: output,
      find: 'mask(text.endsWith("\\r") ? text.slice(0, -1) : text)',
      replace: 'text.endsWith("\\r") ? text.slice(0, -1) : text',
    },
  },
  {
    name: "secrets-of-the-users-variables",
    slow: true,
    seen: /is in .*journal/,
    plant: {
      bundles: ["build"],
      file: "src/exec.ts",
      find: "{ ...options, talk }, secretsIn(env))",
      replace: "{ ...options, talk }, secretsIn(options.env ?? {}))",
    },
  },
  {
    name: "secrets-in-disguise",
    slow: true,
    seen: /is in .*transcripts/,
    plant: {
      bundles: ["build"],
      file: "src/safe-text.ts",
      find: "let rest = disguised.test(text) ? maskDisguised(text, secrets) : text;",
      replace: "let rest = text;",
    },
  },
  {
    name: "secrets-in-claims",
    slow: true,
    seen: /is in git's commit/,
    plant: {
      bundles: ["build"],
      file: keepSecrets,
      find: "return masked(await agent.run(brief, heard), secrets);",
      replace: "return await agent.run(brief, heard);",
    },
  },
  {
    name: "secrets-in-pieces-of-messages",
    slow: true,
    seen: /is in autodev log 2/,
    plant: {
      bundles: ["build"],
      file: keepSecrets,
      find: 'if (event.type === "raw") lines.add(event.line);',
      replace: 'if (event.type === "raw") run.emit(event);',
    },
  },
  {
    name: "secrets-cut-before-they-are-masked",
    slow: true,
    seen: /is in flow.*journal/,
    plant: {
      bundles: ["start"],
      file: "src/activities/skill-reports.ts",
      find: "subStepIn(withoutSecrets(line))",
      replace: "subStepIn(line)",
    },
  },
  {
    name: "secrets-quoted-from-documents",
    slow: true,
    seen: /is in flow.*journal/,
    plant: {
      bundles: ["start"],
      file: "src/activities/run-skill.ts",
      find: "      withoutSecrets(text),\n",
      replace: "      text,\n",
    },
  },
  {
    name: "secrets-in-patches",
    slow: true,
    seen: /is in \/api\/diff/,
    plant: {
      bundles: ["dashboard"],
      file: "src/dashboard/routes.ts",
      find: '.split("\\n").map(patchWithoutSecrets()).join("\\n")',
      replace: "",
    },
  },
  {
    name: "transcripts-open-to-others",
    slow: true,
    seen: /others may read .*transcripts/,
    plant: {
      bundles: ["build"],
      file: "src/activities/transcript.ts",
      find: "O_NOFOLLOW | O_NONBLOCK, 0o600)",
      replace: "O_NOFOLLOW | O_NONBLOCK, 0o644)",
    },
  },
];
