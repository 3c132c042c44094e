/** `autodev plan graph`: who waits for whom, as text, Mermaid, SVG or JSON. */
import { fail, type Result, succeed } from "../../core/failure.ts";
import type { CompiledPlan } from "../../core/plan/compile.ts";
import type { PlanFormat } from "../../core/plan/plan.ts";
import { createPlan, openPlan, planDisk } from "../../project.ts";
import { jsonOf, print, printError } from "../output.ts";
import { drawSvg, mostInDrawing } from "../render/drawing.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { mermaidLines } from "../render/mermaid.ts";
import {
  findingLines,
  graphLines,
  graphOutput,
  headline,
  planChart,
  planDrawing,
} from "../render/plan.ts";
import { type Style, styleFor } from "../render/style.ts";

type Form = "text" | "mermaid" | "svg" | "json";

interface Options {
  format?: PlanFormat;
  as?: Form;
  output?: string;
  json?: boolean;
  color?: boolean;
}

export async function run(file: string, options: Options): Promise<number> {
  const json = options.json === true;
  const opened = openPlan(process.cwd(), file, options.format);
  if (!opened.ok) return reportFailure(opened.failure, json);
  const { compiled } = opened.value;
  const [first] = compiled.errors;
  if (compiled.plan.phases.length === 0 && first) {
    const { message, file: where, line, hint } = first;
    return reportFailure({ code: "plan-unreadable", message, file: where, line, hint }, json);
  }
  const style = styleFor(options.output === undefined ? options.color : false);
  const drawn = draw(compiled, options.as ?? (json ? "json" : "text"), style);
  if (!drawn.ok) return reportFailure(drawn.failure, json);
  if (options.output === undefined) print(drawn.value);
  else {
    const made = await createPlan(process.cwd(), options.output, `${drawn.value}\n`, planDisk);
    if (!made.ok) return reportFailure(made.failure, json);
    printError(`${options.output} is written.`);
  }
  for (const line of findingLines(compiled.errors, "error", style)) printError(line);
  return compiled.errors.length > 0 ? exitCodes.failure : exitCodes.finished;
}

function draw(compiled: CompiledPlan, form: Form, style: Style): Result<string> {
  switch (form) {
    case "text":
      return succeed([...headline(compiled), "", ...graphLines(compiled, style)].join("\n"));
    case "mermaid":
      return succeed(mermaidLines(planChart(compiled)).join("\n"));
    case "json":
      return succeed(jsonOf(graphOutput(compiled)));
    case "svg": {
      const { length } = compiled.plan.phases;
      return length <= mostInDrawing
        ? succeed(drawSvg(planDrawing(compiled)).trimEnd())
        : fail("usage", `${length} phases are too many for a drawing (at most ${mostInDrawing})`, {
            hint: "--as text, mermaid or json",
          });
    }
  }
}
