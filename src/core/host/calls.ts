/**
 * What people can call inside their agent, and what the agent is told then: the loop over our tools.
 * Short, because it is read each time; what a step asks for stands in its brief. The same words go
 * into skills, into commands of every host, and into the plugin.
 */
import type { CallPlace } from "./hosts.ts";

export interface Call {
  readonly name: string;
  /** What it does and when it is to be used, for whoever chooses among skills. */
  readonly about: string;
  /** What is typed behind its name. */
  readonly takes?: string;
  readonly text: string;
}

const loop = (
  next: string,
): string => `1. ${next} It answers with a brief, a decision, or that there is a reason to rest.
2. A brief: work in exactly the folder that it names and nowhere else, and do what it says, all of it. Call \`sub_step\` with its
   lease whenever you begin a part of it. Then call \`report\` with the lease and what you did. Your word is a claim: it is checked.
   Where it was not accepted, call \`next\`: you get it again, with what was wrong.
3. A decision, from \`next\` or from \`report\`: show the person the question and all of its options as they are, and wait. Call
   \`decide\` with what the person chose. Never answer it yourself, and never choose because something is recommended.
4. Then go on with 1, until it says that there is a reason to rest. Tell the person what it said, and stop.`;

const rules = `Never write \`_docs/_autodev_state.md\` or anything in \`.autobuild/\`: they are rendered from what is on record. Do not commit,
merge or push unless the brief says so: that follows when your work has been checked. If there are no tools of the server
\`autodev\`, say so and stop: its program has to be on PATH, and the server allowed here.`;

const flow = `Go on with this project's flow. The tools of the MCP server \`autodev\` say what is done next and check it; you do the work.

${loop("Call `next`.")}

${rules}
`;

const about =
  "Goes on with this project's flow (problem, plan, implementation, release), step by step";

export const autodevCall: Call = {
  name: "autodev",
  about: `${about}. Use it when somebody asks to start, continue or resume autodev.`,
  text: flow,
};

export const autobuildCall: Call = {
  name: "autobuild",
  about:
    "Carries out a plan phase by phase, each of them checked before the next. Use it when somebody asks to build or run a plan with autodev or autobuild.",
  takes: "<plan>",
  text: `Carry out a plan by its phases. The tools of the MCP server \`autodev\` say which phase is next and check it; you do the work. The plan
is the file that the person named; if none was named, ask for it. First call \`plan_check\` with it: if there are errors, show
them and stop.

${loop("Call `next` with that `plan`.")}

${rules}
`,
};

const autopilot: Call = {
  name: "autopilot",
  about: `${about}: another name of autodev. Use it when somebody asks for autopilot.`,
  text: flow,
};

/** What `autodev init` puts into a repository. */
export const calls: readonly Call[] = [autodevCall, autobuildCall, autopilot];

/** What only the plugin has, where its names stand under its own. */
export const statusCall: Call = {
  name: "status",
  about:
    "Shows where this project is: step, runs, open decisions. Use it when somebody asks how far autodev has come.",
  text: `Call \`status\` and \`decisions\` of the MCP server \`autodev\`, and tell the person in a few lines: the step and how far it has come, runs
that are under way, what is blocked and why, and every open decision with its options. Change nothing, and answer no decision.
`,
};

/** As a host of that form reads it. */
export const renderCall: Readonly<Record<CallPlace["form"], (call: Call) => string>> = {
  skill: ({ name, about, text }) =>
    `---\nname: ${name}\ndescription: ${JSON.stringify(about)}\n---\n\n${text}`,
  cursor: ({ text }) => text,
  opencode: ({ about, text }) =>
    `---\ndescription: ${JSON.stringify(about)}\n---\n\n${text}\nWhat the person typed after it: $ARGUMENTS\n`,
  gemini: ({ about, text }) =>
    `description = ${JSON.stringify(about)}\nprompt = '''\n${text}\nWhat the person typed after it: {{args}}\n'''\n`,
};

/** For every agent that works here, called or not. */
export const agentsText = `## autodev

This project is worked on with autodev, which keeps its place, hands out work as briefs and checks what came of it.

- Its tools are those of the MCP server \`autodev\`: \`status\` says where the project is, \`next\` what is to be done.
- A decision is a person's: show it, wait, hand in the answer by \`decide\`. Never answer one yourself.
- Never write \`_docs/_autodev_state.md\` or \`.autobuild/\`: they are rendered from what is on record.
- Work that you were given a brief for is done in the folder that the brief names, and handed in by \`report\`.
`;
