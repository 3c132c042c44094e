/** Which hosts somebody works with here, and what their files hold. Nothing of the repository is run. */
import * as fs from "node:fs";
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import { type HostName, hostNames, hosts, serverProgram } from "../core/host/hosts.ts";
import { contains } from "../trust.ts";
import { presenceOf } from "./find-agents.ts";
import { whatStands } from "./place-file.ts";
import { firstBadLine, utf8Text } from "./plan-files.ts";

export interface SeenHost {
  readonly name: HostName;
  /** A file of the repository, or a program. */
  readonly by: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

export const seenHosts = (root: string, env: Environment): SeenHost[] =>
  hostNames.flatMap((name) => {
    const { signs, program } = hosts[name];
    const sign = signs.find((file) => whatStands(path.join(root, file)) !== undefined);
    if (sign !== undefined) return [{ name, by: sign }];
    const isThere = presenceOf(program, { env, root }).is === "there";
    return isThere ? [{ name, by: `${program} on PATH` }] : [];
  });

/** Hosts start our server by the program's name. */
export const isStartable = (root: string, env: Environment): boolean =>
  presenceOf(serverProgram, { env, root }).is === "there";

/** A file of the repository, by the way that leads to it. */
export interface SeenFile {
  readonly file: string;
  /** Where it really is, or would be. */
  readonly place: string;
  readonly text: string | undefined;
  /** Folders above it that are not there. */
  readonly missing: number;
}

const largest = 4 * 1024 * 1024;

/** What is refused as `host-file-invalid` is nothing that we could ever have written to. */
export function lookAtFile(root: string, file: string): Result<SeenFile> {
  const full = path.join(root, file);
  const refused = (why: string, hint: string): ReturnType<typeof fail> =>
    fail("host-file-invalid", `${file} ${why}; nothing was written anywhere`, { file, hint });
  try {
    const standing = standingAbove(root, file);
    if (!fs.existsSync(path.join(root, standing))) return refused(leadsNowhere, `rm ${standing}`);
    const folder = fs.realpathSync(path.join(root, standing));
    if (!contains(fs.realpathSync(root), folder)) return refused(leadsOut, `rm ${standing}`);
    if (!fs.statSync(folder).isDirectory()) {
      return refused(`cannot be made: ${standing} is no folder`, `mv ${standing} ${standing}.old`);
    }
    const rest = path.relative(path.join(root, standing), full);
    const missing = rest.split(path.sep).length - 1;
    const stat = missing > 0 ? undefined : whatStands(full);
    if (!stat) return succeed({ file, place: path.join(folder, rest), text: undefined, missing });
    if (stat.isSymbolicLink() && !fs.existsSync(full)) {
      return refused(leadsNowhere, `rm ${file}`);
    }
    const place = fs.realpathSync(full);
    if (!contains(fs.realpathSync(root), place)) return refused(leadsOut, `rm ${file}`);
    const target = fs.statSync(place);
    if (!target.isFile()) return refused("is no file", `mv ${file} ${file}.old`);
    if (target.size > largest) return invalid(file, 1, "it is larger than such a file can be");
    const text = textIn(file, fs.readFileSync(place));
    return text.ok ? succeed({ file, place, text: text.value, missing }) : text;
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : String(error);
    return fail("disk", `${file} cannot be read (${reason}); nothing was written anywhere`, {
      file,
      hint: "mend its permissions, and try again",
    });
  }
}

const leadsNowhere = "is a link, or lies behind one, that leads nowhere";
const leadsOut = "is a link, or lies behind one, that leads out of the repository";

/** The last folder on the way that is there; "." is the repository itself. */
function standingAbove(root: string, file: string): string {
  const parts = path.dirname(file).split("/");
  let standing = ".";
  for (const part of parts) {
    const next = path.posix.join(standing, part);
    if (whatStands(path.join(root, next)) === undefined) break;
    standing = next;
  }
  return standing;
}

function textIn(file: string, bytes: Buffer): Result<string> {
  const text = utf8Text(bytes);
  if (text === undefined) return invalid(file, firstBadLine(bytes), "this is not UTF-8");
  const zero = text.indexOf("\u0000");
  if (zero < 0) return succeed(text);
  const line = text.slice(0, zero).split("\n").length;
  return invalid(file, line, "this is not text (it holds a zero byte)");
}

const invalid = (file: string, line: number, why: string): ReturnType<typeof fail> =>
  fail("host-file-invalid", `${file}:${line}: ${why}; nothing was written anywhere`, {
    file,
    line,
    hint: "save it as UTF-8 text, or move it away; then run the same command again",
  });
