/**
 * What the section of a phase says: its fields, tasks, definition of done, checkpoints, files.
 * Every format that has sections reads them here; what it calls things is in core/plan/words.
 */
import type { Hint } from "../core/plan/draft.ts";
import type { DeclaredFile, Item, Said, SpelledCommand } from "../core/plan/plan.ts";
import { readStatus } from "../core/plan/status.ts";
import { type Field, fieldsOf, means } from "../core/plan/words.ts";
import { commandIn, fencedText, isScript } from "./commands.ts";
import { changeOf, declaredFiles, pathsIn } from "./declared-files.ts";
import {
  type Block,
  type Document,
  type Fence,
  itemOf,
  type Line,
  type ListItem,
  type Range,
  type Table,
} from "./document.ts";
import { fieldsIn, type PairField, pairFields } from "./fields.ts";
import { fenceHints, lineHint } from "./hints.ts";
import { headingMark } from "./phase-heading.ts";

export interface Section {
  readonly dependsOn: Said[];
  readonly blocks: Said[];
  readonly parallelWith: Said[];
  readonly estimate: Said[];
  readonly status: Said[];
  readonly tasks: Item[];
  readonly definitionOfDone: Item[];
  readonly checkpoints: Item[];
  readonly files: DeclaredFile[];
  readonly commands: SpelledCommand[];
  readonly hints: Omit<Hint, "phase">[];
  readonly boxes: Item[];
  hasWork: boolean;
}

type Area = "tasks" | "done" | "checkpoint" | "dependsOn" | "blocks" | "files" | "other";

/** Tasks that are no boxes, by the form they have; used when a phase has no task boxes. */
interface Unboxed {
  rows: Item[];
  headings: Item[];
  labelled: Item[];
  bold: Item[];
  bullets: Item[];
}

export function readSection(document: Document, blocks: readonly Block[]): Section {
  const section: Section = {
    dependsOn: [],
    blocks: [],
    parallelWith: [],
    estimate: [],
    status: [],
    tasks: [],
    definitionOfDone: [],
    checkpoints: [],
    files: [],
    commands: [],
    hints: [],
    boxes: [],
    hasWork: false,
  };
  const unboxed: Unboxed = { rows: [], headings: [], labelled: [], bold: [], bullets: [] };
  const unboxedDone: Item[] = [];
  /** Set by headings (`level`), or by a label inside the text (`depth`); the inner one counts. */
  const headings: { area: Area; level: number; isTask: boolean }[] = [];
  /** How deep the box is in which we are; -1: in none. */
  let boxDepth = -1;
  let label: { area: Area; depth: number; loose: boolean } | undefined;
  let file: { path: string; index: number }[] = [];
  const fromHeading = (): Area =>
    headings.findLast((each) => each.area !== "other")?.area ?? "other";
  const area = (): Area => label?.area ?? fromHeading();
  const isOpening = (): boolean => headings.length === 0 && label === undefined;

  for (const block of blocks) {
    switch (block.kind) {
      case "heading": {
        const text = document.plain(block.content);
        while ((headings.at(-1)?.level ?? 0) >= block.level) headings.pop();
        label = undefined;
        file = [];
        const declared = declaredFiles(document, block, text, "heading");
        if (declared.length > 0) {
          file = addFiles(section, declared);
          headings.push({ area: "other", level: block.level, isTask: false });
          break;
        }
        const next = areaOf(text);
        const isTask = next === "other" && isTaskHeading(text);
        boxDepth = -1;
        if (isTask) unboxed.headings.push(plainItem(document, block));
        else if (
          next === "other" &&
          fromHeading() === "tasks" &&
          !/^(?:notes?|context)$/i.test(text)
        ) {
          unboxed.headings.push(plainItem(document, block));
        }
        headings.push({ area: next, level: block.level, isTask });
        break;
      }
      case "item":
        readItem(block);
        break;
      case "paragraph":
        if (label && block.depth <= label.depth && block.depth > 0) label = undefined;
        if (block.depth <= boxDepth) boxDepth = -1;
        readParagraph(document.lines(block), block.depth);
        break;
      case "table":
        readTable(block);
        break;
      case "fence":
        section.hasWork = true;
        readFence(block);
        break;
      case "comment":
        break;
    }
  }
  settle();
  return section;

  function readItem(item: ListItem): void {
    if (label && label.depth >= 0 && item.depth <= label.depth) label = undefined;
    if (item.depth <= boxDepth) boxDepth = -1;
    const { own: lines, lead, after } = withoutLabels(document, item);
    readLead({ ...item, lead }, lines);
    if (item.box && boxDepth < 0) boxDepth = item.depth;
    // "**Done when:** …" right under the last task, without a line between them.
    if (after.length > 0) {
      boxDepth = -1;
      readParagraph(after, item.depth);
    }
  }

  function readLead(item: ListItem, lines: readonly Line[]): void {
    const text = document.plain(item.lead);
    const [first] = lines;
    if (item.box) {
      const box = itemOf(document, item);
      section.boxes.push(box);
      // A list of files ends where the work begins.
      if (label?.area === "files") label = undefined;
      if (isCheckpoint(text)) section.checkpoints.push(box);
      else if (area() === "checkpoint") section.checkpoints.push(box);
      else if (area() === "done") section.definitionOfDone.push(box);
      else section.tasks.push(box);
      // "- [ ] Acceptance criteria:" over nested boxes
      const inner = areaOf(text);
      if (inner !== "other" && /[:：]$/u.test(text))
        label = { area: inner, depth: item.depth, loose: false };
      return;
    }
    if (text === "") return;
    const declared = declaredFiles(
      document,
      item.lead,
      text,
      area() === "files" ? "files" : "line",
    );
    if (declared.length > 0) {
      file = addFiles(section, declared);
      return;
    }
    if (area() === "dependsOn" && label !== undefined) {
      const inner = first && fieldsIn(document, first);
      if (!inner || inner.length === 0) {
        section.dependsOn.push({
          ...said(document, item.lead, text),
          ...(label.loose ? { loose: true as const } : {}),
        });
        return;
      }
    }
    if (area() === "dependsOn" && label === undefined) {
      section.dependsOn.push({ ...said(document, item.lead, text), loose: true });
      return;
    }
    if (area() === "blocks" && label !== undefined) {
      section.blocks.push(said(document, item.lead, text));
      return;
    }
    let fields = 0;
    for (const line of lines) fields += readFields(line, item.depth);
    if (fields > 0) return;
    section.hasWork = true;
    const plain = plainItem(document, { from: item.from, to: item.lead.to, content: item.lead });
    if (isCheckpoint(text)) return;
    if (area() === "done") {
      if (item.depth === (label ? label.depth + 1 : 0) || item.depth === 0) unboxedDone.push(plain);
    } else if (area() === "tasks") {
      if (item.depth === 0 || (label && item.depth === label.depth + 1))
        unboxed.labelled.push(plain);
    } else if (area() === "other" && item.depth === 0 && isOpening()) unboxed.bullets.push(plain);
    for (const line of lines) hint(line);
  }

  function readParagraph(lines: readonly Line[], depth: number): void {
    for (const line of lines) {
      if (line.text === "") continue;
      const declared = declaredFiles(document, line, line.text, "line");
      if (declared.length > 0) {
        file = addFiles(section, declared);
        continue;
      }
      if (readFields(line, depth - 1) > 0) continue;
      hint(line);
      // "**Tasks**" or "Tasks:" on a line of its own opens an area.
      const whole = line.bold !== undefined && rest(line.text, line.bold) === "";
      const colon = /[:：]$/u.test(line.text);
      if (whole || colon) {
        const next = areaOf(line.text);
        if (next !== "other") label = { area: next, depth: depth - 1, loose: isLoose(line.text) };
        else if (whole && isBoldTask(line.bold ?? "")) {
          unboxed.bold.push(plainItem(document, { ...line, content: line }));
          label = undefined;
        } else if (whole || isAside.test(line.text))
          label = { area: "other", depth: depth - 1, loose: true };
        continue;
      }
      if (line.bold !== undefined && isBoldTask(line.text) && area() !== "done") {
        if (label?.area === "files") label = undefined;
        unboxed.bold.push(plainItem(document, { ...line, content: line }));
      } else if (
        area() === "done" &&
        headings.length === 0 &&
        label !== undefined &&
        lines.length === 1
      ) {
        // A definition of done that is a sentence.
        unboxedDone.push(plainItem(document, { ...line, content: line }));
      }
    }
  }

  /** The fields that a line states; how many. */
  function readFields(line: Line, depth: number): number {
    let found = 0;
    for (const { field, key, value } of fieldsIn(document, line)) {
      const text = document.plain(value);
      const statement: Said = said(document, value, text);
      // What is said of a task is not said of the phase.
      if (pairFields.has(field) && (boxDepth >= 0 || headings.some(({ isTask }) => isTask))) {
        found++;
        continue;
      }
      if (text === "") {
        const next = areaOf(key);
        if (next !== "other") {
          label = { area: next, depth, loose: isLoose(key) };
          found++;
        }
        continue;
      }
      switch (field) {
        case "dependsOn":
          section.dependsOn.push({
            ...statement,
            ...(isLoose(key) ? { loose: true as const } : {}),
          });
          label = undefined;
          break;
        case "status":
          if (
            !/^(?:status|state|phase status|current status|[^\u0000-\u02ff]+|estado|statut|stato|stand|zustand|état|stav|durum|situação)$/iu.test(
              key.trim(),
            )
          )
            continue;
          // As written: what is struck out no longer holds.
          section.status.push({ ...statement, text: document.raw(value) });
          break;
        case "blocks":
        case "parallelWith":
        case "estimate":
          section[field].push(statement);
          break;
        case "done":
          // "Acceptance: all tests pass" is one criterion, in a sentence.
          unboxedDone.push({ text, done: false, place: document.place(value) });
          label = { area: "done", depth, loose: false };
          section.hasWork = true;
          break;
        default:
          continue;
      }
      found++;
    }
    return found;
  }

  function readTable(table: Table): void {
    const heads = table.header.map((cell) => document.plain(cell));
    const pairs = [
      heads,
      ...table.rows.map((row) => row.cells.map((cell) => document.plain(cell))),
    ];
    const keyed = pairs.filter((row) =>
      fieldsOf(row[0] ?? "").some((field) => pairFields.has(field)),
    );
    if (
      heads.length === 2 &&
      keyed.length >= 1 &&
      keyed.length >= pairs.length / 3 &&
      !means(heads[1] ?? "", "status")
    ) {
      readPairs(table);
      return;
    }
    section.hasWork = true;
    const column = (field: Field): number => heads.findIndex((head) => means(head, field));
    const filesAt = heads.findIndex(
      (head) => means(head, "files") || /^(?:path|file ?path)$/i.test(head),
    );
    const actionAt = heads.findIndex((head) =>
      /^(?:action|change|operation|type|changes|what)$/i.test(head),
    );
    if (filesAt >= 0 && (actionAt >= 0 || filesAt === 0)) {
      for (const row of table.rows) {
        const cell = row.cells[filesAt];
        if (!cell) continue;
        const action = row.cells[actionAt];
        const change = changeOf(action ? document.plain(action) : "") ?? "touch";
        const paths = pathsIn(document, cell);
        for (const path of paths)
          section.files.push({ path, change, blocks: [], place: document.place(cell) });
      }
      if (column("tasks") < 0) return;
    }
    const statusAt = column("status");
    const taskAt = heads.findIndex(
      (head) =>
        means(head, "tasks") ||
        /^(?:task|step|item|action|deliverable|story|work item|任务|タスク|задача|aufgabe|tarea|tarefa|tâche)$/iu.test(
          cleanHead(head),
        ),
    );
    const isTasks =
      taskAt >= 0 ||
      area() === "tasks" ||
      (column("id") === 0 &&
        (column("name") > 0 || column("estimate") > 0 || statusAt > 0) &&
        area() === "other");
    if (area() !== "done" && !isTasks) return;
    const nameAt = column("name");
    for (const row of table.rows) {
      const cells = row.cells.map((cell) => document.plain(cell));
      if (cells.every((cell) => cell === "") || /^\W*total/i.test(cells[0] ?? "")) continue;
      const status = statusAt >= 0 ? readStatus(cells[statusAt] ?? "") : undefined;
      const shown = cells.filter((_, at) => at !== statusAt);
      const named = [taskAt, nameAt]
        .filter((at) => at >= 0)
        .map((at) => cells[at])
        .find((cell) => cell !== "" && cell !== undefined);
      const firstCell = row.cells[0];
      const item: Item = {
        text: named ?? shown.join(" "),
        done: status === "complete" || (firstCell !== undefined && document.isStruck(firstCell)),
        place: document.place(row),
      };
      if (area() === "done") unboxedDone.push(item);
      else unboxed.rows.push(item);
    }
  }

  function readPairs(table: Table): void {
    for (const row of [{ cells: table.header }, ...table.rows]) {
      const [key, value] = row.cells;
      if (!key || !value) continue;
      const field = fieldsOf(document.plain(key)).find((each) => pairFields.has(each)) as
        | PairField
        | undefined;
      const text = document.plain(value);
      if (field && text !== "") section[field].push(said(document, value, text));
    }
  }

  function readFence(fence: Fence): void {
    const text = fencedText(document, fence);
    const command = commandIn(document, fence);
    // A script may be the content of the file above it; below any other file it is to be run.
    const isContent = !command || file.some(({ index }) => isScript(section.files[index], text));
    if (!isContent) section.commands.push(command);
    else {
      for (const { path, index } of file) {
        const declared = section.files[index];
        if (declared && declared.path === path) {
          section.files[index] = {
            ...declared,
            blocks: [...declared.blocks, { info: fence.info, text }],
          };
        }
      }
    }
    if (file.length > 0) return;
    for (const line of document.lines(fence.content)) {
      const match =
        /^[\s#/-]*(depends[_ -]?on|dependsOn|blocked[_ -]?by|dependencies)\s*[:=]\s*(.+)$/i.exec(
          line.text,
        );
      if (match?.[2] !== undefined) {
        const value = match[2].replace(/^[[{]\s*|\s*[\]}],?$/g, "").replace(/["']/g, "");
        section.dependsOn.push({ text: value, place: document.place(line), where: "section" });
      }
    }
    section.hints.push(...fenceHints(document, fence));
  }

  function hint(line: Line): void {
    const found = lineHint(document, line);
    if (found) section.hints.push(found);
  }

  function settle(): void {
    if (section.tasks.length === 0) {
      const { rows, headings: heads, labelled, bold, bullets } = unboxed;
      const chosen = [rows, heads, labelled, bold, bullets].find((each) => each.length > 0) ?? [];
      section.tasks.push(...chosen);
    }
    if (section.definitionOfDone.length === 0) section.definitionOfDone.push(...unboxedDone);
  }
}

/** The lines of an item, and those at its end that are labels of the phase. */
function withoutLabels(
  document: Document,
  item: ListItem,
): { own: readonly Line[]; lead: Range; after: readonly Line[] } {
  const lines = document.lines(item.lead);
  const at = lines.findIndex(
    (line, index) =>
      index > 0 &&
      line.bold !== undefined &&
      fieldsIn(document, line).length > 0 &&
      !/^[ \t]{2}/.test(document.raw(line)),
  );
  if (at < 0) return { own: lines, lead: item.lead, after: [] };
  const last = lines[at - 1];
  return {
    own: lines.slice(0, at),
    lead: { from: item.lead.from, to: last?.to ?? item.lead.to },
    after: lines.slice(at),
  };
}

const said = (document: Document, range: Range, text: string): Said => ({
  text,
  place: document.place(range),
  where: "section",
});

const isAside =
  /^(?:notes?|risks?|context|assumptions?|resources|references|examples?|background|rationale|constraints|out of scope|non-goals|warnings?)\b/iu;

const isCheckpoint = (text: string): boolean =>
  /^[^\p{L}]*(?:context )?(?:checkpoint|检查点|チェックポイント)s?(?:$|[^\p{L}])/iu.test(text);

/** What a heading or a label opens. */
function areaOf(text: string): Area {
  const fields = fieldsOf(text.replace(/\p{Extended_Pictographic}/gu, " ").trim());
  if (isCheckpoint(text)) return "checkpoint";
  for (const area of ["done", "checkpoint", "tasks", "files", "dependsOn", "blocks"] as const) {
    if (fields.includes(area)) return area;
  }
  return "other";
}

/** These labels also speak of packages, accounts and hardware. */
const isLoose = (label: string): boolean =>
  /^\W*(?:dependenc|prereq|pre-req|requires?|required|needs|前提条件|前置条件|voraussetzung|requisitos|prérequis|pré-requisitos|upstream|after)/iu.test(
    label,
  );

const isTaskHeading = (text: string): boolean =>
  /^[^\p{L}\d]*(?:(?:task|step|work item|subtask|item|story|任务|步骤|タスク|ステップ|задача|шаг|aufgabe|schritt|tarea|paso|tarefa|passo|tâche)\s*#?[\w.-]*\d[\w.-]*|\d+(?:[.-]\d+)+[a-z]?[.):]?|[A-Z]{1,3}-?\d+(?:[.-][A-Z]?\d+)*[.):—–]?)(?:$|[\s:：—–.-])/iu.test(
    text,
  );

const isBoldTask = (text: string): boolean =>
  isTaskHeading(text) ||
  /^[^\p{L}\d]*(?:task|step|任务|タスク|задача|aufgabe|tarea)\s*[:：]/iu.test(text) ||
  /^\d+[.)]\s/.test(text);

const rest = (text: string, bold: string): string =>
  text
    .replace(bold, "")
    .replace(/[\s:：.]+/gu, "")
    .replace(/\p{Extended_Pictographic}|\uFE0F/gu, "");

const cleanHead = (head: string): string =>
  head
    .toLowerCase()
    .replace(/[^\p{L}\s]/gu, "")
    .trim();

function plainItem(document: Document, block: Range & { readonly content: Range }): Item {
  const text = document.plain(block.content);
  const mark = /^\W*\[(.)\]/u.exec(text)?.[1];
  const status = mark ? (/[xX✓✔]/u.test(mark) ? "complete" : undefined) : headingMark(text)?.status;
  return {
    text,
    done: status === "complete" || document.isStruck(block.content),
    place: document.place({ from: block.from, to: block.content.to }),
  };
}

function addFiles(
  section: Section,
  files: readonly DeclaredFile[],
): { path: string; index: number }[] {
  return files.map((file) => {
    section.files.push(file);
    return { path: file.path, index: section.files.length - 1 };
  });
}
