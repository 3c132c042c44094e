#!/usr/bin/env node
/**
 * The entry: a few lines, so that what is asked most often starts at once. Everything else is a
 * bundle of its own, loaded only when it is called.
 */
import { compiled } from "./compiled.ts";

declare const AUTODEV_VERSION: string;

const lean: Record<string, object> = {
  "": {},
  "--json": { json: true },
  "--no-color": { color: false },
};

function main(argv: readonly string[]): void {
  const [command = "", flag = "", ...more] = argv;
  if (argv.length === 1 && (command === "--version" || command === "-V")) {
    require("node:fs").writeSync(1, `${AUTODEV_VERSION}\n`);
    return;
  }
  const options = lean[flag];
  if (command === "status" && options && more.length === 0) {
    const status = compiled(`${__dirname}/status.cjs`, require);
    const { run } = status.exports as { run(options: object): number | Promise<number> };
    const code = run(options);
    if (typeof code === "number") process.exitCode = code;
    else code.then((later) => (process.exitCode = later), bug);
    status.keep();
    return;
  }
  const program = compiled(`${__dirname}/program.cjs`, require);
  const { runProgram } = program.exports as {
    runProgram(argv: readonly string[]): Promise<void>;
  };
  runProgram(argv).then(program.keep, bug);
}

function bug(error: unknown): void {
  // What the system refuses where nobody expects it is no bug: it has said which file, and why.
  if (error instanceof Error && "syscall" in error && "errno" in error) {
    const hint = "nothing was lost: when that is mended, run the same command again";
    require("node:fs").writeSync(2, `autodev: ${error.message}\n  ${hint}\n`);
    process.exitCode = 1;
    return;
  }
  const what = error instanceof Error ? error.stack : String(error);
  require("node:fs").writeSync(2, `autodev: a bug of ours, nothing was lost\n${what}\n`);
  process.exitCode = 70;
}

try {
  main(process.argv.slice(2));
} catch (error) {
  bug(error);
}
