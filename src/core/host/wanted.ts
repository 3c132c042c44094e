/** Which files of a repository have to hold what, for these hosts: each file once. */
import { agentsText, calls, renderCall } from "./calls.ts";
import { type HostName, hostNames, hosts, type ServerEntry, serverName } from "./hosts.ts";

/** Whether what a run shows in `.autobuild/` goes into git: the team's choice. */
export const autobuildChoices = ["ignore", "track"] as const;
export type AutobuildChoice = (typeof autobuildChoices)[number];

/** How a comment is written there. */
export type CommentSign = "<!--" | "#";

export type Wanted = { readonly file: string; readonly rather?: string } & (
  | EntryWanted
  | BlockWanted
  | WholeWanted
);

/** One key of an object in a file of settings. */
export interface EntryWanted {
  readonly is: "entry";
  readonly format: "json" | "toml";
  /** Of the object, then of the entry in it. */
  readonly path: readonly [string, string];
  readonly entry: ServerEntry;
}

/** Lines between two marks, at the end of a document. */
export interface BlockWanted {
  readonly is: "block";
  readonly comment: CommentSign;
  readonly body: string;
  /** The file says so by itself: nothing has to be added. */
  readonly unless?: RegExp;
  /** The file says the opposite by itself. */
  readonly against?: { readonly line: RegExp; readonly why: string };
}

/** A file of our own. */
export interface WholeWanted {
  readonly is: "whole";
  readonly comment: CommentSign;
  readonly body: string;
}

export function wantedFiles(
  names: readonly HostName[],
  autobuild: AutobuildChoice,
): readonly Wanted[] {
  const chosen = hostNames.filter((name) => names.includes(name)).map((name) => hosts[name]);
  const files = new Map<string, Wanted>();
  const want = (wanted: Wanted): void => {
    if (!files.has(wanted.file)) files.set(wanted.file, wanted);
  };
  want({ file: "AGENTS.md", is: "block", comment: "<!--", body: agentsText });
  for (const { imports } of chosen) {
    if (imports !== undefined) want({ file: imports, ...imported });
  }
  for (const { server } of chosen) {
    const { file, rather, format, key, entry } = server;
    const path = [key, serverName] as const;
    want({ file, ...(rather !== undefined && { rather }), is: "entry", format, path, entry });
  }
  for (const { calls: place } of chosen) {
    for (const call of calls) {
      const comment = place.form === "gemini" ? "#" : "<!--";
      const body = renderCall[place.form](call);
      want({ file: place.file(call.name), is: "whole", comment, body });
    }
  }
  want({ file: ".gitignore", is: "block", comment: "#", ...ignored[autobuild] });
  return [...files.values()];
}

/** What those hosts have to themselves; all of them: everything. */
export function wantedOnlyBy(names: readonly HostName[]): readonly Wanted[] {
  const others = hostNames.filter((name) => !names.includes(name));
  const all = wantedFiles(names, "ignore");
  if (others.length === 0) return all;
  const theirs = new Set(wantedFiles(others, "ignore").map(({ file }) => file));
  return all.filter(({ file }) => !theirs.has(file));
}

const imported: BlockWanted = {
  is: "block",
  comment: "<!--",
  body: "@AGENTS.md\n",
  unless: /(?:^|\s)@(?:\.\/)?AGENTS\.md(?=\s|$)/mu,
};

const ignoresAll = /^\/?\.autobuild(?:\/|\/\*\*?)?[ \t]*\r?$/mu;

const ignored: Readonly<Record<AutobuildChoice, Omit<BlockWanted, "is" | "comment">>> = {
  ignore: { body: ".autobuild/\n", unless: ignoresAll },
  track: {
    body: ".autobuild/logs/\n",
    against: { line: ignoresAll, why: "this line keeps .autobuild/ out of git" },
  },
};

/** What a `.gitignore` says of it; undefined: nothing. */
export function autobuildChoiceIn(text: string): AutobuildChoice | undefined {
  if (ignoresAll.test(text)) return "ignore";
  return /^\.autobuild\/logs\/[ \t]*\r?$/mu.test(text) ? "track" : undefined;
}
