/**
 * A program of the user's own choice, at his own terminal: his shell, or what he has typed. Nothing
 * of it is read, masked or confined, and it may outlive us; nothing of a repository's is ever
 * started this way.
 */
import { spawn } from "node:child_process";
import * as os from "node:os";

/** Resolves with its exit code, as a shell would tell it; undefined: it could not be started. */
export function attached(
  command: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<{ readonly code: number } | { readonly notStarted: string }> {
  const [program = "", ...args] = command;
  const { cwd, env } = options;
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...ownEnvironment(), ...env, PWD: cwd },
      stdio: "inherit",
    });
    // What is typed goes to it as well as to us, and is meant for it.
    const ignore = (): void => {};
    const passOn = (signal: NodeJS.Signals): void => void child.kill(signal);
    for (const signal of typed) process.on(signal, ignore);
    for (const signal of passed) process.on(signal, passOn);
    const end = (how: { readonly code: number } | { readonly notStarted: string }): void => {
      for (const signal of typed) process.off(signal, ignore);
      for (const signal of passed) process.off(signal, passOn);
      resolve(how);
    };
    child.once("error", (error) => end({ notStarted: error.message }));
    child.once("exit", (code, signal) =>
      end({ code: code ?? 128 + (signal ? os.constants.signals[signal] : 0) }),
    );
  });
}

const typed = ["SIGINT", "SIGQUIT"] as const;
const passed = ["SIGTERM", "SIGHUP"] as const;

/** A hook's variables would send git to another repository. */
function ownEnvironment(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !leadsElsewhere.test(name)) env[name] = value;
  }
  return env;
}

const leadsElsewhere =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|PREFIX|NAMESPACE|(?:ALTERNATE_)?OBJECT_DIRECTOR(?:Y|IES))$/;
