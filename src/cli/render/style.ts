/**
 * Five colours and a decision when to use them. No library: the usual ones look at
 * `process.stdout` as they load, which costs `status` more than all its own work.
 */
import { isTerminal } from "../output.ts";

type Paint = (text: string) => string;
export type Style = Readonly<Record<"bold" | "dim" | "red" | "green" | "yellow", Paint>>;

/** Flag, NO_COLOR, FORCE_COLOR, a dumb terminal, then whether it is one. CI alone decides nothing. */
export function wantsColour(flag: boolean | undefined, env = process.env, fd: 1 | 2 = 1): boolean {
  if (flag !== undefined) return flag;
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  if (env.TERM === "dumb") return false;
  return isTerminal(fd);
}

/** For what is written to `fd`. */
export function styleFor(flag: boolean | undefined, fd: 1 | 2 = 1): Style {
  const on = wantsColour(flag, process.env, fd);
  const paint =
    (open: number, close: number): Paint =>
    (text) =>
      on ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
  };
}
