/**
 * Bubblewrap, where we may not have namespaces of our own: it may be let do what we are not (it is
 * setuid, or a profile names it). The same first process runs in it, and the same places are closed.
 */
import * as fs from "node:fs";
import { found } from "./find-program.ts";
import type { Sight } from "./sight.ts";

/** Undefined: it is not on this machine; whether it works is for whoever asks to try. */
export const bubblewrap = (): string | undefined => found("bwrap", process.env.PATH ?? "");

/** Everything is there as it is, but for processes. The command that follows is the first of them. */
export const wrapped = (bwrap: string, sight?: Sight, cwd?: string): string[] => [
  bwrap,
  "--dev-bind",
  "/",
  "/",
  "--proc",
  "/proc",
  "--unshare-pid",
  "--as-pid-1",
  "--die-with-parent",
  ...(sight ? ordersFor(sight) : []),
  ...(cwd === undefined ? [] : ["--chdir", cwd]),
  "--",
];

/** One after the other; what is bound is always taken from the machine as we see it. */
const ordersFor = ({ hide, keep, access = [], network }: Sight): string[] => [
  // It brings the loopback up.
  ...(network === "off" ? ["--unshare-net"] : []),
  ...hide.flatMap((place) =>
    hiding(
      place,
      keep.filter((each) => each.startsWith(`${place}/`)),
    ),
  ),
  ...access.flatMap(({ path, writable, hidden }) =>
    hidden ? hiding(path, []) : [writable ? "--bind" : "--ro-bind", real(path), real(path)],
  ),
  // As root it would keep the right to mount; anybody else has none left anyway.
  ...(access.length > 0 || network === "off" ? ["--cap-drop", "CAP_SYS_ADMIN"] : []),
];

function hiding(place: string, kept: readonly string[]): string[] {
  const at = real(place);
  if (!fs.statSync(at).isDirectory()) return ["--dev-bind", "/dev/null", at];
  return [
    "--tmpfs",
    at,
    ...kept.flatMap((each) => ["--ro-bind", real(each), real(each)]),
    "--remount-ro",
    at,
  ];
}

/** It finds no way through a link that leads to the top: for it the top is elsewhere. */
function real(place: string): string {
  try {
    return fs.realpathSync(place);
  } catch {
    return place;
  }
}
