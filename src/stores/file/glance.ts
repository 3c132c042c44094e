/**
 * The least that has to be read to know where a project stands, when nothing has happened since
 * it was last at rest: the snapshot, one line of the journal, the state file. In a module of its
 * own so that the program for it stays small; anything unusual is left to the whole store.
 */
import * as path from "node:path";
import type { Snapshot } from "../../store.ts";
import { realDisk } from "./disk.ts";
import { type Place, standsTo } from "./journal.ts";
import { readProjection } from "./projection.ts";
import { readSnapshot } from "./snapshot.ts";

export interface Glance {
  readonly snapshot: Snapshot;
  readProjection: (file: string) => string | undefined;
}

/** Undefined: the journal has gone on since, or something is not as it should be. */
export function glanceAt(folder: string, root: string): Glance | undefined {
  const saved = readSnapshot(realDisk.read(path.join(folder, "snapshot")));
  if (!saved) return undefined;
  const place: Place = { disk: realDisk, folder, shown: folder, sha256: () => "" };
  if (standsTo(place, saved.mark) !== "ends") return undefined;
  return {
    snapshot: saved.snapshot,
    readProjection(file) {
      const read = readProjection(realDisk, root, file);
      return read.ok ? read.value : undefined;
    },
  };
}
