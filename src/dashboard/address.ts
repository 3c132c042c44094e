/**
 * Where the dashboard of this work tree is, and the token for it: kept in the user's own folder, so that
 * a server that was killed comes back at the same address and open pages go on. Whoever can read the file
 * can do what the page can, so it is the user's alone, and sandboxed agents do not see the folder.
 */
import { createHash, createHmac, randomBytes } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { contains, notOurs, type Project, uiFolder } from "../project.ts";

export interface Address {
  readonly token: string;
  /** Where it was last, and in which process. */
  readonly port?: number;
  readonly pid?: number;
  /** Nobody has used it for a day: no page waits for it, and who knows what has kept it. */
  readonly isOld?: true;
}

export interface KeptAddress {
  /** What is kept, or is from now on; on a disk that takes nothing, good until we end. */
  take(): Address;
  /** In its place; false: it could not be kept. */
  put(address: Address): boolean;
  /** It is in use. */
  touch(): void;
}

const oldMs = 24 * 60 * 60_000;

export const newToken = (): string => randomBytes(32).toString("base64url");

/** The same work tree, the same port, as long as nobody else has it. */
export const usualPort = (project: Project): number =>
  4700 + (Number.parseInt(nameOf(project).slice(0, 8), 16) % 1000);

/** What browsers refuse to open (the Fetch standard's list, above 1023): other protocols live there. */
const notForBrowsers = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669,
  6679, 6697, 10_080,
]);

export const isForBrowsers = (port: number): boolean => !notForBrowsers.has(port);

export function keptAddress(project: Project, folder: string = uiFolder()): KeptAddress {
  const file = path.join(folder, `${nameOf(project)}.json`);
  const put = ({ token, port, pid }: Address, { first = false } = {}): boolean => {
    const temporary = `${file}.${process.pid}-${randomBytes(4).toString("hex")}`;
    try {
      if (!isSafe(project, folder)) return false;
      fs.writeFileSync(temporary, `${JSON.stringify({ version: 1, token, port, pid })}\n`, {
        mode: 0o600,
        flag: "wx",
      });
      try {
        // Of two who begin at once, one is first, and both have the same token.
        if (first) fs.linkSync(temporary, file);
        else fs.renameSync(temporary, file);
      } finally {
        fs.rmSync(temporary, { force: true });
      }
      return true;
    } catch {
      return false;
    }
  };
  return {
    take() {
      const known = readAddress(file);
      if (known) return known;
      const made = { token: newToken() };
      if (put(made, { first: true })) return made;
      const others = readAddress(file);
      if (others) return others;
      put(made);
      return made;
    },
    put,
    touch() {
      const now = new Date();
      try {
        fs.lutimesSync(file, now, now);
      } catch {
        // It is not kept, and new each time.
      }
    },
  };
}

/** Not by the repository: its work trees come and go, and each has documents of its own. */
const nameOf = ({ root }: Project): string =>
  createHash("sha256").update(realPath(root)).digest("hex");

function realPath(place: string): string {
  try {
    return fs.realpathSync(place);
  } catch {
    return place;
  }
}

/** Ours alone, and nowhere that a repository could reach. */
function isSafe({ root }: Project, folder: string): boolean {
  const top = fs.realpathSync(root);
  if (contains(top, path.resolve(folder))) return false;
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stat = fs.lstatSync(folder);
  if (!stat.isDirectory() || notOurs(stat) !== undefined) return false;
  if (contains(top, fs.realpathSync(folder))) return false;
  if ((stat.mode & 0o077) !== 0) fs.chmodSync(folder, 0o700);
  return true;
}

/** Undefined: there is none that could be relied on. */
function readAddress(file: string): Address | undefined {
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
    const descriptor = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stat = fs.fstatSync(descriptor);
      const isOwn = stat.isFile() && notOurs(stat) === undefined && (stat.mode & 0o077) === 0;
      if (!isOwn || stat.size > 4096) return undefined;
      const known = addressIn(JSON.parse(fs.readFileSync(descriptor, "utf8")));
      const isOld = Date.now() - stat.mtimeMs > oldMs;
      return known && { ...known, ...(isOld && { isOld }) };
    } finally {
      fs.closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}

function addressIn(value: unknown): Address | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { version, token, port, pid } = value as Record<string, unknown>;
  if (version !== 1 || typeof token !== "string" || !/^[\w-]{43}$/.test(token)) return undefined;
  const isPort = typeof port === "number" && Number.isInteger(port) && port > 0 && port < 65_536;
  return { token, ...(isPort && { port }), ...(typeof pid === "number" && { pid }) };
}

/** By which a server shows that it has the token, and does not tell it. */
export const proofOf = (token: string, nonce: string): string =>
  createHmac("sha256", token).update(`autodev ui ${nonce}`).digest("base64url");
