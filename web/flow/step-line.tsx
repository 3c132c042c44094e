/** The steps in their order, each with its mark, its state in a word and how long it took. */
import type { StepStory } from "../../src/core/board/step-story.ts";
import type { SubStep } from "../../src/core/flow/state.ts";
import type { StepStatus } from "../../src/core/flow/steps.ts";
import { Icon } from "../icon.tsx";
import { lasted } from "../moments.ts";
import { Text } from "../text.tsx";

interface Props {
  readonly steps: readonly StepStatus[];
  readonly chosen: string;
  readonly now: number;
  readonly storyOf: (step: string) => StepStory | undefined;
  readonly subStep: SubStep;
  readonly to: (step: string) => string;
}

export const StepLine = ({ steps, chosen, now, storyOf, subStep, to }: Props) => (
  <nav aria-label="Steps">
    <ol class="steps">
      {steps.map((step) => {
        const tone = toneOf(step.status);
        return (
          <li key={step.step} class="step" data-tone={tone} data-status={step.status}>
            <a href={to(step.step)} aria-current={step.step === chosen ? "true" : undefined}>
              <span class="step-mark num">
                <Mark status={step.status} step={step.step} />
              </span>
              <span class="step-text">
                <span class="step-name">
                  <Text of={step.name} line />
                </span>
                <small class="num">
                  <StepState {...{ step, now }} subStep={subStep} story={storyOf(step.step)} />
                </small>
              </span>
            </a>
          </li>
        );
      })}
    </ol>
  </nav>
);

/** The mark says it for those who see it; how long, or how far, is said to everybody. */
function StepState({
  step: { status, optional },
  subStep,
  story,
  now,
}: {
  step: StepStatus;
  subStep: SubStep;
  story: StepStory | undefined;
  now: number;
}) {
  const more =
    status === "in_progress" && subStep.phase > 0
      ? `sub-step ${subStep.phase}`
      : status === "completed" && story?.endedAt !== undefined
        ? lasted(story.startedAt, story.endedAt, now)
        : status === "not_started" && optional
          ? "optional"
          : undefined;
  if (more === undefined) return <>{wordOf(status)}</>;
  return (
    <>
      <span class="visually-hidden">{wordOf(status)}, </span>
      {more}
    </>
  );
}

const Mark = ({ status, step }: { status: string; step: string }) =>
  status === "completed" ? (
    <Icon is="done" />
  ) : status === "failed" ? (
    <Icon is="failed" />
  ) : status === "skipped" ? (
    <Icon is="skipped" />
  ) : (
    <>{step}</>
  );

const tones: Readonly<Record<string, string>> = {
  completed: "ok",
  in_progress: "info",
  failed: "bad",
  skipped: "quiet",
  not_started: "quiet",
};

/** A word of the user's own is kept and asked about. */
export const toneOf = (status: string): string => tones[status] ?? "warn";

export const wordOf = (status: string): string =>
  status === "not_started" ? "to come" : status.replaceAll("_", " ");
