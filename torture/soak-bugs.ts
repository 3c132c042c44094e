/** Bugs that nobody meets in a day: each leaves a little behind, or forgets a little, every time. */
import type { Plant } from "./rig.ts";

const store = "src/stores/file.ts";
const hold = "src/activities/hold.ts";

export const soakBugs: readonly {
  readonly name: string;
  readonly slow?: true;
  /** What it is told by; other failures are not it. */
  readonly seen: RegExp;
  readonly plant: Plant;
}[] = [
  {
    name: "snapshot-never-taken-anew",
    seen: /folded at rest|folded after a death/,
    plant: {
      file: store,
      find: "if (!mark || mark.head.hash !== snapshot.head.hash) return;",
      replace:
        "if (!mark || mark.head.hash !== snapshot.head.hash || place.disk.exists(snapshotFile)) return;",
    },
  },
  {
    name: "spending-forgotten-by-a-restart",
    seen: /was spent|has spent/,
    plant: {
      file: "src/core/plan/progress.ts",
      find: "const { ended: _, parkedUntil: __, review, ...going } = before;",
      replace: "const { ended: _, parkedUntil: __, spent: ___, review, ...going } = before;",
    },
  },
  {
    name: "history-of-a-run-read-from-the-very-first",
    slow: true,
    seen: /journal read by a build/,
    plant: {
      file: hold,
      find: "store.read(began === undefined ? { whole: true } : { from: began })",
      replace: "store.read(began === undefined ? { whole: true } : { whole: true })",
    },
  },
  {
    name: "descriptor-left-open",
    slow: true,
    seen: /descriptors/,
    plant: {
      file: "src/stores/file/disk.ts",
      find: "        return bytes.subarray(0, got);\n      } finally {\n        fs.closeSync(fd);",
      replace:
        "        return bytes.subarray(0, got);\n      } finally {\n        if (offset === 0) fs.closeSync(fd);",
    },
  },
  {
    name: "sessions-kept-in-memory",
    slow: true,
    seen: /heap/,
    plant: {
      file: hold,
      find: "  let sinceSnapshot = folded.value.folded;",
      replace:
        "  ((globalThis as { kept?: unknown[] }).kept ??= []).push(looked.value, folded.value);\n  let sinceSnapshot = folded.value.folded;",
    },
  },
  {
    name: "temporary-files-left",
    slow: true,
    seen: /temporary files/,
    plant: {
      file: store,
      find: "        for (const file of abandoned()) {\n          await place.disk.remove(file).catch(() => {});",
      replace:
        "        for (const file of abandoned().slice(1)) {\n          await place.disk.remove(file).catch(() => {});",
    },
  },
  {
    name: "messages-to-the-dead-kept",
    slow: true,
    seen: /messages to nobody/,
    plant: {
      file: "src/stores/file/inbox.ts",
      find: "    else await remove(place, id);",
      replace: "",
    },
  },
];
