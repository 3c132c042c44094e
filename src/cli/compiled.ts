/**
 * A bundle that is not compiled anew at every start: what V8 made of it is kept in the user's cache.
 * V8 itself refuses what another V8 has made, but knows a source by its length only, so the name
 * says of which bytes it is; and it dies of a byte that is wrong, so a sum stands behind them. It is
 * a cache: whatever is wrong with it, the bundle is compiled.
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

/** Every command of one installation, and of another. */
const mostKept = 100;

/** Undefined: there is nowhere that is ours alone. */
function placeOf(file: string): string | undefined {
  const { XDG_CACHE_HOME: given, HOME: home } = process.env;
  const base = given && path.isAbsolute(given) ? given : home && path.join(home, ".cache");
  if (!base || !process.getuid) return undefined;
  const { size, mtimeMs, ino } = fs.statSync(file);
  const { arch, version } = process;
  const name = [path.basename(file, ".cjs"), size, mtimeMs, ino, version, arch].join("-");
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
    const kept = bytes.subarray(0, -sumLength);
    return bytes.readInt32LE(kept.length) === sumOf(kept) ? kept : undefined;
  } catch {
    return undefined;
  }
}

const sumLength = 4;

/** Each step can be undone: no word can change without the sum, and zeros are not nothing. */
function sumOf(bytes: Buffer): number {
  let sum = bytes.length;
  const whole = bytes.length - (bytes.length % 4);
  const words = new Int32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + whole));
  for (let at = 0; at < words.length; at++)
    sum = Math.imul(sum ^ (words[at] as number), 0x5bd1e995);
  for (let at = whole; at < bytes.length; at++)
    sum = Math.imul(sum ^ (bytes[at] as number), 0x5bd1e995);
  return sum;
}

function summed(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(sumLength);
  sum.writeInt32LE(sumOf(bytes));
  return Buffer.concat([bytes, sum]);
}

function keepAt(place: string, bytes: Buffer): void {
  const temporary = `${place}.${process.pid}`;
  try {
    const folder = path.dirname(place);
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Of installations that are gone, mostly; the others come again.
    const kept = fs.readdirSync(folder);
    for (const name of kept.length < mostKept ? [] : kept)
      fs.rmSync(path.join(folder, name), { force: true });
    try {
      fs.writeFileSync(temporary, summed(bytes), { mode: 0o600, flag: "wx" });
      fs.renameSync(temporary, place);
    } finally {
      fs.rmSync(temporary, { force: true });
    }
  } catch {
    // A full disk, say: another time.
  }
}
