/**
 * A person is wanted: the bell, the terminal's own notification, the desktop's, and a command of
 * people's. What goes where is decided in core/notice.ts.
 *
 * 1. Best effort: nothing here fails, and nothing that a run does waits for it.
 * 2. A notice is data. No text of it is ever run, obeyed by a terminal, or read as markup.
 * 3. A command has ten seconds; it and all that it started end with them.
 */
import * as os from "node:os";
import {
  type Notice,
  type NotifySettings,
  noticeVariables,
  type Route,
  routeOf,
} from "./core/notice.ts";
import { exec as execute, type OwnProgram, type Trusted } from "./exec.ts";
import { shown } from "./safe-text.ts";

export interface Notifier {
  /** Held back while it is quiet, and then told only if somebody is still waited for. */
  tell(notice: Notice, waiting?: () => boolean): void;
  /** The repository's own command may be run, unless `refused` says why not. */
  approve(command: Trusted, refused: () => string | undefined): void;
}

export interface NotifierOptions {
  readonly settings: NotifySettings;
  readonly root: string;
  /** The user's own command: it goes before the repository's. */
  readonly command?: OwnProgram;
  /** Reaches a terminal; without one, only desktop and command are told. */
  readonly terminal: ((text: string) => void) | undefined;
  /** For people, at most once: a command that does not work. */
  say(line: string): void;
  /** Ends a command at once. */
  readonly killNow?: AbortSignal;
  /** A test's own machine. */
  readonly machine?: Partial<Machine>;
}

interface Machine {
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly exec: typeof execute;
  now(): Date;
  /** Never keeps the process alive. */
  every(milliseconds: number, act: () => void): () => void;
}

const realMachine: Machine = {
  env: process.env,
  platform: process.platform,
  exec: execute,
  now: () => new Date(),
  every(milliseconds, act) {
    const timer = setInterval(act, milliseconds).unref();
    return () => clearInterval(timer);
  },
};

const commandMs = 10_000;
const desktopMs = 3000;
/** A clock that is set, or a machine that sleeps, is noticed within a minute. */
const lookEveryMs = 20_000;

export function createNotifier(options: NotifierOptions): Notifier {
  const { settings, root, terminal } = options;
  const machine = { ...realMachine, ...options.machine };
  const { env, platform } = machine;
  let repositorys: { command: Trusted; refused(): string | undefined } | undefined;
  let complained = false;

  const complain = (why: string): void => {
    if (complained) return;
    complained = true;
    options.say(`notify.command ${why}`);
  };
  const routeNow = ({ kind }: Notice): Route => {
    const now = machine.now();
    return routeOf(kind, settings, now.getHours() * 60 + now.getMinutes());
  };
  const send = (notice: Notice, route: Extract<Route, { is: "now" }>): void => {
    const [title, text] = [shown(notice.title), shown(notice.text)];
    const known = terminal && route.popup ? terminalFor(env) : undefined;
    const sequence = known ? popupSequence(known, title, text, env) : "";
    const said = `${route.bell ? "\u0007" : ""}${sequence}`;
    if (said !== "") terminal?.(said);
    // Where the terminal is known to show it, a second one would only be in the way.
    const call = route.popup && !known?.sure ? desktopCall(platform, env, title, text) : undefined;
    if (call) void machine.exec(call, { cwd: "/", timeoutMs: desktopMs, marker: "notice" });
    if (route.command) void runCommand(notice);
  };
  const runCommand = async (notice: Notice): Promise<void> => {
    const own = options.command;
    const refused = own ? undefined : repositorys?.refused();
    if (refused !== undefined) return complain(`was not run: ${refused}`);
    const command = own ?? repositorys?.command;
    if (!command) return;
    const ended = await machine.exec(command, {
      // A user's command has no business in a folder whose git settings it might obey.
      cwd: own ? os.homedir() : root,
      env: noticeVariables(notice),
      input: `${JSON.stringify(notice)}\n`,
      timeoutMs: commandMs,
      // Not the run's own: a session that sweeps up after it would end this too.
      marker: `notice-${notice.run ?? "none"}`,
      tailLines: 1,
      ...(options.killNow && { killNow: options.killNow }),
    });
    if (ended.aborted || ended.code === 0) return;
    const last = ended.tail.at(-1)?.trim().slice(0, 200);
    complain(
      ended.timedOut
        ? `took longer than ${commandMs / 1000} s and was ended`
        : ended.notStarted !== undefined
          ? `could not be started: ${ended.notStarted}`
          : `ended with ${ended.signal ?? `exit code ${ended.code}`}${last ? `: ${last}` : ""}`,
    );
  };

  return {
    tell(notice, waiting = () => true) {
      if (env.AUTODEV_NO_NOTIFY) return;
      const route = routeNow(notice);
      if (route.is === "now") return send(notice, route);
      if (route.is === "nowhere") return;
      const stop = machine.every(lookEveryMs, () => {
        const later = routeNow(notice);
        if (waiting() && later.is === "later") return;
        stop();
        if (waiting() && later.is === "now") send(notice, later);
      });
    },
    approve(command, refused) {
      repositorys = { command, refused };
    },
  };
}

// ── terminals ──────────────────────────────────────────────────────────────────────────────────

type Protocol = "osc 9" | "osc 99" | "osc 777";

interface TerminalRow {
  readonly speaks: Protocol;
  /** What `TERM_PROGRAM TERM` looks like in it. */
  readonly named?: RegExp;
  /** It leaves this behind for whatever is started in it: a multiplexer, but also another terminal. */
  readonly left?: (env: NodeJS.ProcessEnv) => string | boolean | undefined;
}

/**
 * All others get the bell alone. Among them on purpose: VTE (GNOME Terminal and its kin drop OSC 777
 * unless a distribution patched them), ConEmu (its OSC 9 is progress bars and message boxes that
 * wait for a click), VS Code, Terminal.app, Alacritty, xterm.
 */
const terminals: readonly TerminalRow[] = [
  { speaks: "osc 99", named: /^kitty | xterm-kitty$/, left: (env) => env["KITTY_WINDOW_ID"] },
  {
    speaks: "osc 9",
    named: /^iTerm\.app /,
    left: (env) => env["LC_TERMINAL"] === "iTerm2" || env["ITERM_SESSION_ID"],
  },
  { speaks: "osc 9", named: /^WezTerm /, left: (env) => env["WEZTERM_PANE"] },
  { speaks: "osc 9", named: /^WarpTerminal / },
  {
    speaks: "osc 777",
    named: /^ghostty | xterm-ghostty$/i,
    left: (env) => env["GHOSTTY_RESOURCES_DIR"],
  },
  { speaks: "osc 777", named: / foot(?:-|$)/ },
  // Not for sure: urxvt needs its notify extension, Konsole and Windows Terminal a recent version.
  // Each drops what it does not know.
  { speaks: "osc 777", left: (env) => env["TERM"]?.startsWith("rxvt-unicode") },
  { speaks: "osc 777", left: (env) => env["KONSOLE_VERSION"] },
  { speaks: "osc 777", left: (env) => env["WT_SESSION"] },
];

interface KnownTerminal {
  readonly speaks: Protocol;
  /** It says itself that it is there, and nothing stands between it and us. */
  readonly sure: boolean;
}

/** Undefined: only the bell. */
export function terminalFor(env: NodeJS.ProcessEnv): KnownTerminal | undefined {
  const { TERM_PROGRAM: program = "", TERM: term = "" } = env;
  // What is inside tmux or screen sees their names; what they pass on may go nowhere.
  const between = Boolean(env["TMUX"] || env["STY"]);
  const named = terminals.find((row) => row.named?.test(`${program} ${term}`));
  if (named) return { speaks: named.speaks, sure: !between };
  // Some other terminal says that it is there: what is left comes from whoever started that.
  if (!between && program !== "") return undefined;
  const left = terminals.find((row) => row.left?.(env));
  return left && { speaks: left.speaks, sure: false };
}

const mostShown = 200;

/** Title and text are cleaned already. */
export function popupSequence(
  { speaks }: Pick<KnownTerminal, "speaks">,
  title: string,
  text: string,
  env: NodeJS.ProcessEnv,
): string {
  const body = text.length > mostShown ? `${text.slice(0, mostShown - 1)}…` : text;
  // A field ends at a semicolon, and "9;4;…" would be a progress bar.
  const field = (value: string): string => value.replaceAll(";", ",");
  // screen takes the usual end of a sequence for the end of its own.
  const end = speaks === "osc 99" && !env["STY"] ? "\u001b\\" : "\u0007";
  const sequence = {
    "osc 9": `\u001b]9;${field(title)}: ${field(body)}${end}`,
    "osc 99": `\u001b]99;i=autodev:d=0;${title}${end}\u001b]99;i=autodev:p=body;${body}${end}`,
    "osc 777": `\u001b]777;notify;${field(title)};${field(body)}${end}`,
  }[speaks];
  return passedThrough(sequence, env);
}

/** A multiplexer hands on what is wrapped: tmux if it is allowed to, with escapes doubled. */
function passedThrough(sequence: string, env: NodeJS.ProcessEnv): string {
  if (env["TMUX"]) return `\u001bPtmux;${sequence.replaceAll("\u001b", "\u001b\u001b")}\u001b\\`;
  if (!env["STY"]) return sequence;
  // In pieces: screen drops a string of more than 768 bytes.
  return (sequence.match(/[\s\S]{1,100}/gu) ?? []).map((part) => `\u001bP${part}\u001b\\`).join("");
}

// ── desktops ───────────────────────────────────────────────────────────────────────────────────

/** Undefined: there is no desktop, or none that we could reach. */
export function desktopCall(
  platform: NodeJS.Platform,
  env: NodeJS.ProcessEnv,
  title: string,
  text: string,
): OwnProgram | undefined {
  if (platform === "linux" && (env["DISPLAY"] || env["WAYLAND_DISPLAY"])) {
    // It has a display, but nobody there who would show a notice.
    if (env["WSL_DISTRO_NAME"] || env["WSL_INTEROP"]) return undefined;
    // notify-send takes the text for markup, and resolves backslashes in it.
    const body = text
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll("\\", "\\\\");
    return { program: "notify-send", args: ["--app-name=autodev", "--", title, body] };
  }
  if (platform === "darwin") {
    const script =
      "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run";
    return { program: "osascript", args: ["-e", script, title, text] };
  }
  return undefined;
}
