/** The flow: its steps as a line, and of the one that is looked at, what became of it and what it left. */
import type { StepStory } from "../../src/core/board/step-story.ts";
import { type Flow, stepIn } from "../../src/core/flow/flow.ts";
import { builtInFlows, flowNamed } from "../../src/core/flow/flows/index.ts";
import { stepsOf } from "../../src/core/flow/steps.ts";
import { Text } from "../text.tsx";
import type { View } from "../view.ts";
import { Artifacts } from "./artifacts.tsx";
import { StepLine } from "./step-line.tsx";
import { StepPart } from "./step-part.tsx";

interface Props {
  readonly view: View;
  readonly flows: readonly Flow[];
  readonly step?: string;
  readonly artifact?: string;
}

export function FlowPage({ view, flows: own, step, artifact }: Props) {
  const { board, past } = view;
  const { flow } = board.state;
  // What a project has under the name of one of ours takes its place.
  const flows = [...own, ...builtInFlows];
  if (!flow) return <NoFlow />;
  const steps = stepsOf(flow, flows);
  const known = flowNamed(flow.flow, flows);
  const chosen = step ?? (flow.step === "done" ? steps.at(-1)?.step : flow.step) ?? "";
  const stories = board.flow.steps.filter((story) => story.flow === flow.flow);
  const told = stories.findLast((story) => story.step === chosen);
  const skill = known && stepIn(known, chosen)?.skill;
  return (
    <div class="flow-page">
      <header class="page-head">
        <h1 tabIndex={-1}>
          <Text of={flow.flow} line />
        </h1>
        <p class="muted">
          <Text of={known?.about ?? "a flow of the project's own"} line />
          {flow.cycle > 1 && ` · cycle ${flow.cycle}`}
          {flow.tracker !== undefined && (
            <>
              {" "}
              · tracker <Text of={flow.tracker} line />
            </>
          )}
        </p>
      </header>
      <StepLine
        steps={steps}
        chosen={chosen}
        now={view.now}
        storyOf={(each) => stories.findLast((story) => story.step === each)}
        subStep={flow.subStep}
        to={(each) => view.to({ view: "flow", step: each })}
      />
      <div class="flow-columns">
        <StepPart
          {...{ view, step: chosen }}
          {...(told && { story: told })}
          {...(skill !== undefined && { skill })}
          name={steps.find((each) => each.step === chosen)?.name ?? flow.name}
          status={steps.find((each) => each.step === chosen)?.status ?? flow.status}
        />
        <Artifacts
          view={view}
          step={chosen}
          {...(artifact !== undefined && { artifact })}
          {...commitOf(past, board.flow.steps)}
        />
      </div>
    </div>
  );
}

/** The past of files is what was committed by then. */
function commitOf(past: boolean, steps: readonly StepStory[]): { commit?: string; none?: true } {
  if (!past) return {};
  const commit = steps.findLast((story) => story.commit !== undefined)?.commit;
  return commit === undefined ? { none: true } : { commit };
}

const NoFlow = () => (
  <section class="empty">
    <h1 tabIndex={-1}>No flow has begun here</h1>
    <p>A flow takes a project from a problem statement to a release, in numbered steps.</p>
    <dl>
      <div>
        <dt>
          <code>autodev</code>
        </dt>
        <dd>begins one, or goes on with it</dd>
      </div>
      <div>
        <dt>
          <code>autodev flow list</code>
        </dt>
        <dd>shows which there are</dd>
      </div>
    </dl>
  </section>
);
