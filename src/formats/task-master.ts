/**
 * claude-task-master's `tasks.json`: a task is a phase, its subtasks are the phase's tasks. Newer
 * files hold several lists under tags; the current one is read (`state.json` beside says which).
 */
import { fail, type Result, succeed } from "../core/failure.ts";
import type { PhaseDraft, PlanDraft } from "../core/plan/draft.ts";
import type { Item, Place, Said } from "../core/plan/plan.ts";
import type { Format } from "./format.ts";
import { type JsonNode, jsonTree } from "./json-tree.ts";
import { placesIn, type Source } from "./places.ts";

export const taskMaster: Format = {
  name: "task-master",
  detect({ sources }) {
    const [source] = sources;
    if (!source || !/^\uFEFF?\s*[{[]/u.test(source.text)) return undefined;
    const root = treeOf(source);
    const lists = root ? listsOf(root) : [];
    if (lists.length === 0) return undefined;
    const chosen = currentTag(sources, lists);
    return lists.length > 1 || lists[0]?.tag !== undefined
      ? `tasks under tags, of which "${chosen?.tag}" is read`
      : "a list of tasks in JSON";
  },
  read({ sources }): Result<PlanDraft> {
    const [source] = sources;
    if (!source) return fail("plan-unreadable", "there is no file");
    const root = treeOf(source);
    const broken = root ? undefined : syntaxError(source);
    if (broken) return broken;
    const lists = root ? listsOf(root) : [];
    const chosen = currentTag(sources, lists);
    if (!chosen) {
      return wrong(
        source,
        0,
        "this JSON holds no list of tasks",
        'name the tasks.json of Task Master: { "tasks": [ { "id": 1, "title": … } ] }, or the same under a tag',
      );
    }
    const phases: PhaseDraft[] = [];
    for (const task of chosen.tasks.members.values()) {
      const read = readTask(source, task);
      if (!read.ok) return read;
      phases.push(read.value);
    }
    return succeed({
      format: "task-master",
      phases,
      groups: [],
      boxes: [],
      hints: [],
      notation: {
        legend: new Map(),
        words: {
          pending: "pending",
          running: "in-progress",
          complete: "done",
          blocked: "blocked",
          skipped: "cancelled",
        },
      },
      hasTable: false,
      unread: [],
      files: [source.file],
    });
  },
};

interface TaskList {
  readonly tag?: string;
  readonly tasks: JsonNode;
}

const bom = (source: Source): number => (source.text.startsWith("\uFEFF") ? 1 : 0);

const trees = new WeakMap<Source, { tree: JsonNode | undefined }>();

/** Undefined: not JSON. Asked for by detection and by reading: read once. */
function treeOf(source: Source): JsonNode | undefined {
  const known = trees.get(source) ?? {
    tree: syntaxError(source) ? undefined : jsonTree(source.text, bom(source)),
  };
  trees.set(source, known);
  return known.tree;
}

function listsOf(root: JsonNode): TaskList[] {
  if (root.type !== "object") return [];
  const own = root.members.get("tasks");
  if (own && own.type === "array") return looksRight(own) ? [{ tasks: own }] : [];
  return [...root.members].flatMap(([tag, value]) => {
    const tasks = value.type === "object" ? value.members.get("tasks") : undefined;
    return tasks?.type === "array" && looksRight(tasks) ? [{ tag, tasks }] : [];
  });
}

/** Other tools have a tasks.json, too: ours has titles. */
const looksRight = ({ members }: JsonNode): boolean => {
  const tasks = [...members.values()];
  return (
    tasks.length === 0 || tasks.some(({ members: keys }) => keys.has("id") && keys.has("title"))
  );
};

function currentTag(sources: readonly Source[], lists: readonly TaskList[]): TaskList | undefined {
  const state = sources.find(({ file }) => /(?:^|\/)state\.json$/u.test(file));
  const current = state && /"currentTag"\s*:\s*"([^"]+)"/u.exec(state.text)?.[1];
  return (
    lists.find(({ tag }) => tag === current) ??
    lists.find(({ tag }) => tag === "master") ??
    lists[0]
  );
}

const text = (node: JsonNode | undefined): string =>
  node && (node.type === "string" || node.type === "number") ? String(node.value) : "";

function readTask(source: Source, task: JsonNode): Result<PhaseDraft> {
  const at = task.from;
  if (task.type !== "object")
    return wrong(
      source,
      at,
      "a task that is no object",
      'each task needs "id", "title" and "status"',
    );
  const id = task.members.get("id");
  if (text(id) === "")
    return wrong(source, id?.from ?? at, 'a task without "id"', "give it a number");
  const dependencies = task.members.get("dependencies") ?? task.members.get("depends_on");
  if (dependencies && dependencies.type !== "array" && dependencies.type !== "null") {
    return wrong(
      source,
      dependencies.from,
      `"dependencies" of task ${text(id)} is no list`,
      "write [] or [1, 2]",
    );
  }
  const status = task.members.get("status");
  const subtasks = task.members.get("subtasks");
  if (subtasks && subtasks.type !== "array" && subtasks.type !== "null") {
    return wrong(source, subtasks.from, `"subtasks" of task ${text(id)} is no list`, "write []");
  }
  const strategy = task.members.get("testStrategy");
  return succeed({
    written: text(id),
    name: text(task.members.get("title")),
    place: nodePlace(source, task),
    section: nodePlace(source, task),
    dependsOn: dependencies
      ? [...dependencies.members.values()]
          .map((each) => said(source, each))
          .concat(noneIf(source, dependencies))
      : [],
    blocks: [],
    parallelWith: [],
    estimate: [],
    status: status?.type === "string" && text(status) !== "" ? [valueOf(source, status)] : [],
    tasks: [...(subtasks?.members.values() ?? [])].map((subtask) => readSubtask(source, subtask)),
    definitionOfDone:
      strategy && text(strategy).trim() !== ""
        ? [{ text: text(strategy), done: false, place: nodePlace(source, strategy) }]
        : [],
    checkpoints: [],
    files: [],
    commands: [],
    text:
      [task.members.get("description"), task.members.get("details"), strategy]
        .map(text)
        .filter(Boolean)
        .join("\n\n") || text(task.members.get("title")),
    hasWork: true,
  });
}

const noneIf = (source: Source, list: JsonNode): Said[] =>
  list.members.size === 0
    ? [{ text: "none", place: nodePlace(source, list), where: "section" }]
    : [];

const said = (source: Source, node: JsonNode): Said => ({
  text: text(node),
  place: nodePlace(source, node),
  where: "section",
});

/** A string's value without its quotes: what an edit replaces. */
const valueOf = (source: Source, node: JsonNode): Said => ({
  text: text(node),
  place: placeOf(source, node.from + 1, node.to - 1),
  where: "section",
});

function readSubtask(source: Source, subtask: JsonNode): Item {
  const status = subtask.members.get("status");
  return {
    text: text(subtask.members.get("title")),
    done: /^(?:done|completed?)$/u.test(text(status)),
    place: nodePlace(source, subtask),
    ...(status && status.type === "string"
      ? { box: placeOf(source, status.from + 1, status.to - 1) }
      : {}),
  };
}

const nodePlace = (source: Source, node: JsonNode): Place => placeOf(source, node.from, node.to);

const places = new WeakMap<Source, ReturnType<typeof placesIn>>();

function placeOf(source: Source, from: number, to: number): Place {
  const place = places.get(source) ?? placesIn(source);
  places.set(source, place);
  return place({ from, to });
}

function wrong(source: Source, at: number, what: string, hint: string): ReturnType<typeof fail> {
  const { line } = placeOf(source, at, at);
  return fail("plan-wrong-shape", `${source.file}:${line}: ${what}`, {
    file: source.file,
    line,
    hint,
  });
}

function syntaxError(source: Source): ReturnType<typeof fail> | undefined {
  try {
    JSON.parse(source.text.slice(bom(source)));
    return undefined;
  } catch {
    const at = failsAt(source.text, bom(source));
    const { line, column } = placeOf(source, at, at);
    return fail("plan-wrong-shape", `${source.file}:${line}: this is not JSON (column ${column})`, {
      file: source.file,
      line,
      hint: "a comma too many or a bracket too few, just before that place",
    });
  }
}

/** Where reading stops: not every message tells, but the longest beginning that is fine does. */
function failsAt(text: string, from: number): number {
  let low = from;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (isFineSoFar(text.slice(from, middle))) low = middle;
    else high = middle - 1;
  }
  return Math.min(low, text.length);
}

function isFineSoFar(beginning: string): boolean {
  try {
    JSON.parse(beginning);
    return true;
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    const position = /position (\d+)/u.exec(message)?.[1];
    return /Unexpected end|Unterminated/u.test(message) || Number(position) >= beginning.length;
  }
}
