/**
 * What lay below `_docs/` before a skill that writes nothing was at work there. It holds for all of
 * its sessions in a step: what the first has left would else be what the second found.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import type { Marks } from "../core/flow/contract.ts";
import type { FlowState } from "../core/flow/state.ts";
import { docsFolder, isStateFile, isTemporary } from "./docs-tree.ts";
import type { FlowSite } from "./flow-site.ts";

interface Kept {
  readonly step: string;
  readonly marks: Readonly<Record<string, string>>;
}

export function marksBefore(site: FlowSite, state: FlowState): Marks {
  const file = path.join(site.git.place.commonDir, "autodev", "scratch", "untouched.json");
  const step = `${state.flow} ${state.step} cycle ${state.cycle}`;
  const hasBegun = state.retryCount > 0 || state.subStep.phase > 0;
  const kept = hasBegun ? keptAt(file) : undefined;
  if (kept?.step === step) return new Map(Object.entries(kept.marks));
  const marks = docsMarks(site.project.root);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, JSON.stringify({ step, marks: Object.fromEntries(marks) }));
  return marks;
}

/** Undefined: there is none, or a crash has left half of it. */
function keptAt(file: string): Kept | undefined {
  try {
    return JSON.parse(fs.readFileSync(file, "utf8")) as Kept;
  } catch {
    return undefined;
  }
}

/** Everything but what we write there ourselves, by its bytes. */
export function docsMarks(root: string): Marks {
  const folder = path.join(root, docsFolder);
  if (!fs.existsSync(folder)) return new Map();
  return new Map(
    fs
      .readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .map((full) => [path.relative(folder, full).split(path.sep).join("/"), full] as const)
      .filter(([file]) => !isStateFile(`${docsFolder}/${file}`) && !isTemporary(file))
      .map(([file, full]) => [file, markOf(full)]),
  );
}

/** Of a link, where it leads; nothing is read through it. */
function markOf(file: string): string {
  try {
    const stat = fs.lstatSync(file);
    if (stat.isSymbolicLink()) return `link ${fs.readlinkSync(file)}`;
    if (!stat.isFile()) return "no file";
    return createHash("sha256").update(fs.readFileSync(file)).digest("hex");
  } catch {
    return "unreadable";
  }
}
