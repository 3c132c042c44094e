/** A plan as a document of ours: so that a team that comes from another tool can settle on one. */
import { normaliseId } from "./ids.ts";
import type { Item, Phase, PhaseStatus, Plan } from "./plan.ts";
import { canonicalMark } from "./status.ts";
import { unitWord } from "./words.ts";

const marks: Record<PhaseStatus, string> = { ...canonicalMark, unknown: "?" };

export function writeSuperplan(plan: Plan, title: string): string {
  const written = new Map(plan.phases.map((phase) => [phase.id, idText(phase)]));
  const ids = (list: readonly string[]): string =>
    list.map((id) => written.get(id) ?? id).join(", ") || "-";
  const rows = plan.phases.map((phase) =>
    [
      idText(phase),
      cell(phase.name),
      ids(phase.dependsOn),
      ids(phase.parallelWith),
      phase.estimate === undefined ? "-" : String(phase.estimate),
      marks[phase.status],
    ].join(" | "),
  );
  return [
    `# ${line(title)}`,
    "",
    "## Phase Overview",
    "",
    "| Phase | Name | Depends On | Parallel With | Estimate | Status |",
    "|-------|------|------------|---------------|----------|--------|",
    ...rows.map((row) => `| ${row} |`),
    "",
    "**Legend**: ⬜ Not started | 🔄 In progress | ✅ Complete | ❌ Failed | ⏸️ Blocked | ⏭️ Skipped",
    "",
    "## Phases",
    "",
    ...plan.phases.flatMap((phase) => section(phase, ids(phase.dependsOn))),
  ].join("\n");
}

/** As it was written, if that is filed under the same id; an id that is a unit's word is named. */
function idText({ written, id }: Phase): string {
  const token = /^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u;
  const text = [written, id].find((each) => token.test(each) && normaliseId(each) === id) ?? id;
  return unitFirst.test(text) ? `Phase ${text}` : text;
}

const unitFirst = new RegExp(`^(?:${unitWord.source})`, "iu");

const headed = (id: string): string => (id.startsWith("Phase ") ? id : `Phase ${id}`);

function section(phase: Phase, dependsOn: string): string[] {
  const files = phase.files.flatMap(({ path, change, blocks }) => [
    `##### File: \`${path}\`${change === "touch" ? "" : ` (${change.toUpperCase()})`}`,
    "",
    ...blocks.flatMap(({ info, text }) => [...fenced(info, text), ""]),
  ]);
  const commands = phase.commands.flatMap(({ text }) => [...fenced("sh", text), ""]);
  return [
    `### ${headed(idText(phase))}: ${line(phase.name)}`,
    "",
    `> **Depends On**: ${dependsOn === "-" ? "None" : dependsOn}`,
    "",
    ...(phase.tasks.length > 0 ? ["#### Tasks", "", ...phase.tasks.map(box), ""] : []),
    ...files,
    ...(commands.length > 0 ? ["#### Commands", "", ...commands] : []),
    ...(phase.definitionOfDone.length > 0
      ? ["#### Definition of Done", "", ...phase.definitionOfDone.map(box), ""]
      : []),
    ...(phase.checkpoints.length > 0
      ? ["#### Checkpoints", "", ...phase.checkpoints.map(box), ""]
      : []),
  ];
}

const box = (item: Item): string =>
  `- [${item.done ? "x" : " "}]${item.optional ? "*" : ""} ${line(item.text) || "…"}`;

const line = (text: string): string => text.replace(/\s+/g, " ").trim();
const cell = (text: string): string => line(text).replace(/\\?\|/g, "\\|");

function fenced(info: string, text: string): string[] {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return [`${fence}${info}`, text.replace(/\r?\n$/, ""), fence];
}

/** What `plan new` writes: a small plan that passes its own check, with the rules as comments. */
export const planTemplate = (title: string): string => `# ${line(title)}

<!-- The overview: who waits for whom. Ids are yours (0, 1, 2A, 4.5, WU-01). -->
<!-- Depends On: ids, ranges (1–4), "all", or - for none. Parallel With is a wish. -->

| Phase | Name | Depends On | Parallel With | Estimate | Status |
|-------|------|------------|---------------|----------|--------|
| 1 | Skeleton | - | - | 2 | ⬜ |
| 2A | First half | 1 | 2B | 5 | ⬜ |
| 2B | Second half | 1 | 2A | 3 | ⬜ |
| 3 | Together | 2A, 2B | - | 3 | ⬜ |

**Legend**: ⬜ Not started | 🔄 In progress | ✅ Complete | ❌ Failed | ⏸️ Blocked | ⏭️ Skipped

<!-- A section for each phase: one agent does it, alone, with only this text before it. -->

### Phase 1: Skeleton

> **Depends On**: None

#### Tasks

- [ ] Create the module with one exported function and a failing test for it
- [ ] Make the test pass

##### File: \`src/example.ts\` (CREATE)

<!-- Files are optional. A phase may touch only what it declares, if it declares any. -->

#### Definition of Done

<!-- How anybody can tell that it is done. The gates (lint, types, tests) run anyway. -->

- [ ] All tests pass
- [ ] The function is documented

### Phase 2A: First half

> **Depends On**: Phase 1

#### Tasks

- [ ] Read the input and report what is wrong with it, with tests

#### Definition of Done

- [ ] Bad input gives an error that names the line

### Phase 2B: Second half

> **Depends On**: Phase 1

#### Tasks

- [ ] Write the output, with tests

#### Definition of Done

- [ ] The output of every example is compared in a test

### Phase 3: Together

> **Depends On**: Phase 2A, Phase 2B

#### Tasks

- [ ] Join both halves in one command, with an end-to-end test

#### Definition of Done

- [ ] The command works on the examples of the README
`;
