/**
 * A repository of repositories: what it consists of by its own files, what people have confirmed of
 * that, and what has happened in each part since their documents and CI were last brought in step.
 */

/** A part that git or a package manager knows of. */
export interface SuiteMember {
  /** From the root, with slashes. */
  readonly path: string;
  readonly by: "submodule" | "workspace";
  /** A submodule that was not fetched is an empty folder. */
  readonly checkedOut: boolean;
}

/** A part as `_docs/_repo-config.yaml` has it. */
export interface SuiteComponent {
  readonly name: string;
  readonly path: string;
}

export interface SuiteConfig {
  readonly confirmed: boolean;
  readonly components: readonly SuiteComponent[];
  /** What is wrong with the file, with its line. */
  readonly faults: readonly string[];
}

export interface Suite {
  readonly members: readonly SuiteMember[];
  /** Absent: nobody has written it yet. */
  readonly config?: SuiteConfig;
  /** Commits in a part since the last sync, by its path; absent: nobody can tell from here. */
  readonly commits: Readonly<Record<string, number>>;
  /** Whether a folder of this path is there. */
  readonly there: Readonly<Record<string, boolean>>;
}

export const configFile = "_repo-config.yaml";

/** Members that no component stands for: for people to take in, and for nobody else. */
export const newMembers = ({ members, config }: Suite): SuiteMember[] => {
  const known = new Set(config?.components.map(({ path }) => plain(path)));
  return config ? members.filter(({ path }) => !known.has(plain(path))) : [];
};

const plain = (path: string): string => path.replace(/^\.\//, "").replace(/\/+$/, "");

/** What of the suite its configuration does not have, or has and is not there; a sentence each. */
export function suiteGaps(suite: Suite): string[] {
  const { config, there } = suite;
  if (!config) return [];
  const names = config.components.map(({ name }) => name);
  return [
    ...config.faults.map((fault) => `_docs/${configFile}:${fault}`),
    ...newMembers(suite).map(
      ({ path, by }) => `_docs/${configFile} has no component for ${path}, which is a ${by} here`,
    ),
    ...config.components
      .filter(({ path }) => there[path] === false)
      .map(({ name, path }) => `_docs/${configFile}: the path of ${name}, ${path}, is not there`),
    ...names
      .filter((name, at) => names.indexOf(name) !== at)
      .map((name) => `_docs/${configFile}: two components are called ${name}`),
  ];
}

/** Said of a part that there is: `document-drift: orders`. */
export function reportGaps(reports: readonly string[], { config }: Suite): string[] {
  const names = new Set(config?.components.map(({ name }) => name));
  return reports.flatMap((report) => {
    const [, word, name] = /^([^:]+):\s*(.+)$/.exec(report) ?? [];
    return name === undefined || names.has(name.trim())
      ? []
      : [`it reports ${word} of ${name}, which is no component of _docs/${configFile}`];
  });
}

/** For whoever works on it: a line for each part, in order of their paths. */
export function suiteLines(suite: Suite): string[] {
  const { members, config, commits } = suite;
  const fresh = new Set(newMembers(suite).map(({ path }) => path));
  const byPath = new Map(config?.components.map(({ name, path }) => [plain(path), name]));
  const listed = members.map(({ path, by, checkedOut }) =>
    [
      byPath.get(plain(path)) ?? path,
      `${by} ${path}`,
      ...(checkedOut ? [] : ["not checked out"]),
      ...(fresh.has(path) ? ["not in the configuration: for a person to take in"] : []),
      ...(commits[path] === undefined ? [] : [countWords(commits[path])]),
    ].join(" · "),
  );
  const paths = new Set(members.map(({ path }) => plain(path)));
  const others = (config?.components ?? [])
    .filter(({ path }) => !paths.has(plain(path)))
    .map(({ name, path }) =>
      [
        name,
        `folder ${path}`,
        ...(commits[path] === undefined ? [] : [countWords(commits[path])]),
      ].join(" · "),
    );
  return [...listed, ...others];
}

export const countWords = (commits: number): string =>
  commits === 0
    ? "nothing new since the last sync"
    : `${commits} ${commits === 1 ? "commit" : "commits"} since the last sync`;
