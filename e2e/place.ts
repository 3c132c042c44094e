/** A world of an agent's own: a home, a tree to work in, a folder for what is temporary. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface Place {
  readonly home: string;
  readonly tree: string;
  /** Beside the home and not around it: Codex has no sandbox when its home is in TMPDIR. */
  readonly tmp: string;
  remove(): void;
}

export function makePlace(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "autodev-e2e-")));
  const place = {
    home: join(root, "home"),
    tree: join(root, "tree"),
    tmp: join(root, "tmp"),
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 3 }),
  };
  for (const folder of [place.home, place.tree, place.tmp]) mkdirSync(folder);
  return place;
}

/** Nothing of the environment that we run in but the way to programs. */
export const environmentIn = ({ home, tmp }: Place): Record<string, string> => ({
  PATH: process.env.PATH ?? "/usr/bin:/bin",
  HOME: home,
  TMPDIR: tmp,
  XDG_CONFIG_HOME: join(home, ".config"),
  XDG_DATA_HOME: join(home, ".local/share"),
  XDG_STATE_HOME: join(home, ".local/state"),
  XDG_CACHE_HOME: join(home, ".cache"),
  LANG: "C.UTF-8",
  NO_COLOR: "1",
});

export function putFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}
