/**
 * Shows an address in the user's own browser. Unlike everything else that we start, it is his and
 * stays when we go; nothing of it is read, and nothing of a repository's is ever started this way.
 */
import { spawn } from "node:child_process";
import * as os from "node:os";
import * as path from "node:path";
import { foundOutside } from "./find-program.ts";

/** What would be started, the user's own choice first. `outside`: nothing of a repository's. */
export function browserFor(
  platform: NodeJS.Platform,
  env: NodeJS.ProcessEnv,
  outside: string | undefined,
): { readonly program: string; readonly args: readonly string[] } | undefined {
  const own = (env["BROWSER"] ?? "").split(":").filter((each) => /^[\w./+-]+$/.test(each));
  const usual: Partial<Record<NodeJS.Platform, readonly string[]>> = {
    darwin: ["open"],
    win32: ["explorer.exe"],
    linux: ["xdg-open", "gio", "wslview"],
  };
  for (const name of [...own, ...(usual[platform] ?? ["xdg-open"])]) {
    const folder = path.isAbsolute(name) ? path.dirname(name) : (env["PATH"] ?? "");
    const program = foundOutside(path.basename(name), folder, outside);
    if (program !== undefined) return { program, args: name === "gio" ? ["open"] : [] };
  }
  return undefined;
}

/** Somebody sits at this machine, in front of a screen, and has not come from elsewhere. */
export function hasScreen(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): boolean {
  if (env["SSH_CONNECTION"] || env["SSH_TTY"] || env["SSH_CLIENT"]) return false;
  if (platform !== "linux" && platform !== "freebsd" && platform !== "openbsd") return true;
  return Boolean(env["DISPLAY"] || env["WAYLAND_DISPLAY"]);
}

/** False: nobody was there to do it. Whether a browser has opened is seen by the user alone. */
export function openPage(url: string, outside: string | undefined): boolean {
  const { platform, env } = process;
  const browser = hasScreen(platform, env) ? browserFor(platform, env, outside) : undefined;
  if (!browser) return false;
  try {
    const child = spawn(browser.program, [...browser.args, url], {
      cwd: os.homedir(),
      detached: true,
      stdio: "ignore",
    });
    child.on("error", () => {});
    child.unref();
    return child.pid !== undefined;
  } catch {
    return false;
  }
}
