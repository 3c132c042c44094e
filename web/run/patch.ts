/** A unified diff as files and lines, for whoever colours them. */
export type LineKind = "added" | "removed" | "hunk" | "same" | "note";

export interface PatchLine {
  readonly is: LineKind;
  /** Without its sign. */
  readonly text: string;
  /** In the new file; of what was removed, in the old one. */
  readonly number?: number;
}

export interface PatchFile {
  readonly path: string;
  readonly lines: readonly PatchLine[];
}

export function filesIn(patch: string): PatchFile[] {
  const files: { path: string; lines: PatchLine[] }[] = [];
  let [old, now] = [0, 0];
  let inHunk = false;
  for (const line of patch.replace(/\n$/, "").split("\n")) {
    if (line.startsWith("diff --git ")) {
      files.push({ path: pathIn(line), lines: [] });
      inHunk = false;
      continue;
    }
    const file = files.at(-1);
    if (!file) continue;
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)/.exec(line);
    if (hunk) {
      [old, now] = [Number(hunk[1]), Number(hunk[2])];
      inHunk = true;
      file.lines.push({ is: "hunk", text: line });
    } else if (!inHunk) {
      if (line.startsWith("+++ b/")) file.path = line.slice(6);
      else if (told.test(line)) file.lines.push({ is: "note", text: line });
    } else if (line.startsWith("+")) {
      file.lines.push({ is: "added", text: line.slice(1), number: now++ });
    } else if (line.startsWith("-")) {
      file.lines.push({ is: "removed", text: line.slice(1), number: old++ });
    } else if (line.startsWith("\\")) {
      file.lines.push({ is: "note", text: line.slice(2) });
    } else {
      file.lines.push({ is: "same", text: line.slice(1), number: now++ });
      old++;
    }
  }
  return files;
}

/** Of what stands before the first hunk: what nothing else shows. */
const told = /^(?:new file|deleted file|old mode|new mode|rename|similarity|Binary files)/;

const pathIn = (line: string): string => / b\/(.+)$/.exec(line)?.[1] ?? line.slice(11);
