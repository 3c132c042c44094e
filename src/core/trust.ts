/**
 * What must be approved before anything of a repository runs, and how it is told apart.
 *
 * A surface is every text that decides what a command of ours does: the command itself and the
 * files that define it. Three questions about it are answered here, without a disk: which text is
 * hashed, which files a command line may run, and what a person must see who is asked again.
 *
 * 1. Two surfaces with the same canonical text are the same surface, whatever their entries hold.
 * 2. A file too many costs a question; a file too few is a hole. In doubt a word names a file.
 * 3. A difference never hides: what looks alike is spelt out, what is left out is counted.
 */
export interface SurfaceEntry {
  readonly kind:
    | "gate"
    | "setup"
    | "plan"
    | "agent"
    | "notify"
    | "tracker"
    | "tool"
    | "script"
    | "hook";
  readonly name: string;
  readonly text: string;
}

export type Surface = readonly SurfaceEntry[];

/** A later canonical form takes another tag, so that no hash of one is ever a hash of the other. */
const form = "autodev surface 1";

/**
 * The text to hash. Each entry is a line of JSON: nothing in a name or a text can end the line or
 * the field, and half a surrogate pair stays itself (as UTF-8 all halves would become one).
 */
export const surfaceText = (surface: Surface): string =>
  [form, ...surface.map(entryKey).sort()].join("\n");

/** An entry as one unambiguous line: equal for equal entries only. */
export const entryKey = ({ kind, name, text }: SurfaceEntry): string =>
  JSON.stringify([kind, name, text]);

export const isSurface = (value: unknown): value is Surface =>
  Array.isArray(value) && value.every(isEntry);

const kinds: ReadonlySet<unknown> = new Set<SurfaceEntry["kind"]>([
  "gate",
  "setup",
  "plan",
  "agent",
  "notify",
  "tracker",
  "tool",
  "script",
  "hook",
]);

const isEntry = (value: unknown): value is SurfaceEntry =>
  typeof value === "object" &&
  value !== null &&
  "kind" in value &&
  "name" in value &&
  "text" in value &&
  kinds.has(value.kind) &&
  typeof value.name === "string" &&
  typeof value.text === "string";

// ── Which files a command line may run ──────────────────────────────────────────────────────

/**
 * Candidates, whether or not there is such a file: paths from the repository's top (`check.sh`),
 * parts of JSON files (`package.json#scripts`), and patterns (`scripts/*.sh`) where a shell would
 * fill in names. The line is cut twice: once as a shell would, quotes resolved, and once at
 * every character that is unusual in a path, so that odd quoting and heredocs hide nothing.
 * `from` is a second folder in which the line may run: that of the file it stands in.
 */
export function namedFiles(commandLine: string, from = ""): readonly string[] {
  const commands = commandsOf(commandLine);
  const named = new Set<string>();
  for (const words of commands) for (const each of namedBy(words)) named.add(each);
  for (const each of foundThroughPath(commands.flat())) named.add(each);
  for (const chunk of commandLine.split(unusualInPaths)) {
    for (const each of namedBy([chunk.replace(/^-+/, "")])) named.add(each);
  }
  // `scripts\check.cmd`: an escape to a shell, a path to Windows.
  for (const word of commandLine.replaceAll("\\", "/").split(unusualInPaths)) {
    if (word.includes("/")) for (const each of namedByWord(word)) named.add(each);
  }
  const files = new Set<string>();
  for (const folder of foldersOf(commands, from)) {
    for (const each of named) {
      const file = insidePath(folder, each);
      if (file !== undefined) files.add(file);
    }
  }
  return [...files].sort();
}

/** The files that a program reads its commands from, when it is called in their folder. */
const definedBy: Readonly<Record<string, readonly string[]>> = {
  npm: ["package.json#scripts", ".npmrc", "binding.gyp"],
  npx: ["package.json#scripts", ".npmrc"],
  pnpm: ["package.json#scripts", ".npmrc", ".pnpmfile.cjs", "pnpm-workspace.yaml"],
  pnpx: ["package.json#scripts", ".npmrc", ".pnpmfile.cjs", "pnpm-workspace.yaml"],
  yarn: ["package.json#scripts", ".npmrc", ".yarnrc", ".yarnrc.yml"],
  bun: ["package.json#scripts", ".npmrc", "bunfig.toml"],
  bunx: ["package.json#scripts", ".npmrc", "bunfig.toml"],
  corepack: ["package.json#scripts", "package.json#packageManager"],
  "npm-run-all": ["package.json#scripts"],
  "run-s": ["package.json#scripts"],
  "run-p": ["package.json#scripts"],
  turbo: ["turbo.json", "package.json#scripts", "**/package.json#scripts"],
  nx: ["nx.json", "package.json#scripts", "**/package.json#scripts", "**/project.json"],
  lerna: ["lerna.json", "package.json#scripts", "**/package.json#scripts"],
  wireit: ["package.json#wireit"],
  "lint-staged": ["package.json#lint-staged", ".lintstagedrc", ".lintstagedrc.json"],
  make: ["Makefile", "makefile", "GNUmakefile"],
  gmake: ["Makefile", "makefile", "GNUmakefile"],
  just: ["justfile", "Justfile", ".justfile"],
  task: ["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml"],
  rake: ["Rakefile", "rakefile", "Rakefile.rb"],
  deno: ["deno.json#tasks", "deno.jsonc"],
  composer: ["composer.json#scripts"],
  cargo: [".cargo/config.toml", ".cargo/config"],
  gradlew: ["gradle/wrapper/gradle-wrapper.properties", "gradle/wrapper/gradle-wrapper.jar"],
  mvnw: [".mvn/wrapper/maven-wrapper.properties", ".mvn/jvm.config", ".mvn/maven.config"],
  tox: ["tox.ini"],
  nox: ["noxfile.py"],
  invoke: ["tasks.py"],
  inv: ["tasks.py"],
  docker: ["Dockerfile", "compose.yaml", "compose.yml", "docker-compose.yml"],
  "docker-compose": ["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"],
  "pre-commit": [".pre-commit-config.yaml"],
  lefthook: ["lefthook.yml", "lefthook.yaml", ".lefthook.yml"],
  mise: ["mise.toml", ".mise.toml", ".config/mise.toml"],
  gulp: ["gulpfile.js", "gulpfile.mjs", "gulpfile.ts"],
  grunt: ["Gruntfile.js", "gruntfile.js"],
};

const shells = ["sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "source", "."];
const nodes = ["node", "nodejs", "tsx", "ts-node", "bun", "deno"];
const pythons = ["python", "pypy"];
const others = ["ruby", "perl", "php", "lua", "rscript", "pwsh", "powershell", "in"];
/** Words of Makefiles and justfiles, as `in` above is of a shell's loop. */
const inclusions = ["include", "sinclude", "import", "mod"];

/** Programs to which a plain word may be a file, and the endings that they try by themselves. */
const interpreters: ReadonlyMap<string, readonly string[]> = new Map([
  ...each(shells, ["", ".sh"]),
  ...each(nodes, ["", ".js", ".cjs", ".mjs", ".ts", ".json", "/index.js", "/index.ts"]),
  ...each(pythons, ["", ".py", "/__main__.py", "/__init__.py"]),
  ...each(others, [""]),
  ...each(inclusions, ["", ".just", "/mod.just"]),
  ...each(["run-parts", "bats"], ["", "/*"]),
]);

function each(programs: readonly string[], endings: readonly string[]) {
  return programs.map((program): [string, readonly string[]] => [program, endings]);
}

/** Options whose value is a file that is run or obeyed, even if it is a plain word. */
const fileOptions =
  /^(?:-f|-r|-c|--(?:file|makefile|justfile|taskfile|config|require|import|loader|rcfile|init-file))$/;
const fileVariables = /^(?:BASH_ENV|ENV|MAKEFILES|PYTHONSTARTUP|GIT_SSH|GIT_ASKPASS)$/;
const folderOptions =
  /^(?:cd|pushd|-C|-w|-F|-d|--(?:prefix|dir|cwd|workspace|filter|directory|chdir|working-directory))$/;
const everyPackage =
  /^(?:-r|-w|-F|-ws|--recursive|--workspaces?|--filter|workspaces?|foreach|--parallel)$/;
const managers = new Set(["npm", "pnpm", "yarn", "bun"]);

function namedBy(words: readonly string[]): string[] {
  const named = words.flatMap((word) => namedByWord(word));
  const managed = words.some((word) => managers.has(programOf(word)));
  let endings: readonly string[] | undefined;
  let python = false;
  for (const [at, word] of words.entries()) {
    const next = words[at + 1];
    const program = programOf(word);
    named.push(...(Object.hasOwn(definedBy, program) ? (definedBy[program] ?? []) : []));
    const [name, value] = cutAt(word, "=");
    if (fileOptions.test(name)) named.push(value ?? next ?? "");
    if (fileVariables.test(name) && value) named.push(value);
    if (managed && everyPackage.test(name)) named.push("**/package.json#scripts");
    if (word === "--run") named.push("package.json#scripts");
    if (python && word === "-m" && next !== undefined) {
      // A module of the repository's own is found before an installed one of that name.
      const module = next.replaceAll(".", "/");
      named.push(`${module}.py`, `${module}/__main__.py`, `${module}/__init__.py`);
      break;
    }
    if (endings && !word.startsWith("-")) {
      const tried = /\.\w+$/.test(word) ? [""] : endings;
      named.push(...tried.map((ending) => word + ending), ...patternsOf(word));
    }
    endings = interpreters.get(program) ?? endings;
    python ||= pythons.includes(program);
  }
  return named;
}

/** What one word may name by itself: it has a slash or a dot, or a part of it has. */
function namedByWord(word: string): string[] {
  const named: string[] = [];
  for (const part of new Set([word, ...word.split(/[=:,;@]/)])) {
    for (const each of new Set([part, part.replace(/^--?[A-Za-z]?/, "")])) {
      if (!/[/.]/.test(each) || !/[\p{L}\p{N}]/u.test(each)) continue;
      named.push(each, ...tailsOf(each));
      if (readByShells.test(each)) named.push(...patternsOf(each));
    }
  }
  return named;
}

/** `$ROOT/scripts/check.sh`, `/home/me/project/check.sh`: any tail of it may be ours. */
function tailsOf(word: string): string[] {
  if (!/^[/~]|[$`%)}]/.test(word)) return [];
  const parts = word.split("/");
  return parts.slice(1).map((_, at) => parts.slice(at + 1).join("/"));
}

/** `PATH=tools:$PATH check`: with a folder of ours to search, a plain word is a file of ours. */
const foundThroughPath = (words: readonly string[]): string[] =>
  words
    .filter((word) => word.startsWith("PATH="))
    .flatMap((word) => word.slice("PATH=".length).split(":"))
    .flatMap((folder) => [folder, ...tailsOf(folder)])
    .filter((folder) => folder !== "" && !folder.startsWith("$"))
    .flatMap((folder) => words.map((word) => `${folder}/${word}`));

const readByShells = /\.(?:sh|bash|zsh|ksh|bats|mk|just)$/;
const glob = /[*?[]|\$[\w{@*]|\{[^{}]*,[^{}]*\}/;

/** Whatever a shell would fill in becomes a star; a star alone would be the whole project. */
function patternsOf(word: string): string[] {
  if (!glob.test(word)) return [];
  const pattern = word
    .replace(/\$\{[^}]*\}|\$\w+|\$[@*]|\{[^{}]*,[^{}]*\}|\[[^\]]*\]|\?/g, "*")
    .replace(/\*{2,}(?!\/)/g, "*");
  return /[^*/.]/.test(pattern) ? [pattern] : [];
}

/** The folders that the line may be in when it runs something: the top, and wherever it goes. */
function foldersOf(commands: readonly (readonly string[])[], from: string): Set<string> {
  const folders = new Set(["", from]);
  for (const words of commands) {
    for (const [at, word] of words.entries()) {
      const [name, value] = cutAt(word, "=");
      const attached = /^-C(.+)$/.exec(word)?.[1];
      const target = attached ?? (folderOptions.test(name) ? (value ?? words[at + 1]) : undefined);
      if (target === undefined) continue;
      const known = [...folders];
      for (const folder of known) {
        for (const each of [target, ...tailsOf(target)]) {
          const inside = insidePath(folder, each);
          // Each `cd` doubles the folders; a line that changes its folder that often is no gate.
          if (inside !== undefined && folders.size < 64) folders.add(inside);
        }
      }
    }
  }
  return folders;
}

/** The path from the top, without dots; undefined: it leads outside, or nowhere. */
function insidePath(folder: string, word: string): string | undefined {
  if (word.startsWith("/") || word.startsWith("~")) return undefined;
  const parts: string[] = [];
  for (const part of `${folder}/${word}`.split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.length === 0 ? undefined : parts.join("/");
}

/** `/usr/bin/python3.12`, `npm.cmd`, `pnpm@9`: the program that is meant. */
function programOf(word: string): string {
  const last = word.slice(Math.max(word.lastIndexOf("/"), word.lastIndexOf("\\")) + 1);
  const bare = last.toLowerCase().replace(/^[-@]+|\.(?:exe|cmd|bat|ps1)$/g, "");
  return bare === "." ? bare : bare.replace(/[@\d][\d.a-z-]*$/, "");
}

const cutAt = (text: string, mark: string): [string, string | undefined] => {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
};

const unusualInPaths = /[^\p{L}\p{N}\p{M}/._@+%~#-]+/u;

/**
 * The line's simple commands as words without quotes. Not a shell: comments, heredocs and
 * keywords are words like any other, and a quoted text with blanks is looked into as a line of
 * its own (`bash -c "…"`), besides being a word.
 */
function commandsOf(line: string, depth = 0): string[][] {
  const commands: string[][] = [];
  const quoted: string[] = [];
  let words: string[] = [];
  let word: string | undefined;
  const endWord = (): void => {
    if (word === undefined) return;
    words.push(word);
    if (/[\s;&|<>()`]/.test(word)) quoted.push(word);
    word = undefined;
  };
  const endCommand = (): void => {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
  };
  let quote = "";
  for (let at = 0; at < line.length; at++) {
    const char = line[at] as string;
    if (char === "\\" && quote !== "'") {
      const next = line[++at] ?? "";
      // A backslash before a line's end joins the lines.
      if (next === "\r" && line[at + 1] === "\n") at++;
      else if (next !== "\n") word = (word ?? "") + next;
    } else if (quote !== "") {
      if (char === quote) quote = "";
      else word = (word ?? "") + char;
    } else if (char === "'" || char === '"') {
      quote = char;
      word = (word ?? "").replace(/\$$/, "");
    } else if (/[\n\r;&|()`]/.test(char)) endCommand();
    else if (/[\s<>]/.test(char)) endWord();
    else word = (word ?? "") + char;
  }
  endCommand();
  if (depth < 6) for (const each of quoted) commands.push(...commandsOf(each, depth + 1));
  return commands;
}

// ── Which files a program obeys by itself ────────────────────────────────────────────────────

/**
 * What any of the patterns stands for: `*` stays within a folder; a folder's `**` is the folder too,
 * for it may be a link. Some disks take `.Claude` for `.claude`.
 */
export function anyOf(patterns: readonly string[]): RegExp {
  const sources = patterns.map((pattern) =>
    pattern
      .split(/(\/\*\*$|\*\*\/|\*)/)
      .map((part) => {
        if (part === "/**") return "(?:/.*)?";
        if (part === "**/") return "(?:.*/)?";
        return part === "*" ? "[^/]*" : part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
      })
      .join(""),
  );
  return new RegExp(`^(?:${sources.join("|")})$`, "isu");
}

/** The files of a tree that the patterns stand for, also those that lie behind links of its own. */
export function filesRead(
  patterns: readonly string[],
  paths: readonly string[],
  links: ReadonlyMap<string, string> = new Map(),
): string[] {
  if (patterns.length === 0) return [];
  const wanted = anyOf(patterns);
  const found = new Set(paths.filter((file) => wanted.test(file)));
  if (links.size === 0) return [...found].sort();
  const below = (shown: string, real: string | undefined, seen: Set<string>): void => {
    if (real === undefined || seen.has(real)) return;
    seen.add(real);
    for (const each of paths) {
      if (!each.startsWith(`${real}/`)) continue;
      const name = shown + each.slice(real.length);
      if (wanted.test(name)) found.add(name);
      if (links.has(each)) below(name, resolved(each, links), seen);
    }
  };
  for (const pattern of patterns) {
    const [start = ""] = pattern.split("*");
    const folder = start.slice(0, start.lastIndexOf("/"));
    // One that is everywhere is looked for where the tree itself has it.
    if (start === "") continue;
    if (start === pattern) found.add(pattern);
    else below(folder, resolved(folder, links), new Set());
  }
  return [...found].sort();
}

/** Where a path leads, link by link; undefined: out of the tree, or in a circle. */
function resolved(file: string, links: ReadonlyMap<string, string>): string | undefined {
  let at = file;
  for (let hops = 0; hops < 40; hops++) {
    const parts = at.split("/");
    const length =
      parts.findIndex((_, index) => links.has(parts.slice(0, index + 1).join("/"))) + 1;
    if (length === 0) return at;
    const target = links.get(parts.slice(0, length).join("/")) ?? "";
    if (target.startsWith("/")) return undefined;
    const folder = parts.slice(0, length - 1).join("/");
    const next = insidePath(folder, [".", target, ...parts.slice(length)].join("/"));
    if (next === undefined) return undefined;
    at = next;
  }
  return undefined;
}

/**
 * A settings file as lines that a shell could be given: a program and its arguments stand in it one
 * after the other, between quotes and brackets. What JSON hides behind escapes is spelt out.
 */
export function linesInSettings(text: string): readonly string[] {
  const flat = text.replace(/["',:=[\]{}\s]+/g, " ");
  try {
    return [text, flat, stringsIn(JSON.parse(text)).join(" ")];
  } catch {
    return [text, flat];
  }
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => [
    ...(Array.isArray(value) ? [] : [key]),
    ...stringsIn(each),
  ]);
}

// ── What has changed ────────────────────────────────────────────────────────────────────────

/** The mark of a text that stands for bytes nobody reads: what follows is their size and hash. */
export const unreadable = "\0";

/**
 * What a person is asked to approve, one line each: `+` is new, `-` is gone, `~` is changed.
 * Commands are always shown whole; of scripts, the lines that differ. Without anything approved
 * before, a script is told by its length: one screen, and the file is there to be read.
 */
export function surfaceDifference(before: Surface | undefined, now: Surface): string[] {
  const old = grouped(before ?? []);
  const present = grouped(now);
  const lines: string[] = [];
  for (const title of [...new Set([...old.keys(), ...present.keys()])].sort(byKind)) {
    const gone = withoutAll(old.get(title) ?? [], present.get(title) ?? []);
    const come = withoutAll(present.get(title) ?? [], old.get(title) ?? []);
    const [was, is] = [gone[0], come[0]];
    if (was && is && gone.length === 1 && come.length === 1) {
      lines.push(`~ ${titleOf(is)}`, ...changedLines(was, is).map((line) => `    ${line}`));
      continue;
    }
    for (const entry of gone) lines.push(...told("-", entry, false));
    for (const entry of come) lines.push(...told("+", entry, before !== undefined));
  }
  return lines;
}

/** Entries of one name are one group: the same name twice is unusual, not impossible. */
function grouped(surface: Surface): Map<string, SurfaceEntry[]> {
  const groups = new Map<string, SurfaceEntry[]>();
  for (const entry of surface) {
    const key = JSON.stringify([entry.kind, entry.name]);
    const group = groups.get(key);
    if (group) group.push(entry);
    else groups.set(key, [entry]);
  }
  return groups;
}

const kindOrder = "setup gate plan agent notify tracker tool hook script".split(" ");

function byKind(a: string, b: string): number {
  const [one, other] = [a, b].map((key) => kindOrder.indexOf((JSON.parse(key) as [string])[0]));
  return (one ?? 0) - (other ?? 0) || (a < b ? -1 : 1);
}

/** As multisets: what is there twice and was there once has come once. */
function withoutAll(entries: readonly SurfaceEntry[], others: readonly SurfaceEntry[]) {
  const left = others.map(({ text }) => text);
  return entries.filter(({ text }) => {
    const at = left.indexOf(text);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

const titleOf = ({ kind, name }: SurfaceEntry): string => `${kind} ${plain(name)}`;

const mostLines = 60;

/** Of these, the lines that differ are shown; all else is shown whole. */
const isLong = ({ kind }: SurfaceEntry): boolean => kind === "script" || kind === "tool";

function told(sign: "+" | "-", entry: SurfaceEntry, withText: boolean): string[] {
  const title = `${sign} ${titleOf(entry)}`;
  if (entry.text.startsWith(unreadable)) return [`${title} (${plain(entry.text.slice(1))})`];
  const lines = linesOf(entry.text);
  if (isLong(entry)) {
    const head = `${title} (${lines.length === 1 ? "1 line" : `${lines.length} lines`})`;
    if (!withText) return [head];
    return [head, ...capped(lines.map((line) => `    ${sign} ${clipped(line, 0)}`))];
  }
  if (lines.length <= 1) return [`${title}: ${plain(entry.text)}`];
  return [`${title}:`, ...lines.map((line) => `    ${plain(line)}`)];
}

function changedLines(was: SurfaceEntry, is: SurfaceEntry): string[] {
  if ([was, is].some(({ text }) => text.startsWith(unreadable))) {
    const size = ({ text }: SurfaceEntry): string =>
      text.startsWith(unreadable) ? text.slice(1) : `${linesOf(text).length} lines`;
    return [`- ${plain(size(was))}`, `+ ${plain(size(is))}`];
  }
  const [from, to] = [linesOf(was.text), linesOf(is.text)];
  const lines = isLong(is)
    ? lineDifference(from, to)
    : [...from.map((line) => `- ${plain(line)}`), ...to.map((line) => `+ ${plain(line)}`)];
  if (was.text.endsWith("\n") !== is.text.endsWith("\n")) {
    lines.push(
      `the last line ${is.text.endsWith("\n") ? "now ends" : "no longer ends"} in a newline`,
    );
  }
  return isLong(is) ? capped(lines) : lines;
}

/** The lines that differ, under the number of the first of each group. */
function lineDifference(from: readonly string[], to: readonly string[]): string[] {
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start++;
  let [fromEnd, toEnd] = [from.length, to.length];
  while (fromEnd > start && toEnd > start && from[fromEnd - 1] === to[toEnd - 1]) {
    fromEnd--;
    toEnd--;
  }
  const lines: string[] = [];
  for (const hunk of hunksOf(from.slice(start, fromEnd), to.slice(start, toEnd))) {
    const shared = sharedStart(hunk.gone[0] ?? "", hunk.come[0] ?? "");
    lines.push(
      `line ${start + hunk.at + 1}:`,
      ...hunk.gone.map((line) => `- ${clipped(line, shared)}`),
      ...hunk.come.map((line) => `+ ${clipped(line, shared)}`),
    );
  }
  return lines;
}

interface Hunk {
  /** Where it begins among the new lines. */
  readonly at: number;
  readonly gone: readonly string[];
  readonly come: readonly string[];
}

/** By the longest common subsequence; a change too large for that is one hunk. */
function hunksOf(from: readonly string[], to: readonly string[]): Hunk[] {
  if (from.length * to.length > 1_000_000) return [{ at: 0, gone: from, come: to }];
  const width = to.length + 1;
  const lengths = new Uint32Array((from.length + 1) * width);
  const length = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = from.length - 1; i >= 0; i--) {
    for (let j = to.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        from[i] === to[j] ? length(i + 1, j + 1) + 1 : Math.max(length(i + 1, j), length(i, j + 1));
    }
  }
  const hunks: Hunk[] = [];
  let [i, j] = [0, 0];
  while (i < from.length || j < to.length) {
    const [fromStart, toStart] = [i, j];
    while ((i < from.length || j < to.length) && !(i < from.length && from[i] === to[j])) {
      if (j >= to.length || (i < from.length && length(i + 1, j) >= length(i, j + 1))) i++;
      else j++;
    }
    if (i > fromStart || j > toStart) {
      hunks.push({ at: toStart, gone: from.slice(fromStart, i), come: to.slice(toStart, j) });
    }
    while (i < from.length && j < to.length && from[i] === to[j]) {
      i++;
      j++;
    }
  }
  return hunks;
}

/** The end of the last line begins no other. */
const linesOf = (text: string): string[] =>
  (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");

const capped = (lines: readonly string[]): string[] =>
  lines.length <= mostLines
    ? [...lines]
    : [...lines.slice(0, mostLines), `    … and ${lines.length - mostLines} more lines`];

const mostCharacters = 240;

/** A long line is shown around the place where it differs, and its length is told. */
function clipped(line: string, shared: number): string {
  if (line.length <= mostCharacters) return plain(line);
  const start = shared > mostCharacters / 2 ? shared - 40 : 0;
  const part = line.slice(start, start + mostCharacters);
  return `${start > 0 ? "… " : ""}${plain(part)} … (${line.length} characters)`;
}

function sharedStart(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  return at;
}

/** A reader must see what a shell would: no control, no gap that pushes text out of sight, no twin. */
function plain(text: string): string {
  const visible = text
    .replace(/[\p{Cc}\p{Cs}\p{Co}]/gu, (char) => (char === "\t" ? "  " : codePoint(char)))
    .replace(/[ \u00a0]{12,}/g, (gap) => `[${gap.length} spaces]`);
  const twins = [...new Set(text.match(mayPassForAnother) ?? [])].map(codePoint);
  if (twins.length === 0) return visible;
  const more = twins.length > 4 ? ` and ${twins.length - 4} more` : "";
  return `${visible}   [holds ${twins.slice(0, 4).join(" ")}${more}]`;
}

/** Letters with a twin in ASCII, blanks that are no space, and what is not seen at all. */
const mayPassForAnother =
  /(?! )[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Mn}\u02b0-\u02ff\u2010-\u2027\u2032-\u2044\u2212\u2215\u{1d400}-\u{1d7ff}\uff00-\uffef]/gu;

const codePoint = (char: string): string =>
  `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
