/** What the flow commands show: the list, a flow step by step, and the pictures. */
import { afterStep, type Flow, type Step } from "../../core/flow/flow.ts";
import { doerOf, loopOf, marksOf, proofOf } from "../../core/flow/in-words.ts";
import { type FoundFlow, shown } from "../../project.ts";
import type { FlowGraphOutput } from "../shapes.ts";
import type { Drawing, Line } from "./drawing.ts";
import type { Flowchart } from "./mermaid.ts";
import type { Style } from "./style.ts";
import { cutTo, padTo, widthOf, wrapTo } from "./width.ts";

/** As wide as a plan is drawn: lines of this kind are read, not scanned. */
const columns = 80;

const counted = ({ steps }: Flow): string => `${steps.length} step${steps.length === 1 ? "" : "s"}`;

/** `replaces`: it wins over one of ours. */
export function listLines(
  flows: readonly (FoundFlow & { readonly replaces: boolean })[],
  style: Style,
): string[] {
  const widest = Math.max(...flows.map(({ flow }) => widthOf(flow.name)));
  return flows.flatMap(({ flow, from, replaces }) => {
    const name = style.bold(padTo(flow.name, widest));
    const origin = `${shown(from)}${replaces ? ", instead of the built-in one" : ""}`;
    return [
      `${name}  ${counted(flow).padStart(9)}  ${style.dim(origin)}`,
      ...wrapTo(shown(flow.about), columns - 2).map((line) => `  ${line}`),
    ];
  });
}

// ── step by step ───────────────────────────────────────────────────────────────────────────────

export function flowLines({ flow, from }: FoundFlow, style: Style): string[] {
  const widest = Math.max(...flow.steps.map(({ step }) => step.length));
  const stretches = (flow.stretches ?? []).map((each) => each.join("–")).join(" and ");
  const facts = [
    shown(from),
    counted(flow),
    ...(stretches === "" ? [] : [`judged as ${stretches}`]),
  ];
  const [about = "", ...more] = wrapTo(`${flow.name}: ${shown(flow.about)}`, columns);
  return [
    style.bold(flow.name) + about.slice(flow.name.length),
    ...more,
    style.dim(facts.join(", ")),
    "",
    ...flow.steps.flatMap((step) => stepLines(flow, step, widest, style)),
    ...(flow.onward
      ? ["", `After its end: ${flow.onward.flow}, from step ${flow.onward.step} on.`]
      : []),
  ];
}

/** The line of the step, and below it what there is to say about it; a boundary is a line across. */
function stepLines(flow: Flow, step: Step, widest: number, style: Style): string[] {
  const number = step.step.padStart(widest);
  const marks = marksOf(step).map((mark) => ` (${mark})`);
  const doer = cutTo(doerOf(step), 40);
  const room = columns - widest - 2 - widthOf(doer) - 2;
  const title = cutTo(`${shown(step.name)}${marks.join("")}`, room);
  const gap = " ".repeat(room - widthOf(title) + 2);
  const indent = " ".repeat(widest + 2);
  const details = detailsOf(flow, step).flatMap(([label, text]) =>
    wrapTo(shown(text), columns - indent.length - 8).map((line, at) =>
      style.dim(`${indent}${padTo(at === 0 ? label : "", 8)}${line}`),
    ),
  );
  const boundary = step.then?.boundary;
  return [
    `${style.bold(number)}  ${title}${gap}${doer}`,
    ...details,
    ...(boundary
      ? [style.yellow(across(`${shown(boundary.title)}, next: ${shown(boundary.next)}`))]
      : []),
  ];
}

function detailsOf(flow: Flow, step: Step): (readonly [label: string, text: string])[] {
  const { applies, confirms, asks, tracker, rests } = step;
  const details: (readonly [string, string | undefined])[] = [
    ["if", applies?.question],
    ["sets", confirms && `${confirms.line} in ${confirms.file}`],
    ["proof", rests ? undefined : (proofOf(step) ?? "only the state can tell")],
    ["tracker", tracker?.join(", ")],
    ["asks", asks],
    [loopOf(flow, step) === undefined ? "→" : "↺", whereTo(flow, step)],
  ];
  return details.flatMap(([label, text]) => (text === undefined ? [] : [[label, text] as const]));
}

/** Only where it is not just the next of the list. */
function whereTo(flow: Flow, { then, step }: Step): string | undefined {
  if (then?.step === undefined && then?.cycle === undefined) return undefined;
  const next = afterStep(flow, step);
  if (!next) return "done";
  const cycle = next.cycle === "next" ? ", in a new cycle" : "";
  return `${next.step.step}, ${next.step.name}${cycle}`;
}

const across = (text: string): string => {
  const words = `── boundary: ${cutTo(text, columns - 20)} `;
  return words + "─".repeat(Math.max(0, columns - widthOf(words)));
};

// ── pictures ───────────────────────────────────────────────────────────────────────────────────

/** Each step to what follows it; the flow's end is no step. */
const chainOf = (flow: Flow): (Line & { isLoop: boolean })[] =>
  flow.steps.flatMap((step) => {
    const next = afterStep(flow, step.step);
    if (!next) return [];
    const boundary = step.then?.boundary;
    return [
      {
        from: step.step,
        to: next.step.step,
        isLoop: loopOf(flow, step) !== undefined,
        kind: boundary ? "boundary" : undefined,
        label: boundary
          ? cutTo(`boundary: ${boundary.next}`, 40)
          : next.cycle === "next"
            ? "a new cycle"
            : undefined,
      },
    ];
  });

const kindOf = (step: Step): string => (marksOf(step).length > 0 ? "optional" : "pending");

export const flowChart = (flow: Flow): Flowchart => ({
  nodes: flow.steps.map((step) => ({
    id: step.step,
    text: `${step.step}: ${step.name}`,
    kind: kindOf(step),
  })),
  arrows: chainOf(flow),
  looks: {
    pending: "fill:#ffffff,stroke:#8b949e",
    optional: "fill:#f6f8fa,stroke:#8b949e,stroke-dasharray:4",
  },
});

export const flowDrawing = (flow: Flow): Drawing => ({
  label: `${flow.name}: ${counted(flow)}`,
  boxes: flow.steps.map((step) => ({
    id: step.step,
    title: `${step.step}  ${step.name}`,
    facts: [doerOf(step), ...marksOf(step)].join(" · "),
    whole: `${step.name}: ${proofOf(step) ?? "only the state can tell"}`,
    kind: kindOf(step),
  })),
  lines: chainOf(flow).filter(({ isLoop }) => !isLoop),
  loops: chainOf(flow).filter(({ isLoop }) => isLoop),
});

export const flowGraph = ({ flow, from }: FoundFlow): FlowGraphOutput["flows"][number] => ({
  name: flow.name,
  about: flow.about,
  from,
  steps: flow.steps.map((step) => {
    const next = afterStep(flow, step.step);
    const { boundary } = step.then ?? {};
    return {
      step: step.step,
      name: step.name,
      skill: step.skill ?? null,
      mode: step.mode ?? null,
      optional: step.optional === true,
      condition: step.applies?.question ?? null,
      proof: proofOf(step) ?? null,
      confirms: step.confirms ?? null,
      rests: step.rests === true,
      next: next?.step.step ?? "done",
      cycle: next?.cycle ?? "same",
      boundary: boundary ? { title: boundary.title, next: boundary.next } : null,
    };
  }),
  stretches: (flow.stretches ?? []).map((each) => [...each]),
  onward: flow.onward ?? null,
});
