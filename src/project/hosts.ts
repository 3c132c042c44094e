/** The files by which hosts know of us. */
import * as path from "node:path";
import { type Project } from "../activities/hold.ts";
import { isStartable, type SeenHost, seenHosts } from "../activities/look-at-hosts.ts";
import {
  type HostDisk,
  type InitRequest,
  type PlannedFile,
  planInit,
  presentChoice,
  writeInit,
} from "../activities/write-host-files.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { AutobuildChoice } from "../core/host/wanted.ts";
import { realDisk } from "../stores/file/disk.ts";
import { sha256 } from "../stores/file.ts";
import { planDisk } from "./open.ts";

const hostDisk: HostDisk = {
  ...planDisk,
  remove: async (file, proceed) => {
    if (!proceed()) return false;
    await realDisk.remove(file);
    await realDisk.syncFolder(path.dirname(file));
    return true;
  },
};

/** The files by which hosts know of us. */
export interface HostFiles {
  readonly root: string;
  readonly seen: readonly SeenHost[];
  /** What was chosen here before. */
  readonly autobuild: AutobuildChoice | undefined;
  /** Whether hosts can start us by our name. */
  readonly startable: boolean;
  plan(request: InitRequest): Result<readonly PlannedFile[]>;
  write(request: InitRequest): Promise<Result<readonly PlannedFile[]>>;
}

export function hostFilesOf({ root, repository }: Project): Result<HostFiles> {
  if (!repository) {
    return fail("no-repository", `${root} is not in a git repository: nothing is written there`, {
      hint: "git init",
    });
  }
  const hash = (text: string): string => sha256(text).slice(0, 8);
  return succeed({
    root,
    seen: seenHosts(root, process.env),
    autobuild: presentChoice(root),
    startable: isStartable(root, process.env),
    plan: (request) => planInit({ root, hash }, request),
    write: (request) => writeInit({ root, hash, disk: hostDisk }, request),
  });
}
