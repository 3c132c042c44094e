/**
 * A bundle that is not compiled anew at every start: what V8 made of it is kept in the user's cache.
 * V8 itself refuses what another V8 has made, but knows a source by its length only; so the name
 * says of which bytes it is. It is a cache: whatever is wrong with it, the bundle is compiled.
 */
import * as fs from "node:fs";
import * as path from "node:path";

type Wrapper = (...args: readonly unknown[]) => void;

export interface Compiled {
  readonly exports: unknown;
  /** Once it has run: what was compiled on the way is kept too. */
  keep(): void;
}

export function compiled(file: string, require: NodeJS.Require): Compiled {
  const { Script } = process.getBuiltinModule("node:vm");
  const place = placeOf(file);
  const cachedData = place === undefined ? undefined : keptAt(place);
  const head = "(function (exports, require, module, __filename, __dirname) {";
  const script = new Script(`${head}${fs.readFileSync(file, "utf8")}\n})`, {
    filename: file,
    ...(cachedData && { cachedData }),
  });
  const isKnown = cachedData !== undefined && !script.cachedDataRejected;
  const module = { exports: {} };
  const wrapper = script.runInThisContext() as Wrapper;
  wrapper(module.exports, require, module, file, path.dirname(file));
  return {
    exports: module.exports,
    keep() {
      if (place !== undefined && !isKnown) keepAt(place, script.createCachedData());
    },
  };
}

const mostKept = 20;

/** Undefined: there is nowhere that is ours alone. */
function placeOf(file: string): string | undefined {
  const { XDG_CACHE_HOME: given, HOME: home } = process.env;
  const base = given && path.isAbsolute(given) ? given : home && path.join(home, ".cache");
  if (!base || !process.getuid) return undefined;
  const { size, mtimeMs, ino } = fs.statSync(file);
  const name = [path.basename(file, ".cjs"), size, mtimeMs, ino, process.version].join("-");
  return path.join(base, "autodev", "compiled", name);
}

/** Whole, and written by nobody else: it is code. */
function keptAt(place: string): Buffer | undefined {
  try {
    const { uid, mode } = fs.lstatSync(place);
    if (uid !== process.getuid?.() || (mode & fs.constants.S_IFMT) !== fs.constants.S_IFREG)
      return undefined;
    if ((mode & 0o022) !== 0) return undefined;
    const bytes = fs.readFileSync(place);
    const end = Buffer.from(place);
    return bytes.subarray(-end.length).equals(end) ? bytes.subarray(0, -end.length) : undefined;
  } catch {
    return undefined;
  }
}

function keepAt(place: string, bytes: Buffer): void {
  try {
    const folder = path.dirname(place);
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Of installations that are gone, mostly; the others come again.
    const kept = fs.readdirSync(folder);
    for (const name of kept.length < mostKept ? [] : kept)
      fs.rmSync(path.join(folder, name), { force: true });
    const temporary = `${place}.${process.pid}`;
    fs.writeFileSync(temporary, Buffer.concat([bytes, Buffer.from(place)]), {
      mode: 0o600,
      flag: "wx",
    });
    fs.renameSync(temporary, place);
  } catch {
    // Another time.
  }
}
