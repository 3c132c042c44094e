/** What the plan commands show: the list of phases, what is wrong, and the pictures. */
import { type CompiledPlan, isOver } from "../../core/plan/compile.ts";
import { directNeeds } from "../../core/plan/graph.ts";
import { drawLanes } from "../../core/plan/lanes.ts";
import { count, type Phase, type PhaseStatus, type PlanFinding } from "../../core/plan/plan.ts";
import { shown } from "../../project.ts";
import type { PlanGraphOutput } from "../shapes.ts";
import type { Drawing } from "./drawing.ts";
import type { Flowchart } from "./mermaid.ts";
import type { Style } from "./style.ts";
import { cutTo, padTo, widthOf } from "./width.ts";

/** No wider than most terminals, even when they are wider: lines of this kind are read, not scanned. */
const columns = 80;

export const statusSign: Record<PhaseStatus, string> = {
  pending: "○",
  running: "◐",
  complete: "●",
  failed: "✗",
  blocked: "■",
  skipped: "◌",
  unknown: "?",
};

export function headline({ plan, estimate, batches, criticalPath }: CompiledPlan): string[] {
  const { phases, boxes } = plan;
  const done = phases.filter(isOver).length;
  const facts = [
    `${phases.length} ${phases.length === 1 ? "phase" : "phases"}`,
    ...(done > 0 ? [`${done} done`] : []),
    ...(estimate.total > 0 ? [`${estimate.total} points, ${estimate.remaining} left`] : []),
    ...(boxes.total > 0 ? [`${boxes.done} of ${boxes.total} boxes ticked`] : []),
  ];
  const byId = new Map(phases.map((phase) => [phase.id, phase]));
  const names = (ids: readonly string[]): string[] => ids.map((id) => byId.get(id)?.written ?? id);
  const steps = batches.slice(0, columns).map((batch) => names(batch.slice(0, columns)).join(", "));
  const chain = names(criticalPath.slice(0, columns)).join(" → ");
  const points = criticalPath.reduce((sum, id) => sum + (byId.get(id)?.estimate ?? 0), 0);
  const weight = points > 0 ? ` (${points} points)` : "";
  return [
    source(plan),
    facts.join(", "),
    ...(batches.length > 1 ? [`batches:       ${cutTo(steps.join(" → "), columns - 15)}`] : []),
    ...(criticalPath.length > 1
      ? [`longest chain: ${cutTo(chain, columns - 15 - weight.length)}${weight}`]
      : []),
  ].map(shown);
}

/** Which file, read as what and why; of a long path the end. */
function source({ files, format, reason }: CompiledPlan["plan"]): string {
  const more = files.length > 1 ? ` and ${files.length - 1} more` : "";
  const rest = cutTo(`${more}: ${format}, ${reason}`, columns / 2);
  const path = files[0] ?? "";
  const room = columns - widthOf(rest);
  return `${
    widthOf(path) <= room
      ? path
      : `…${Array.from(path)
          .slice(1 - Math.floor(room / 2))
          .join("")}`
  }${rest}`;
}

/** The phases as a graph with lanes, or as a list when lanes would be too many. */
export function graphLines(compiled: CompiledPlan, style: Style): string[] {
  const { phases } = compiled.plan;
  const byId = new Map(phases.map((phase) => [phase.id, phase]));
  const critical = new Set(compiled.criticalPath);
  const rows = drawLanes(phases, (id) => statusSign[byId.get(id)?.status ?? "unknown"]);
  const longestId = Math.min(
    12,
    Math.max(1, ...phases.map(({ written }) => widthOf(shown(written)))),
  );
  if (!rows)
    return compiled.batches.flatMap((batch, index) =>
      batchLines(batch, index, byId, longestId, style),
    );
  const widest = Math.max(
    ...rows.filter(({ id }) => id !== undefined).map(({ lanes }) => widthOf(lanes)),
  );
  const lines = rows.map(({ lanes, id }) => {
    const phase = id === undefined ? undefined : byId.get(id);
    if (!phase) return painted(lanes, style);
    const left = `${padTo(lanes, widest)}  `;
    return `${painted(left, style)}${label(phase, longestId, columns - widthOf(left), style, critical.has(phase.id))}`;
  });
  const drawn = new Set(rows.flatMap(({ id }) => id ?? []));
  const rest = phases.filter(({ id }) => !drawn.has(id));
  return [
    ...lines,
    ...rest.map(
      (phase) => `${style.red("✗")} ${label(phase, longestId, columns - 2, style, false)}`,
    ),
  ];
}

const painted = (lanes: string, style: Style): string =>
  lanes.replace(/[●◐✗■◌?○]|[^●◐✗■◌?○\s]+/gu, (part) =>
    part === "●"
      ? style.green(part)
      : part === "◐"
        ? style.yellow(part)
        : part === "✗" || part === "■"
          ? style.red(part)
          : /[○◌?]/u.test(part)
            ? part
            : style.dim(part),
  );

function batchLines(
  batch: readonly string[],
  index: number,
  byId: ReadonlyMap<string, Phase>,
  longestId: number,
  style: Style,
): string[] {
  return [
    style.dim(`batch ${index + 1}`),
    ...batch.flatMap((id) => {
      const phase = byId.get(id);
      if (!phase) return [];
      const needs =
        phase.dependsOn.length === 0
          ? ""
          : ` ← ${phase.dependsOn
              .slice(0, 40)
              .map((need) => byId.get(need)?.written ?? need)
              .join(", ")}`;
      return [
        cutTo(
          `  ${statusSign[phase.status]} ${padTo(shown(phase.written), longestId)}  ${shown(phase.name)}${shown(needs)}`,
          columns,
        ),
      ];
    }),
  ];
}

/** Id, name, points and how many boxes are ticked. */
function label(
  phase: Phase,
  longestId: number,
  room: number,
  style: Style,
  critical: boolean,
): string {
  const boxes = count([...phase.tasks, ...phase.definitionOfDone]);
  const facts = [
    phase.estimate === undefined ? "" : `${phase.estimate} pt`,
    boxes.total === 0 ? "" : `${boxes.done}/${boxes.total}`,
  ];
  const right = facts.filter(Boolean).join("  ");
  const id = padTo(cutTo(shown(phase.written), longestId), longestId);
  const name = cutTo(
    shown(phase.name === phase.written ? "" : phase.name),
    Math.max(8, room - longestId - widthOf(right) - 4),
  );
  const gap = " ".repeat(Math.max(2, room - longestId - 2 - widthOf(name) - widthOf(right)));
  return `${critical ? style.bold(id) : id}  ${name}${right === "" ? "" : gap + style.dim(right)}`.trimEnd();
}

/** Of a plan or of a flow. */
interface Placed extends Omit<PlanFinding, "code"> {
  readonly code: string;
}

export function findingLines(
  findings: readonly Placed[],
  level: "error" | "warning",
  style: Style,
): string[] {
  const paint = level === "error" ? style.red : style.yellow;
  return findings.flatMap(({ code, message, file, line, hint }) => [
    `${shown(`${file}:${line}`)}  ${paint(level)} ${code}`,
    `  ${shown(message)}`,
    `  ${style.dim(`→ ${shown(hint)}`)}`,
  ]);
}

export const graphOutput = ({ plan, batches, criticalPath }: CompiledPlan): PlanGraphOutput => ({
  version: 1,
  files: [...plan.files],
  nodes: plan.phases.map(({ id, written, name, status, estimate }) => ({
    id,
    written,
    name,
    status,
    estimate: estimate ?? null,
  })),
  edges: plan.phases.flatMap(({ id, dependsOn }) => dependsOn.map((from) => ({ from, to: id }))),
  batches: batches.map((batch) => [...batch]),
  criticalPath: [...criticalPath],
});

const looks: Record<PhaseStatus, string> = {
  pending: "fill:#ffffff,stroke:#8b949e",
  running: "fill:#fff8c5,stroke:#9a6700",
  complete: "fill:#dafbe1,stroke:#1a7f37",
  failed: "fill:#ffebe9,stroke:#cf222e",
  blocked: "fill:#ffebe9,stroke:#cf222e,stroke-dasharray:4",
  skipped: "fill:#f6f8fa,stroke:#8b949e,stroke-dasharray:4",
  unknown: "fill:#ffffff,stroke:#8b949e",
};

export const planChart = ({ plan }: CompiledPlan): Flowchart => ({
  nodes: plan.phases.map(({ id, written, name, status }) => ({
    id,
    text: name === written ? written : `${written}: ${name}`,
    kind: status,
  })),
  arrows: plan.phases.flatMap(({ id, dependsOn }) => dependsOn.map((from) => ({ from, to: id }))),
  looks,
});

const statusWords: Record<PhaseStatus, string> = {
  pending: "not started",
  running: "in progress",
  complete: "complete",
  failed: "failed",
  blocked: "blocked",
  skipped: "skipped",
  unknown: "status unknown",
};

export function planDrawing({ plan, criticalPath }: CompiledPlan): Drawing {
  const critical = new Set(
    criticalPath.slice(1).map((id, index) => `${criticalPath[index]}\0${id}`),
  );
  return {
    label: `${plan.files[0] ?? "plan"}: ${plan.phases.length} phases`,
    boxes: plan.phases.map((phase) => ({
      id: phase.id,
      title: phase.name === phase.written ? phase.name : `${phase.written}  ${phase.name}`,
      facts: boxFacts(phase),
      whole: `${phase.written}: ${phase.name}`,
      kind: phase.status,
    })),
    lines: [...directNeeds(plan.phases)].flatMap(([to, needs]) =>
      needs.map((from) => ({
        from,
        to,
        kind: critical.has(`${from}\0${to}`) ? "critical" : undefined,
      })),
    ),
  };
}

function boxFacts(phase: Phase): string {
  const { total, done } = count([...phase.tasks, ...phase.definitionOfDone]);
  return [
    statusWords[phase.status],
    ...(phase.estimate === undefined ? [] : [`${phase.estimate} pt`]),
    ...(total === 0 ? [] : [`${done}/${total}`]),
  ].join(" · ");
}
