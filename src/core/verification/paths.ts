/** Paths as people and agents write them. */

/** From the tree's top: without `./`, an attempt's own folder in front, or another system's slashes. */
export const plainPath = (written: string): string =>
  written
    .trim()
    .replaceAll("\\", "/")
    .replace(/^.*\/\.autodev\/var\/[^/]+\//, "")
    .replace(/^(?:\.\/)+/, "")
    .replace(/\/+$/, "");

/** A declared path may be a folder or a pattern: `src/api/`, `tests/**\/*.test.ts`. */
export function covers(declared: string, path: string): boolean {
  const plain = plainPath(declared);
  if (plain === path) return true;
  if (/[*?]/.test(plain)) return patternOf(plain).test(path);
  return /\/\s*$/.test(declared) && path.startsWith(`${plain}/`);
}

function patternOf(pattern: string): RegExp {
  const source = pattern
    .split(/(\*\*\/?|\*|\?)/)
    .map((part) => {
      if (part === "**/") return "(?:.*/)?";
      if (part === "**") return ".*";
      if (part === "*") return "[^/]*";
      if (part === "?") return "[^/]";
      return part.replace(/[.+^${}()|[\]\\]/g, "\\$&");
    })
    .join("");
  return new RegExp(`^${source}$`);
}

export const isPattern = (declared: string): boolean => /[*?]|\/\s*$/.test(declared);

/** Whether a text speaks of a file: by its path, or by its name if that is long enough to mean it. */
export function mentions(text: string, path: string): boolean {
  if (holdsWord(text, path)) return true;
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.length > 3 && holdsWord(text, name);
}

function holdsWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    // With a folder before it, it is the name of a file elsewhere; `./` is no folder.
    const before = text.slice(Math.max(0, at - 3), at).replace(/(^|[^\w/.])\.\/$/, "$1");
    if (!/[\w/.-]$/.test(before) && !/[\w-]/.test(text[at + word.length] ?? "")) return true;
  }
  return false;
}
