import * as fs from "node:fs";
import * as path from "node:path";

/** Relative folders of PATH are passed over: they would be the repository's. */
export function found(program: string, searchPath: string): string | undefined {
  if (program === "" || program.includes("/")) return undefined;
  return searchPath
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder))
    .map((folder) => path.join(folder, program))
    .find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}
