import { describe, expect, it } from "vitest";
import { decisionNotice, type NotifySettings } from "./core/notice.ts";
import type { Ended, ExecOptions, OwnProgram, Trusted } from "./exec.ts";
import {
  createNotifier,
  desktopCall,
  type Notifier,
  type NotifierOptions,
  popupSequence,
  terminalFor,
} from "./notify.ts";

const esc = "\u001b";
const bel = "\u0007";
const st = `${esc}\\`;

describe("each terminal gets what it understands", () => {
  it.each([
    ["kitty", { TERM: "xterm-kitty", KITTY_WINDOW_ID: "1" }, "osc 99", true],
    ["iTerm2", { TERM_PROGRAM: "iTerm.app", TERM: "xterm-256color" }, "osc 9", true],
    ["WezTerm", { TERM_PROGRAM: "WezTerm", TERM: "xterm-256color" }, "osc 9", true],
    ["Warp", { TERM_PROGRAM: "WarpTerminal", TERM: "xterm-256color" }, "osc 9", true],
    ["ghostty", { TERM_PROGRAM: "ghostty", TERM: "xterm-ghostty" }, "osc 777", true],
    ["ghostty over ssh", { TERM: "xterm-ghostty" }, "osc 777", true],
    ["foot", { TERM: "foot" }, "osc 777", true],
    ["foot-extra", { TERM: "foot-extra" }, "osc 777", true],
    ["urxvt", { TERM: "rxvt-unicode-256color" }, "osc 777", false],
    ["Konsole", { TERM: "xterm-256color", KONSOLE_VERSION: "230804" }, "osc 777", false],
    ["Windows Terminal", { TERM: "xterm-256color", WT_SESSION: "guid" }, "osc 777", false],
    ["iTerm2 over ssh", { TERM: "xterm-256color", LC_TERMINAL: "iTerm2" }, "osc 9", false],
    [
      "kitty behind tmux",
      { TERM: "tmux-256color", TERM_PROGRAM: "tmux", TMUX: "x", KITTY_WINDOW_ID: "1" },
      "osc 99",
      false,
    ],
    ["iTerm2 behind screen", { TERM: "screen", STY: "1", LC_TERMINAL: "iTerm2" }, "osc 9", false],
  ] as const)("%s", (_, env, speaks, sure) => {
    expect(terminalFor(env as NodeJS.ProcessEnv)).toEqual({ speaks, sure });
  });

  it.each([
    ["GNOME Terminal", { TERM: "xterm-256color", VTE_VERSION: "7600" }],
    ["ConEmu", { TERM: "cygwin", ConEmuANSI: "ON", ConEmuPID: "1" }],
    ["Terminal.app", { TERM_PROGRAM: "Apple_Terminal", TERM: "xterm-256color" }],
    ["VS Code", { TERM_PROGRAM: "vscode", TERM: "xterm-256color" }],
    ["VS Code that was started in kitty", { TERM_PROGRAM: "vscode", KITTY_WINDOW_ID: "1" }],
    ["Alacritty", { TERM: "alacritty" }],
    ["xterm", { TERM: "xterm" }],
    ["rxvt of old", { TERM: "rxvt" }],
    ["tmux in a terminal nobody knows", { TERM_PROGRAM: "tmux", TMUX: "x", TERM: "tmux" }],
    ["nothing at all", {}],
  ])("%s gets the bell alone", (_, env) => {
    expect(terminalFor(env as NodeJS.ProcessEnv)).toBeUndefined();
  });

  it("in its own form", () => {
    expect(popupSequence({ speaks: "osc 9" }, "t", "a;b", {})).toBe(`${esc}]9;t: a,b${bel}`);
    expect(popupSequence({ speaks: "osc 777" }, "t;u", "a;b", {})).toBe(
      `${esc}]777;notify;t,u;a,b${bel}`,
    );
    expect(popupSequence({ speaks: "osc 99" }, "t", "a;b", {})).toBe(
      `${esc}]99;i=autodev:d=0;t${st}${esc}]99;i=autodev:p=body;a;b${st}`,
    );
  });

  it("wrapped, through tmux and screen", () => {
    expect(popupSequence({ speaks: "osc 9" }, "t", "x", { TMUX: "1" })).toBe(
      `${esc}Ptmux;${esc}${esc}]9;t: x${bel}${st}`,
    );
    expect(popupSequence({ speaks: "osc 9" }, "t", "x", { STY: "1" })).toBe(
      `${esc}P${esc}]9;t: x${bel}${st}`,
    );
    const long = popupSequence({ speaks: "osc 99" }, "t", "x".repeat(5000), { STY: "1" });
    const parts = long.split(st).filter((part) => part !== "");
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) expect(part.length).toBeLessThan(110);
    expect(parts.map((part) => part.slice(2)).join("")).toContain("x".repeat(199));
  });
});

describe("the desktop", () => {
  it("gets the text as data: no option, no markup, no escape", () => {
    const call = desktopCall("linux", { DISPLAY: ":0" }, "-x", "$(rm) <b>&\\n");
    expect(call).toEqual({
      program: "notify-send",
      args: ["--app-name=autodev", "--", "-x", "$(rm) &lt;b&gt;&amp;\\\\n"],
    });
    const mac = desktopCall("darwin", {}, "t", '" & quit');
    expect(mac?.args.slice(-2)).toEqual(["t", '" & quit']);
    expect(mac?.args[1]).not.toContain("quit");
  });

  it.each([
    ["without a display", "linux", {}],
    ["under WSL", "linux", { DISPLAY: ":0", WAYLAND_DISPLAY: "w", WSL_DISTRO_NAME: "Debian" }],
    ["on Windows", "win32", { DISPLAY: ":0" }],
  ] as const)("is not there %s", (_, platform, env) => {
    expect(desktopCall(platform, env as NodeJS.ProcessEnv, "t", "x")).toBeUndefined();
  });
});

// ── a machine of our own ───────────────────────────────────────────────────────────────────────

const fine: Ended = {
  code: 0,
  signal: null,
  timedOut: false,
  aborted: false,
  tail: [],
  lines: 0,
  bytes: 0,
};

interface Bench {
  readonly notifier: Notifier;
  readonly ran: { what: Trusted | OwnProgram; options: ExecOptions }[];
  readonly written: string[];
  readonly said: string[];
  /** Lets time pass: to this time of the day, and everybody looks at the clock. */
  clock(time: string): void;
  readonly watching: () => number;
}

interface Surroundings {
  readonly env?: NodeJS.ProcessEnv;
  readonly ended?: Partial<Ended>;
  /** The user has a command. */
  readonly own?: boolean;
}

function benchOf(
  settings: NotifySettings,
  given: Partial<NotifierOptions> & Surroundings = {},
): Bench {
  const ran: Bench["ran"] = [];
  const written: string[] = [];
  const said: string[] = [];
  const watchers = new Set<() => void>();
  let time = "12:00";
  const { env = {}, ended = {}, own = true, ...rest } = given;
  const notifier = createNotifier({
    settings,
    root: "/project",
    ...(own && { command: { program: "sh", args: ["-c", "mine"] } }),
    terminal: (text) => written.push(text),
    say: (line) => said.push(line),
    machine: {
      env,
      platform: "linux",
      exec: (what, options) => {
        ran.push({ what, options });
        return Promise.resolve({ ...fine, ...ended });
      },
      now: () => new Date(2026, 0, 2, Number(time.slice(0, 2)), Number(time.slice(3))),
      every(_, act) {
        watchers.add(act);
        return () => watchers.delete(act);
      },
    },
    ...rest,
  });
  return {
    notifier,
    ran,
    written,
    said,
    clock(now) {
      time = now;
      for (const act of watchers) act();
    },
    watching: () => watchers.size,
  };
}

const question = (text: string) =>
  decisionNotice({ id: "d-1", question: text, recommendation: "A" } as never, { root: "/project" });
const ended = { ...question("over"), kind: "end" as const };

describe("a notifier", () => {
  it("rings, shows, and runs the user's command with the notice as data", () => {
    const bench = benchOf({}, { env: { DISPLAY: ":0", TERM: "xterm" } });
    bench.notifier.tell(question("a\u001b[31m\n`b`"));
    expect(bench.written).toEqual([bel]);
    const [desktop, own] = bench.ran;
    expect(desktop?.what).toMatchObject({ program: "notify-send" });
    expect(desktop?.what).toMatchObject({ args: expect.arrayContaining(["a `b`"]) });
    expect(own?.what).toEqual({ program: "sh", args: ["-c", "mine"] });
    expect(JSON.parse(own?.options.input ?? "")).toEqual(question("a\u001b[31m\n`b`"));
    expect(own?.options).toMatchObject({
      timeoutMs: 10_000,
      env: { AUTODEV_NOTICE_TEXT: "a\u001b[31m\n`b`" },
    });
  });

  it("leaves the desktop alone where the terminal shows it", () => {
    const bench = benchOf({}, { env: { DISPLAY: ":0", TERM_PROGRAM: "ghostty" } });
    bench.notifier.tell(question("x"));
    expect(bench.written[0]).toContain("]777;notify;");
    expect(bench.ran).toHaveLength(1);
  });

  it("reaches desktop and command without a terminal", () => {
    const env = { DISPLAY: ":0", TERM_PROGRAM: "ghostty" };
    const bench = benchOf({}, { env, terminal: undefined });
    bench.notifier.tell(question("x"));
    expect(bench.ran).toHaveLength(2);
  });

  it("is silent where people say so", () => {
    const silent = benchOf({ bell: false, desktop: false }, { env: { TERM_PROGRAM: "WezTerm" } });
    silent.notifier.tell(question("x"));
    expect(silent.written).toEqual([]);
    expect(silent.ran).toHaveLength(1);
    const all = benchOf({}, { env: { AUTODEV_NO_NOTIFY: "1", DISPLAY: ":0" } });
    all.notifier.tell(question("x"));
    expect([all.written, all.ran]).toEqual([[], []]);
  });

  it("says once that a command does not work", async () => {
    const bench = benchOf({}, { ended: { code: 3, tail: ["no such webhook"] } });
    bench.notifier.tell(question("x"));
    bench.notifier.tell(question("y"));
    await Promise.resolve();
    expect(bench.said).toEqual(["notify.command ended with exit code 3: no such webhook"]);
    const late = benchOf({}, { ended: { code: null, timedOut: true } });
    late.notifier.tell(question("x"));
    await Promise.resolve();
    expect(late.said).toEqual(["notify.command took longer than 10 s and was ended"]);
  });

  it("runs the repository's command once it is approved, as long as that is what it was", () => {
    const trusted = { shell: "theirs" } as unknown as Trusted;
    const bench = benchOf({}, { own: false });
    bench.notifier.tell(question("x"));
    expect(bench.ran).toEqual([]);
    let why: string | undefined;
    bench.notifier.approve(trusted, () => why);
    bench.notifier.tell(question("y"));
    expect(bench.ran).toMatchObject([{ what: trusted, options: { cwd: "/project" } }]);
    why = "tell.sh is not what was approved";
    bench.notifier.tell(question("z"));
    expect(bench.ran).toHaveLength(1);
    expect(bench.said).toEqual(["notify.command was not run: tell.sh is not what was approved"]);
  });

  it("prefers the user's own to the repository's", () => {
    const bench = benchOf({});
    bench.notifier.approve({ shell: "theirs" } as unknown as Trusted, () => undefined);
    bench.notifier.tell(question("x"));
    expect(bench.ran.map(({ what }) => what)).toEqual([{ program: "sh", args: ["-c", "mine"] }]);
  });
});

describe("while it is quiet", () => {
  const quiet = { from: "22:00", to: "07:00" };

  it("a decision is told once, when it is over", () => {
    const bench = benchOf({ quiet });
    bench.clock("23:00");
    bench.notifier.tell(question("x"), () => true);
    bench.clock("06:59");
    expect([bench.written, bench.ran]).toEqual([[], []]);
    bench.clock("07:00");
    bench.clock("07:01");
    bench.clock("23:30");
    expect(bench.written).toEqual([bel]);
    expect(bench.ran).toHaveLength(1);
    expect(bench.watching()).toBe(0);
  });

  it("nothing is told of what was answered meanwhile", () => {
    const bench = benchOf({ quiet });
    let waiting = true;
    bench.clock("23:00");
    bench.notifier.tell(question("x"), () => waiting);
    waiting = false;
    bench.clock("23:10");
    bench.clock("08:00");
    expect([bench.written, bench.ran, bench.watching()]).toEqual([[], [], 0]);
  });

  it("an end is never told", () => {
    const bench = benchOf({ quiet });
    bench.clock("23:00");
    bench.notifier.tell(ended);
    bench.clock("08:00");
    expect([bench.written, bench.ran, bench.watching()]).toEqual([[], [], 0]);
  });
});
