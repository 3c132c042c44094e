/** Plans as people write them, only longer: the same text for the same number of phases. */

/** A block opens with one phase, fans out to ten and joins them again; five streams side by side. */
const blockSize = 12;
const streams = 5;
/** One phase in five is over. */
const isOver = (at: number, size: number): boolean => at * 5 < size;

/** Phases that are still to be done, spread over the plan; fewer if there are not so many. */
export const openPhases = (size: number, wanted: number): string[] => {
  const first = Math.ceil(size / 5);
  const length = Math.min(wanted, size - first);
  const step = (size - first) / length;
  return Array.from({ length }, (_, at) => String(first + Math.floor(at * step) + 1));
};

const subjects = ["Invoice", "Ledger", "Customer", "Session", "Report", "Search", "Webhook"];
const verbs = ["reader", "writer", "index", "migration", "endpoint", "cache", "form", "export"];
const nameOf = (at: number): string =>
  `${subjects[at % subjects.length]} ${verbs[at % verbs.length]} ${at + 1}`;

/** What each phase waits for, by its number from 0, in the plan's order. */
export function dependenciesOf(at: number): number[] {
  const block = Math.floor(at / blockSize);
  const inBlock = at % blockSize;
  const first = block * blockSize;
  if (inBlock === 0) {
    // The join of the stream's block before; now and then that of its neighbour, too.
    const before = [...(block % 4 === 3 ? [block - streams - 1] : []), block - streams];
    return before.filter((each) => each >= 0).map((each) => (each + 1) * blockSize - 1);
  }
  if (inBlock === blockSize - 1) {
    return Array.from({ length: blockSize - 2 }, (_, index) => first + 1 + index);
  }
  return inBlock > 2 && inBlock % 3 === 0 ? [first, first + inBlock - 2] : [first];
}

function said(at: number): string {
  const dependencies = dependenciesOf(at);
  const [from = 0] = dependencies;
  return dependencies.length > 3
    ? `Phases ${from + 1}–${from + dependencies.length}`
    : dependencies.map((each) => `Phase ${each + 1}`).join(", ");
}

export function bigPlan(size: number): string {
  const lines = [
    `# Migration in ${size} phases`,
    "",
    "| Phase | Name | Depends On | Parallel With | Estimate | Status |",
    "|-------|------|------------|---------------|----------|--------|",
  ];
  for (let at = 0; at < size; at++) {
    const depends = said(at) || "-";
    const beside = at % blockSize === 1 && at + 1 < size ? String(at + 2) : "-";
    const status = isOver(at, size) ? "✅" : "⬜";
    lines.push(
      `| ${at + 1} | ${nameOf(at)} | ${depends} | ${beside} | ${1 + (at % 8)} | ${status} |`,
    );
  }
  lines.push("", "**Legend**: ⬜ Not started | 🔄 In progress | ✅ Complete | ❌ Failed", "");
  for (let at = 0; at < size; at++) lines.push(...section(at, size));
  return `${lines.join("\n")}\n`;
}

/** What one more phase that is done changes: three boxes and the status in the table. */
export const editsOfPhase = 4;

function section(at: number, size: number): string[] {
  const box = isOver(at, size) ? "- [x]" : "- [ ]";
  const name = nameOf(at);
  const file = `src/part-${at % 97}/unit-${at + 1}.ts`;
  return [
    `### Phase ${at + 1}: ${name}`,
    "",
    `> **Depends On**: ${said(at) || "None"}`,
    "",
    ...(at % 2 === 0 ? [`The ${name} keeps what was there before.`, ""] : []),
    "#### Tasks",
    "",
    `${box} Write \`unit${at + 1}\` with its tests`,
    `${box} Use it`,
    "",
    `##### File: \`${file}\` (CREATE)`,
    "",
    ...(at % 3 === 0 ? ["```ts", `export const unit${at + 1} = ${at};`, "```", ""] : []),
    "#### Definition of Done",
    "",
    `${box} All tests pass`,
    "",
  ];
}

/** What claude-task-master keeps in `.taskmaster/tasks/tasks.json`. */
export function bigTaskList(size: number): string {
  const subtasks = (at: number): object[] =>
    ["Write it", "Test it", "Use it"].map((title, index) => ({
      id: index + 1,
      title: `${title}: ${nameOf(at)}`,
      description: `${title}, with an example for each case.`,
      details: "See the document of the interface.",
      status: isOver(at, size) ? "done" : "pending",
      dependencies: index === 0 ? [] : [index],
    }));
  const tasks = Array.from({ length: size }, (_, at) => ({
    id: at + 1,
    title: nameOf(at),
    description: `The ${nameOf(at)} keeps what was there before.`,
    details: `Write src/part-${at % 97}/unit-${at + 1}.ts and its tests.`,
    testStrategy: "All tests pass.",
    status: isOver(at, size) ? "done" : "pending",
    dependencies: dependenciesOf(at).map((each) => each + 1),
    priority: ["high", "medium", "low"][at % 3],
    subtasks: subtasks(at),
  }));
  const created = "2026-01-01T00:00:00.000Z";
  const metadata = { created, updated: created, description: "Tasks for master context" };
  return `${JSON.stringify({ master: { tasks, metadata } }, null, 2)}\n`;
}
