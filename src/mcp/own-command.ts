/** The terminal's door, for everything that it says as well: the same words, the same exit codes. */
import { spawn } from "node:child_process";
import * as path from "node:path";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

const mostBytes = 1024 * 1024;

/** One of our own commands in this folder, without a terminal. */
export function ownCommand(
  args: readonly string[],
  { cwd, signal }: { readonly cwd: string; readonly signal?: AbortSignal },
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [path.join(__dirname, "main.cjs"), ...args], {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NO_COLOR: "1", AUTODEV_NO_INPUT: "1" },
      ...(signal && { signal }),
    });
    const texts = { out: "", error: "" };
    const keep = (of: keyof typeof texts) => (bytes: Buffer) => {
      if (texts[of].length < mostBytes) texts[of] += bytes.toString("utf8");
    };
    child.stdout.on("data", keep("out"));
    child.stderr.on("data", keep("error"));
    child.once("error", (error) => resolve({ code: 1, out: "", error: error.message }));
    child.once("close", (code) => resolve({ code: code ?? 1, ...texts }));
  });
}
