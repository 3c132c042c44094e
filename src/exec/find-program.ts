import * as fs from "node:fs";
import * as path from "node:path";

/** Relative folders of PATH are passed over: they would be the repository's. */
export const found = (program: string, searchPath: string): string | undefined =>
  placesOf(program, searchPath).find(isProgram);

function placesOf(program: string, searchPath: string): string[] {
  if (program === "" || program.includes("/")) return [];
  return searchPath
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder))
    .map((folder) => path.join(folder, program));
}

/** Not in that folder, nor by a link that leads there: nothing of a repository runs untrusted. */
export const foundOutside = (
  program: string,
  searchPath: string,
  folder: string | undefined,
): string | undefined =>
  placesOf(program, searchPath).find((file) => isProgram(file) && !isInside(file, folder));

/** PATH without what is in that folder: `npx` and others put a repository's there. */
export const pathOutside = (searchPath: string, folder: string | undefined): string =>
  folder === undefined
    ? searchPath
    : searchPath
        .split(path.delimiter)
        .filter((each) => path.isAbsolute(each) && !isInside(each, folder))
        .join(path.delimiter);

/** Where it really is. */
export function isInside(place: string, folder: string | undefined): boolean {
  if (folder === undefined) return false;
  try {
    const [inner, outer] = [fs.realpathSync(place), fs.realpathSync(folder)];
    return inner === outer || inner.startsWith(outer.endsWith("/") ? outer : `${outer}${path.sep}`);
  } catch {
    // What cannot be found is not run either.
    return false;
  }
}

function isProgram(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}
