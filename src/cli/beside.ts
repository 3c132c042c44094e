/**
 * `build --ui`: the dashboard in a process of its own beside the build. It lives as long as we do,
 * however we end, since it reads from us; it never keeps the build waiting, nor can it harm it.
 */
import { spawn } from "node:child_process";
import * as path from "node:path";
import { printError } from "./output.ts";

export interface Beside {
  end(): void;
}

/** By then it is there, or the build begins without a word of it. */
const mostWaitMs = 3000;

export async function startBeside(): Promise<Beside> {
  try {
    const child = spawn(
      process.execPath,
      [path.join(__dirname, "main.cjs"), "ui", "--json", "--until-input-ends"],
      // A session of its own: Ctrl-C asks the build to stop, and people watch how it does.
      { detached: true, stdio: ["pipe", "pipe", "inherit"] },
    );
    child.stdin.on("error", () => {});
    const said = await new Promise<string | undefined>((resolve) => {
      let text = "";
      child.stdout.setEncoding("utf8").on("data", (part: string) => {
        text += part;
        if (text.includes("\n")) resolve(text);
      });
      child.once("error", (error) => resolve(JSON.stringify({ error })));
      child.once("exit", () => resolve(text));
      setTimeout(() => resolve(undefined), mostWaitMs).unref();
    });
    printError(sayingWhere(said));
    child.stdout.resume();
    for (const each of [child, child.stdin, child.stdout]) (each as { unref?(): void }).unref?.();
    return { end: () => void child.stdin.end() };
  } catch (error) {
    printError(`autodev: no dashboard: ${error instanceof Error ? error.message : String(error)}`);
    return { end() {} };
  }
}

function sayingWhere(said: string | undefined): string {
  if (said === undefined) return "autodev: the dashboard is slow to start; autodev ui shows where";
  try {
    const { url, error } = JSON.parse(said) as { url?: string; error?: { message?: string } };
    return url === undefined ? `autodev: no dashboard: ${error?.message ?? "it ended"}` : url;
  } catch {
    return "autodev: no dashboard: it ended at once";
  }
}
