/** Of paths, with `*` and `{cycle}`: for whoever only wants to know whether one is meant. */
export interface Glob {
  test(path: string): boolean;
}

export function globOf(glob: string, { cycle }: { readonly cycle: number }): Glob {
  const named = glob.replaceAll("{cycle}", String(cycle));
  if (!named.includes("*")) return { test: (path) => path === named };
  const [start = ""] = named.split("*", 1);
  let pattern: RegExp | undefined;
  return {
    test(path) {
      // Most artifacts are told by their folder: a pattern costs more to make and to ask.
      if (!path.startsWith(start)) return false;
      pattern ??= patternOf(named);
      return pattern.test(path);
    },
  };
}

/**
 * `*` stands for anything but a slash. What is between two of them is looked for once, where it comes
 * first, and that is kept (`(?=(…))\1`): a later place would leave less to the rest. Else a name
 * full of letters that match would have a path be tried in more ways than there is time for.
 */
export function patternOf(glob: string): RegExp {
  let between = 0;
  const segments = glob
    .replace(/[.+?^${}()|[\]\\]/g, "\\$&")
    .split("/")
    .map((segment) => {
      const [first = "", ...rest] = segment.split(/\*+/);
      const last = rest.pop();
      const middle = rest.map((part) => `(?=([^/]*?${part}))\\${++between}`);
      return first + middle.join("") + (last === undefined ? "" : `[^/]*${last}`);
    });
  return new RegExp(`^${segments.join("/")}$`, "u");
}
