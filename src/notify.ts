/**
 * A person is wanted: the bell, the terminal's own notification, and the desktop's. Best effort,
 * never waited for, never a failure; nothing of the text is ever run.
 */
import { shown } from "./safe-text.ts";

export interface Notice {
  readonly title: string;
  readonly text: string;
}

/** `write` reaches a terminal; without one, only the desktop is told. */
export function notify(notice: Notice, write: ((text: string) => void) | undefined): void {
  const title = shown(notice.title);
  const text = shown(notice.text);
  write?.(terminalNotice(title, text, process.env));
  desktopNotice(title, text);
}

/** BEL works everywhere; one further sequence, by the terminal that says it is there. */
export function terminalNotice(title: string, text: string, env: NodeJS.ProcessEnv): string {
  const body = `${title}: ${text}`.replaceAll(";", ",");
  let sequence = "";
  if (env.KITTY_WINDOW_ID) sequence = `\u001b]99;;${body}\u001b\\`;
  else if (/^(iTerm\.app|WezTerm|WarpTerminal)$/.test(env.TERM_PROGRAM ?? "")) {
    sequence = `\u001b]9;${body}\u0007`;
  } else if (/ghostty|foot|rxvt/.test(`${env.TERM_PROGRAM ?? ""} ${env.TERM ?? ""}`)) {
    sequence = `\u001b]777;notify;${title.replaceAll(";", ",")};${text.replaceAll(";", ",")}\u0007`;
  }
  // tmux hands a sequence through only when it is wrapped, its escapes doubled.
  if (sequence && env.TMUX) {
    sequence = `\u001bPtmux;${sequence.replaceAll("\u001b", "\u001b\u001b")}\u001b\\`;
  }
  return `\u0007${sequence}`;
}

function desktopNotice(title: string, text: string): void {
  const call = desktopCall(process.platform, process.env, title, text);
  if (!call) return;
  try {
    const { spawn } = process.getBuiltinModule("node:child_process");
    const child = spawn(call[0] as string, call.slice(1), { stdio: "ignore", detached: true });
    child.on("error", () => {});
    child.unref();
  } catch {
    // No desktop, no notice.
  }
}

export function desktopCall(
  platform: NodeJS.Platform,
  env: NodeJS.ProcessEnv,
  title: string,
  text: string,
): string[] | undefined {
  if (env.AUTODEV_NO_NOTIFY) return undefined;
  if (platform === "linux" && (env.DISPLAY || env.WAYLAND_DISPLAY)) {
    return ["notify-send", "--app-name=autodev", "--", title, text];
  }
  if (platform === "darwin") {
    const script =
      "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run";
    return ["osascript", "-e", script, title, text];
  }
  return undefined;
}
