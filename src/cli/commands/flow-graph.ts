/** `autodev flow graph`: a flow step by step, as text, Mermaid, SVG or JSON. */
import { fail, type Result, succeed } from "../../core/failure.ts";
import { nearest } from "../../core/nearest.ts";
import { createPlan, examineFlows, type FoundFlow, openProject, planDisk } from "../../project.ts";
import { jsonOf, print, printError } from "../output.ts";
import { drawSvg } from "../render/drawing.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { flowChart, flowDrawing, flowGraph, flowLines } from "../render/flow.ts";
import { mermaidLines } from "../render/mermaid.ts";
import { type Style, styleFor } from "../render/style.ts";
import type { FlowGraphOutput } from "../shapes.ts";

type Form = "text" | "mermaid" | "svg" | "json";

interface Options {
  as?: Form;
  output?: string;
  json?: boolean;
  color?: boolean;
}

export async function run(name: string | undefined, options: Options): Promise<number> {
  const json = options.json === true;
  const chosen = choose(name);
  if (!chosen.ok) return reportFailure(chosen.failure, json);
  const style = styleFor(options.output === undefined ? options.color : false);
  const drawn = draw(chosen.value, options.as ?? (json ? "json" : "text"), style);
  if (!drawn.ok) return reportFailure(drawn.failure, json);
  if (options.output === undefined) print(drawn.value);
  else {
    const made = await createPlan(process.cwd(), options.output, `${drawn.value}\n`, planDisk);
    if (!made.ok) return reportFailure(made.failure, json);
    printError(`${options.output} is written.`);
  }
  return exitCodes.finished;
}

function choose(name: string | undefined): Result<readonly FoundFlow[]> {
  const { flows, findings } = examineFlows(openProject(process.cwd()).root);
  if (name === undefined) return succeed(flows);
  const found = flows.filter(({ flow }) => flow.name === name);
  if (found.length > 0) return succeed(found);
  const names = flows.map(({ flow }) => flow.name);
  const [near] = nearest(name, names);
  return fail("not-found", `there is no flow ${name} that can be followed`, {
    hint:
      findings.length > 0
        ? "autodev flow check says what is wrong with those of the project"
        : near === undefined
          ? `there are ${names.join(", ")}`
          : `autodev flow graph ${near}`,
  });
}

function draw(flows: readonly FoundFlow[], form: Form, style: Style): Result<string> {
  const [only] = flows;
  if (form === "text")
    return succeed(flows.map((each) => flowLines(each, style).join("\n")).join("\n\n"));
  if (form === "json")
    return succeed(jsonOf({ version: 1, flows: flows.map(flowGraph) } satisfies FlowGraphOutput));
  if (!only || flows.length > 1)
    return fail("usage", `a drawing has one flow; there are ${flows.length}`, {
      hint: `name it: autodev flow graph ${only?.flow.name ?? "<name>"} --as ${form}`,
    });
  return succeed(
    form === "svg"
      ? drawSvg(flowDrawing(only.flow)).trimEnd()
      : mermaidLines(flowChart(only.flow)).join("\n"),
  );
}
