/** Where something was measured: without it a figure says nothing. */
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

export interface Environment {
  /** ISO 8601, UTC. */
  readonly date: string;
  readonly node: string;
  readonly cpu: string;
  readonly memory: string;
  readonly kernel: string;
  /** Of the folder in which everything is done. */
  readonly fileSystem: string;
  /** Processes that wanted to run, over the last minute; beyond the number of cores it is busy. */
  readonly load: number;
}

export const environmentOf = (folder: string): Environment => ({
  date: new Date().toISOString(),
  node: process.version,
  cpu: `${os.cpus().length} × ${os.cpus()[0]?.model ?? "unknown"}`,
  memory: `${Math.round(os.totalmem() / 1e9)} GB`,
  kernel: `${os.type()} ${os.release()}`,
  fileSystem: fileSystemOf(folder),
  load: Number((os.loadavg()[0] ?? 0).toFixed(1)),
});

export function inWords(environment: Environment): string {
  const { date, node, cpu, memory, kernel, fileSystem, load } = environment;
  return `${date.slice(0, 16).replace("T", " ")} UTC, node ${node}, ${cpu}, ${memory}, ${kernel}, ${fileSystem}, load ${load}`;
}

/** The mount that a folder lies in is the longest that its path begins with. */
function fileSystemOf(folder: string): string {
  try {
    const mounts = fs.readFileSync("/proc/self/mounts", "utf8").trim().split("\n");
    const real = fs.realpathSync(folder);
    const within = mounts
      .map((line) => line.split(" "))
      .filter(([, at = ""]) => !path.relative(at, real).startsWith(".."))
      .sort(([, a = ""], [, b = ""]) => b.length - a.length);
    return within[0]?.[2] ?? "unknown file system";
  } catch {
    return "unknown file system";
  }
}
