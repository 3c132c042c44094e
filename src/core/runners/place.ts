/** Where a failure happened, as stack traces and messages of most languages write it. */
import type { FoundFailure } from "./runner.ts";

export interface Place {
  readonly file: string;
  readonly line: number;
}

/** The first `file.ext:12` of a line, unless it is in other people's code. */
export function placeIn(text: string): Place | undefined {
  // Cheaper than the expression, for the many lines without a place.
  if (!text.includes(":")) return undefined;
  const found = colonPlace.exec(text);
  if (!found?.[1] || !found[2]) return undefined;
  const file = plainFile(found[1]);
  return isForeign(file) ? undefined : { file, line: Number(found[2]) };
}

const colonPlace =
  /(?:^|[\s('"[@])((?:file:\/\/|[A-Za-z]:[\\/])?[^\s:()'"[\]<>|]+\.\w{1,6}):(\d{1,7})(?::\d+)?(?![\w.])/u;

export function plainFile(written: string): string {
  let file = written.startsWith("file://") ? written.slice("file://".length) : written;
  while (file.startsWith("./")) file = file.slice(2);
  return file;
}

/** Runtimes, standard libraries and packages: nobody's failure is there. */
export const isForeign = (file: string): boolean =>
  /(?:^|[\\/])(?:node_modules|site-packages|dist-packages|vendor|gems|rustc|\.cargo)[\\/]|^(?:node:|bun:|ext:|internal[\\/])|^\/usr\/(?:lib|share)\/|[\\/]lib[\\/]python\d/u.test(
    file,
  );

/** Takes the failure's place from a stack trace; a failure of a known file only a line of that file. */
export function takePlace(failure: FoundFailure, place: Place): boolean {
  if (failure.file !== undefined && !isSameFile(place.file, failure.file)) return false;
  failure.file ??= place.file;
  failure.line ??= place.line;
  return true;
}

/** One of them may be written from the root, the other from the project's folder. */
const isSameFile = (one: string, other: string): boolean =>
  one === other || one.endsWith(`/${other}`) || other.endsWith(`/${one}`);
