/** What a kind of agent is: what it leaves, what it does, what it says, and what must come of it. */
import { honestTree, type Project, type ProjectName, type Tree } from "./project.ts";

export interface Kind {
  /** In words with dashes; `npm run torture -- --only liars:<name>` runs it alone. */
  readonly name: string;
  /** A sentence. */
  readonly what: string;
  /** The projects in which it can be; absent: all of them. The first is the one for tests. */
  readonly projects?: readonly ProjectName[];
  /** What has to be different before the run. */
  readonly base?: (project: Project) => Project;
  /** From the tree of an honest agent to the tree that this one leaves. */
  readonly tree?: (tree: Tree, project: Project) => Tree;
  /** A shell script in the work tree, when the files lie there. $ROOT: the user's own tree. */
  readonly script?: string | ((project: Project) => string);
  /** What is written as the result: JSON, or text as it is; null: nothing is written. */
  readonly result?: (honest: Claim, project: Project) => unknown;
  /** A shell script after the result is written. */
  readonly after?: string;
  /** It is honest because its result names a file that is not the phase's. */
  readonly told?: true;
  /** Its result names no file. */
  readonly silent?: true;
  /** Two in one: the script of the one may stumble over what the other left, and end it. */
  readonly joined?: true;
}

export interface Liar extends Kind {
  readonly expect: {
    /** The findings that name it; any one will do. */
    readonly codes: readonly string[];
    /** Where it fails without a finding. */
    readonly errors?: readonly string[];
  };
  /**
   * It touches what outlives its attempt: the repository's own data, the user's files, programs.
   * Nobody has to mend that for a second attempt, and a sandbox may refuse it.
   */
  readonly lasting?: true;
  /** Beside that its work is done; absent: if it leaves the tree that an honest agent would. */
  readonly isRightOtherwise?: boolean;
}

/** Clumsy, but its work is done: it has to be accepted. */
export interface Honest extends Kind {
  /** What the phase's commit must hold; absent: exactly what `tree` says. */
  readonly lands?: (tree: Tree, project: Project) => Tree;
  /** Fails like this first, and is then told what was wrong with it. */
  readonly first?: Pick<Kind, "tree" | "script" | "result">;
}

export interface Claim {
  readonly phase_id: string;
  readonly status: "complete" | "failed";
  readonly tasks: { readonly total: number; readonly completed: number };
  readonly gates: Readonly<Record<string, boolean | null>>;
  readonly commit_message: string;
  readonly files: {
    readonly created: readonly string[];
    readonly modified: readonly string[];
    readonly deleted: readonly string[];
  };
  readonly plan_updated: boolean;
  readonly error: null;
}

/** What an agent says that tells the truth about this tree. */
export function claimOf(project: Project, base: Tree, tree: Tree): Claim {
  const paths = [...new Set([...Object.keys(base), ...Object.keys(tree)])].sort();
  const [phase] = project.phases;
  const tasks = phase?.tasks.length ?? 0;
  return {
    phase_id: phase?.id ?? "",
    status: "complete",
    tasks: { total: tasks, completed: tasks },
    gates: Object.fromEntries(Object.keys(project.gates).map((gate) => [gate, true])),
    commit_message: "feat: a cart that adds up",
    files: {
      created: paths.filter((path) => !(path in base)),
      modified: paths.filter((path) => path in base && path in tree && base[path] !== tree[path]),
      deleted: paths.filter((path) => !(path in tree)),
    },
    plan_updated: false,
    error: null,
  };
}

/** Whether nothing is wrong with it once its tricks have come to nothing. */
export const isRightOtherwise = ({ lasting, tree, isRightOtherwise: said }: Liar): boolean =>
  lasting === true && (said ?? tree === undefined);

// ── changes ────────────────────────────────────────────────────────────────────────────────────

/** Two kinds can be put together only if each still finds what it changes. */
export class DoesNotFit extends Error {}

export function swap(tree: Tree, file: string, find: string, replace: string): Tree {
  const text = tree[file];
  if (text === undefined) throw new DoesNotFit(`there is no ${file}`);
  if (!text.includes(find)) throw new DoesNotFit(`${file} does not hold ${find}`);
  return { ...tree, [file]: text.replaceAll(find, () => replace) };
}

export const without = (tree: Tree, ...files: readonly string[]): Tree => {
  const missing = files.find((file) => !(file in tree));
  if (missing !== undefined) throw new DoesNotFit(`there is no ${missing}`);
  return Object.fromEntries(Object.entries(tree).filter(([file]) => !files.includes(file)));
};

/** What was right before the phase no longer is; the tests that were there find out. */
export const brokenOld = (tree: Tree, { role }: Project): Tree =>
  swap(tree, role.modified, role.right, role.wrong);

/** What the phase asks for is wrong; its tests would find out. */
export const brokenNew = (tree: Tree, { role }: Project): Tree =>
  swap(tree, role.created, role.newRight, role.newWrong);

/** One kind's tree for one project, and what it is held against. */
export function treesOf(kind: Pick<Kind, "tree">, project: Project): { honest: Tree; left: Tree } {
  const honest = honestTree(project);
  return { honest, left: kind.tree ? kind.tree(honest, project) : honest };
}
