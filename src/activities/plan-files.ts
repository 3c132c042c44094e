/**
 * A plan on disk: which files it consists of, their bytes as text, and the one way in which they
 * are changed. Reading decides nothing about formats; it only gathers what belongs together.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { CompiledPlan } from "../core/plan/compile.ts";
import { applyEdits, type Edit, type PhaseChange, planEdits } from "../core/plan/edits.ts";
import type { PlanFormat } from "../core/plan/plan.ts";
import { readPlan, type Source } from "../formats/read-plan.ts";

const largest = 16 * 1024 * 1024;
const mostFiles = 2000;

export interface OpenPlan {
  readonly sources: readonly Source[];
  readonly compiled: CompiledPlan;
}

/** `given`: a file, or a folder that holds a plan; messages name it as it was given. */
export function openPlan(cwd: string, given: string, format?: PlanFormat): Result<OpenPlan> {
  const files = filesOf(cwd, given);
  if (!files.ok) return files;
  const sources: Source[] = [];
  for (const file of files.value) {
    const source = readSource(cwd, file);
    if (!source.ok) return source;
    sources.push(source.value);
  }
  const compiled = readPlan(sources, format);
  return compiled.ok ? succeed({ sources, compiled: compiled.value }) : compiled;
}

/** Undefined: there is nothing, or nothing that we may look at. */
function kindOf(file: string): "file" | "folder" | "other" | undefined {
  try {
    const stat = fs.statSync(file);
    return stat.isFile() ? "file" : stat.isDirectory() ? "folder" : "other";
  } catch {
    return undefined;
  }
}

function filesOf(cwd: string, given: string): Result<string[]> {
  if (given.trim() === "") {
    return fail("usage", "the name of the plan is empty", { hint: "autodev plan check <file>" });
  }
  const kind = kindOf(path.resolve(cwd, given));
  if (kind === undefined) {
    const why = whyNot(path.resolve(cwd, given));
    if (why !== undefined) return unreadable(given, why);
    return fail("not-found", `there is no ${given}`, {
      file: given,
      hint: "name the plan's file; autodev plan new <file> makes one",
    });
  }
  if (kind === "other") {
    return fail("plan-unreadable", `${given} is neither a file nor a folder`, {
      file: given,
      hint: "name the plan's Markdown or JSON file",
    });
  }
  if (kind === "folder") return folderFiles(cwd, given);
  return succeed([...setOf(cwd, given), ...tagFile(cwd, given)]);
}

/** `x-plan-1.md` brings `x-plan-2.md` … along. */
function setOf(cwd: string, given: string): string[] {
  const match = /^(.*?plan)-(\d+)(\.md|\.markdown)$/iu.exec(path.basename(given));
  if (!match) return [given];
  const folder = path.dirname(given);
  const [, stem = "", , ending = ""] = match;
  const parts = namesIn(path.resolve(cwd, folder)).flatMap((name) => {
    const number =
      name.startsWith(`${stem}-`) && name.endsWith(ending)
        ? /^-(\d+)$/u.exec(name.slice(stem.length, name.length - ending.length))?.[1]
        : undefined;
    return number === undefined ? [] : [{ name, number: Number(number) }];
  });
  return parts.sort((a, b) => a.number - b.number).map(({ name }) => path.join(folder, name));
}

/** Task Master keeps the name of the current tag beside its tasks. */
function tagFile(cwd: string, given: string): string[] {
  if (path.basename(given) !== "tasks.json") return [];
  const folder = path.dirname(given);
  return [path.join(folder, "state.json"), path.join(folder, "..", "state.json")]
    .filter((file) => kindOf(path.resolve(cwd, file)) === "file")
    .slice(0, 1);
}

function folderFiles(cwd: string, given: string): Result<string[]> {
  const at = (...names: string[]): string => path.join(given, ...names);
  const is = (kind: "file" | "folder", ...names: string[]): boolean =>
    kindOf(path.resolve(cwd, at(...names))) === kind;
  const markdown = (...names: string[]): string[] =>
    namesIn(path.resolve(cwd, at(...names)))
      .filter((name) => name.endsWith(".md"))
      .map((name) => at(...names, name))
      .filter((file) => kindOf(path.resolve(cwd, file)) === "file");
  const table = is("file", "_dependencies_table.md") ? [at("_dependencies_table.md")] : [];
  const cards = ["todo", "in_progress", "done"].flatMap((folder) => markdown(folder));
  if (table.length + cards.length > 0) return bounded(given, [...table, ...cards]);
  if (is("file", "tasks.md")) return succeed([at("tasks.md")]);
  for (const json of [
    ["tasks.json"],
    ["tasks", "tasks.json"],
    [".taskmaster", "tasks", "tasks.json"],
  ]) {
    if (is("file", ...json)) return succeed([at(...json), ...tagFile(cwd, at(...json))]);
  }
  for (const folder of [["backlog", "tasks"], ["tasks"], []]) {
    const tasks = markdown(...folder).filter(
      (file) =>
        startsWithFrontMatter(path.resolve(cwd, file)) && !/(?:^|\/)readme\.md$/iu.test(file),
    );
    if (tasks.length > 0) return bounded(given, tasks);
  }
  for (const folder of [["stories"], []]) {
    const stories = markdown(...folder).filter((file) =>
      /(?:^|\/)(?:story-)?\d+[.-]\d+|\.story\.md$/iu.test(file),
    );
    if (stories.length > 0) return bounded(given, stories);
  }
  const plans = markdown().filter((file) => /plan(?:-\d+)?\.md$/iu.test(file));
  const [first] = plans;
  if (first && setOf(cwd, first).length === plans.length) return succeed(setOf(cwd, first));
  return fail("plan-unreadable", `${given} is a folder, and holds no plan that we know`, {
    file: given,
    hint: "name the plan's file; folders are read that hold todo/ and _dependencies_table.md, tasks.md, tasks.json, backlog/tasks or stories",
  });
}

function bounded(given: string, files: readonly string[]): Result<string[]> {
  if (files.length <= mostFiles) return succeed([...files]);
  return fail(
    "plan-too-large",
    `${given} holds ${files.length} tasks; at most ${mostFiles} are read`,
    { file: given, hint: "archive what is done" },
  );
}

const namesIn = (folder: string): string[] => {
  try {
    return fs.readdirSync(folder).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  } catch {
    return [];
  }
};

function startsWithFrontMatter(file: string): boolean {
  try {
    const fd = fs.openSync(file, "r");
    try {
      const bytes = Buffer.alloc(8);
      fs.readSync(fd, bytes, 0, 8, 0);
      return /^(?:\uFEFF)?---/u.test(bytes.toString("utf8"));
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    return false;
  }
}

/** The text, and nothing but: what is not UTF-8 is refused, because an edit would harm it. */
export function readSource(cwd: string, file: string): Result<Source> {
  const where = path.resolve(cwd, file);
  let bytes: Buffer;
  try {
    const { size } = fs.statSync(where);
    if (kindOf(where) !== "file") return unreadable(file, "it is no file");
    if (size > largest) {
      return fail(
        "plan-too-large",
        `${file} has ${Math.round(size / 1024 / 1024)} MB; plans of up to ${largest / 1024 / 1024} MB are read`,
        { file, hint: "split it into x-plan-1.md, x-plan-2.md …" },
      );
    }
    bytes = fs.readFileSync(where);
  } catch (error) {
    return unreadable(file, reasonOf(error));
  }
  const text = utf8Text(bytes);
  if (text === undefined) {
    const line = firstBadLine(bytes);
    return fail("plan-encoding", `${file}:${line}: this is not UTF-8`, {
      file,
      line,
      hint: "save the file as UTF-8",
    });
  }
  if (text.includes("\u0000")) {
    const line = text.slice(0, text.indexOf("\u0000")).split("\n").length;
    return fail("plan-encoding", `${file}:${line}: this is not text (it holds a zero byte)`, {
      file,
      line,
      hint: "name the plan's Markdown or JSON file",
    });
  }
  return succeed({ file: file.replaceAll("\\", "/"), text });
}

/** Undefined: it is not UTF-8. */
export function utf8Text(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export function firstBadLine(bytes: Buffer): number {
  let line = 1;
  let start = 0;
  for (;;) {
    const next = bytes.indexOf(10, start);
    const end = next < 0 ? bytes.length : next;
    if (utf8Text(bytes.subarray(start, end)) === undefined || next < 0) return line;
    start = next + 1;
    line++;
  }
}

/** The system's word for why a path cannot be looked at; undefined: it is just not there. */
function whyNot(file: string): string | undefined {
  try {
    fs.statSync(file);
    return undefined;
  } catch (error) {
    const reason = reasonOf(error);
    return reason === "ENOENT" || reason === "ENOTDIR" ? undefined : reason;
  }
}

const unreadable = (file: string, reason: string): ReturnType<typeof fail> =>
  fail("plan-unreadable", `${file} cannot be read (${reason})`, {
    file,
    hint: "mend its permissions or the link that leads to it, or name another file",
  });

const reasonOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error);

export interface PlanDisk {
  /** Replaces a file whole and durably, if `proceed` still says so at the last moment. */
  replace(file: string, bytes: Buffer, proceed: () => boolean): Promise<boolean>;
  /** A new file, whole and durable; false: there is one already. */
  create(file: string, bytes: Buffer): Promise<boolean>;
  /** One at a time, of all who change this file by us. */
  alone<T>(file: string, act: () => Promise<Result<T>>): Promise<Result<T>>;
}

export interface PlanChange {
  readonly before: OpenPlan;
  readonly edits: readonly Edit[];
  /** The texts after the edits, of the files that changed. */
  readonly after: readonly Source[];
  /** The plan as it reads after them. */
  readonly compiled: CompiledPlan;
}

const patience = 20;

/** What the changes would write, and nothing written. */
export function planChange(
  cwd: string,
  given: string,
  changes: readonly PhaseChange[],
  format?: PlanFormat,
): Result<PlanChange> {
  const before = openPlan(cwd, given, format);
  return before.ok ? changeOf(before.value, changes, format) : before;
}

function changeOf(
  before: OpenPlan,
  changes: readonly PhaseChange[],
  format?: PlanFormat,
): Result<PlanChange> {
  const texts = new Map(before.sources.map(({ file, text }) => [file, text]));
  const edits = planEdits(before.compiled.plan, changes, ({ file, from, to }) =>
    (texts.get(file) ?? "").slice(from, to),
  );
  if (!edits.ok) return edits;
  const after = before.sources.flatMap(({ file, text }) => {
    const mine = edits.value.filter((edit) => edit.file === file);
    return mine.length === 0 ? [] : [{ file, text: applyEdits(text, mine) }];
  });
  const read = readPlan(withTexts(before.sources, after), format);
  if (!read.ok) return read;
  return succeed({ before, edits: edits.value, after, compiled: read.value });
}

const withTexts = (sources: readonly Source[], changed: readonly Source[]): Source[] =>
  sources.map((source) => changed.find(({ file }) => file === source.file) ?? source);

/**
 * All changes of a file in one stroke. A file that changed meanwhile is read anew and the changes
 * are made to what it says then; it is never overwritten with what we remembered.
 */
export async function changePlan(
  cwd: string,
  given: string,
  changes: readonly PhaseChange[],
  { disk, format }: { disk: PlanDisk; format?: PlanFormat },
): Promise<Result<PlanChange>> {
  // By the folder: a plan may have several files, and be named by any of them.
  return disk.alone(path.dirname(realFile(cwd, given)), async () => {
    let asked: PlanChange | undefined;
    for (let round = 0; round < patience; round++) {
      const change = planChange(cwd, given, changes, format);
      if (!change.ok) return change;
      asked ??= change.value;
      const written = await write(cwd, change.value, disk);
      if (!written.ok) return written;
      if (written.value) return succeed({ ...asked, compiled: change.value.compiled });
    }
    return fail("plan-changed", `${given} is being changed by somebody else all the time`, {
      file: given,
      hint: "close the program that writes it, and try again",
    });
  });
}

/** Through a link to what it leads to: the link stays one. */
function realFile(cwd: string, file: string): string {
  try {
    return fs.realpathSync(path.resolve(cwd, file));
  } catch {
    return path.resolve(cwd, file);
  }
}

/** False: a file was no longer what had been read; what it says now has not been lost. */
async function write(cwd: string, change: PlanChange, disk: PlanDisk): Promise<Result<boolean>> {
  const astray = change.after.find(({ file }) => leadsOut(path.resolve(cwd, file)));
  if (astray) return outside(astray.file);
  const closed = change.after.find(({ file }) => !mayReplace(realFile(cwd, file)));
  if (closed) return notWritten(closed.file, "EACCES", []);
  const done: string[] = [];
  for (const { file, text } of change.after) {
    const read = change.before.sources.find((source) => source.file === file)?.text ?? "";
    const says = (wanted: string) => (): boolean => {
      const now = readSource(cwd, file);
      return now.ok && now.value.text === wanted;
    };
    const target = realFile(cwd, file);
    let old: number | undefined;
    try {
      old = fs.openSync(target, "r");
      if (!(await disk.replace(target, Buffer.from(text), says(read)))) return succeed(false);
      // Between the last look and the rename somebody may still have written into the old file.
      // We have it open: what was added is added again, anything else is put back and read anew.
      const late = fs.readFileSync(old);
      const known = Buffer.from(read);
      if (late.subarray(0, known.length).equals(known)) {
        if (late.length > known.length) fs.appendFileSync(target, late.subarray(known.length));
      } else if (await disk.replace(target, late, says(text))) return succeed(false);
      else return notWritten(file, "two others are writing it", done);
    } catch (error) {
      return notWritten(file, reasonOf(error), done);
    } finally {
      if (old !== undefined) fs.closeSync(old);
    }
    done.push(file);
  }
  return succeed(true);
}

/**
 * A path in a repository that a link takes out of it: what a stranger has checked in would have us
 * write into somebody's files.
 */
export function leadsOut(file: string): boolean {
  const up = (from: string, is: (folder: string) => boolean): string | undefined => {
    for (let folder = from; ; folder = path.dirname(folder)) {
      if (is(folder)) return folder;
      if (folder === path.dirname(folder)) return undefined;
    }
  };
  const root = up(path.dirname(file), (folder) => fs.existsSync(path.join(folder, ".git")));
  const standing = up(file, (each) => fs.existsSync(each));
  if (root === undefined || standing === undefined) return false;
  const way = path.relative(fs.realpathSync(root), fs.realpathSync(standing));
  return way === ".." || way.startsWith(`..${path.sep}`);
}

const outside = (file: string): ReturnType<typeof fail> =>
  fail("disk", `${file} is a link that leads out of the repository; nothing is written there`, {
    file,
    hint: "name the file that it leads to, or put the plan itself into the repository",
  });

/** A file is replaced in its folder: that is what must be writable. */
function mayReplace(file: string): boolean {
  try {
    fs.accessSync(path.dirname(file), fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const notWritten = (
  file: string,
  reason: string,
  done: readonly string[],
): ReturnType<typeof fail> =>
  fail(
    "disk",
    `${file} cannot be written (${reason}); it is as it was${done.length > 0 ? `, and ${done.join(", ")} is changed already` : ""}`,
    { file, hint: "mend the permissions or free some space, then run the same command again" },
  );

/** A new document; an old one is never overwritten. */
export async function createPlan(
  cwd: string,
  file: string,
  text: string,
  disk: PlanDisk,
): Promise<Result<true>> {
  if (leadsOut(path.resolve(cwd, file))) return outside(file);
  try {
    if (await disk.create(path.resolve(cwd, file), Buffer.from(text))) return succeed(true);
  } catch (error) {
    return fail("disk", `${file} cannot be written (${reasonOf(error)})`, {
      file,
      hint: "mend the permissions or free some space, or name another file",
    });
  }
  return fail("usage", `there is a ${file} already`, {
    file,
    hint: "name another file; nothing is overwritten",
  });
}
