/** What a repository of repositories consists of, from its own files and from git. */
import * as fs from "node:fs";
import * as path from "node:path";
import { readPosition } from "../core/flow/position.ts";
import type { FlowState } from "../core/flow/state.ts";
import { parseStateFile } from "../core/flow/state-file.ts";
import { largestStateFile, stateFileNames } from "../core/flow/state-names.ts";
import { configFile, type Suite, type SuiteConfig, type SuiteMember } from "../core/suite.ts";
import { readRepoConfig } from "../formats/repo-config.ts";
import type { Git } from "../git/call.ts";
import { readSmallFile, smallFileAt } from "../stack/small-file.ts";
import { membersIn } from "./survey.ts";

export async function surveySuite(root: string, git: Git): Promise<Suite> {
  const members = membersIn(root).map(
    ({ path: where, by }): SuiteMember => ({
      path: where,
      by,
      checkedOut: by === "workspace" || fs.existsSync(path.join(root, where, ".git")),
    }),
  );
  const config = configAt(path.join(root, "_docs", configFile));
  const paths = new Set([
    ...members.map((member) => member.path),
    ...(config?.components ?? []).map((component) => component.path),
  ]);
  const commits: Record<string, number> = {};
  const since = await lastSync(git);
  for (const where of since === undefined ? [] : paths) {
    const member = members.find((each) => each.path === where);
    const count = await commitsIn(git, root, since ?? "", where, member);
    if (count !== undefined) commits[where] = count;
  }
  const there = Object.fromEntries(
    [...paths].map((where) => [where, fs.existsSync(path.join(root, where))]),
  );
  return { members, ...(config && { config }), commits, there };
}

/** The last commit of what tells how the parts were: from then on they are compared. */
async function lastSync(git: Git): Promise<string | undefined> {
  const told = await git.call({
    args: ["log", "-1", "--format=%H", "--", "_docs/_sync", `_docs/${configFile}`],
    expect: [128],
  });
  const commit = told.ok ? told.value.text.trim() : "";
  return commit === "" ? undefined : commit;
}

/** Of a submodule between the two commits that it was bound to; of a folder, those that touch it. */
async function commitsIn(
  git: Git,
  root: string,
  since: string,
  where: string,
  member: SuiteMember | undefined,
): Promise<number | undefined> {
  if (member?.by !== "submodule") {
    const told = await git.call({
      args: ["rev-list", "--count", `${since}..HEAD`, "--", where],
      expect: [128],
    });
    return told.ok && told.value.code === 0 ? Number(told.value.text) : undefined;
  }
  const [then, now] = [await boundTo(git, since, where), await boundTo(git, "HEAD", where)];
  if (then === undefined || now === undefined) return undefined;
  if (then === now) return 0;
  const own = ownGit(git, root, where);
  const told = await own?.call({
    args: ["rev-list", "--count", `${then}..${now}`],
    expect: [128],
  });
  return told?.ok && told.value.code === 0 ? Number(told.value.text) : undefined;
}

async function boundTo(git: Git, commit: string, where: string): Promise<string | undefined> {
  const told = await git.call({ args: ["ls-tree", commit, "--", where], expect: [128] });
  return told.ok ? /^160000 commit ([0-9a-f]+)\t/.exec(told.value.text)?.[1] : undefined;
}

/** Of what lies in it nothing but its history is asked; a link that leads elsewhere is not followed. */
function ownGit(git: Git, root: string, where: string): Git | undefined {
  const folder = path.join(root, where);
  const dot = path.join(folder, ".git");
  const stat = fs.lstatSync(dot, { throwIfNoEntry: false });
  const named = stat?.isFile() ? /^gitdir: (.+)$/m.exec(smallFileAt(dot) ?? "")?.[1] : undefined;
  const gitDir = stat?.isDirectory() ? dot : named && path.resolve(folder, named.trim());
  if (gitDir === undefined || gitDir === "") return undefined;
  const inside = path.relative(root, gitDir);
  const modules = path.relative(path.join(git.place.commonDir, "modules"), gitDir);
  const isOurs = [inside, modules].some((each) => !each.startsWith("..") && !path.isAbsolute(each));
  return isOurs ? git.at({ gitDir, commonDir: gitDir, workTree: folder }) : undefined;
}

/** A part as people are shown it. */
export interface SuitePart {
  readonly name: string;
  readonly path: string;
  readonly checkedOut: boolean;
  readonly known: boolean;
  readonly commits: number | null;
  readonly flow: string | null;
  readonly step: string | null;
  readonly stepName: string | null;
  readonly status: string | null;
}

export function partsOf(root: string, { members, config, commits, there }: Suite): SuitePart[] {
  const components = config?.components ?? [];
  const paths = [...new Set([...components, ...members].map((each) => each.path))].sort();
  return paths.map((where) => {
    const place = placeOfMember(root, where);
    return {
      name: components.find((each) => each.path === where)?.name ?? where,
      path: where,
      checkedOut: members.find((each) => each.path === where)?.checkedOut ?? there[where] === true,
      known: config === undefined || components.some((each) => each.path === where),
      commits: commits[where] ?? null,
      flow: place?.flow ?? null,
      step: place?.step ?? null,
      stepName: place?.name ?? null,
      status: place?.status ?? null,
    };
  });
}

/** Where a part's own flow is; undefined: it has none, or one that cannot be read from here. */
function placeOfMember(root: string, where: string): FlowState | undefined {
  for (const name of stateFileNames) {
    const file = path.join(root, where, "_docs", name);
    const isSmall = (fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0) < largestStateFile;
    const text = isSmall && isWithin(root, file) ? smallFileAt(file) : undefined;
    const parsed = text === undefined ? undefined : parseStateFile(text, `_docs/${name}`);
    if (parsed?.ok) return readPosition(parsed.value, `_docs/${name}`).state;
  }
  return undefined;
}

function isWithin(root: string, file: string): boolean {
  try {
    const relative = path.relative(fs.realpathSync(root), fs.realpathSync(file));
    return !relative.startsWith("..") && !path.isAbsolute(relative);
  } catch {
    return false;
  }
}

/** Undefined: there is none. */
function configAt(file: string): SuiteConfig | undefined {
  try {
    const text = readSmallFile(file);
    if (typeof text === "string") return readRepoConfig(text);
    return { confirmed: false, components: [], faults: [`1: ${text.why}`] };
  } catch {
    return undefined;
  }
}
