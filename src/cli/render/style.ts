import picocolors from "picocolors";
import { isTerminal } from "../output.ts";

export type Style = ReturnType<typeof picocolors.createColors>;

/** Flag, NO_COLOR, FORCE_COLOR, a dumb terminal, then whether it is one. CI alone decides nothing. */
export function wantsColour(flag: boolean | undefined, env = process.env): boolean {
  if (flag !== undefined) return flag;
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  if (env.TERM === "dumb") return false;
  return isTerminal(1);
}

export const styleFor = (flag: boolean | undefined): Style =>
  picocolors.createColors(wantsColour(flag));

export const plain: Style = picocolors.createColors(false);
