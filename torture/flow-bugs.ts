/** Bugs in the core of flows, each of which the histories have to tell from its rules. */
import type { Plant } from "./rig.ts";

interface FlowBug {
  readonly name: string;
  readonly plant: Plant;
  /** Left to the full tier: others of its kind are tried. */
  readonly slow?: true;
}

const inFlows = (name: string): string => `src/core/flow/${name}.ts`;

export const flowBugs: readonly FlowBug[] = [
  {
    name: "boundary-not-rested",

    plant: {
      file: inFlows("next-move"),
      find: "if (!limits.throughBoundaries) {",
      replace: "if (limits.throughBoundaries) {",
    },
  },
  {
    name: "failed-step-retried-silently",
    slow: true,
    plant: {
      file: inFlows("next-move"),
      find: 'case "failed":\n      return failed(at, step);',
      replace: 'case "failed":\n      return underWay(at, step);',
    },
  },
  {
    name: "optional-step-not-asked",
    slow: true,
    plant: {
      file: inFlows("next-move"),
      find: "if (step.optional && !wanted) {",
      replace: "if (step.optional && wanted) {",
    },
  },
  {
    name: "stuck-for-ever",
    slow: true,
    plant: {
      file: inFlows("next-move"),
      find: "const mostStuck = 2;",
      replace: "const mostStuck = 20;",
    },
  },
  {
    name: "usage-limit-not-kept",
    slow: true,
    plant: {
      file: inFlows("next-move"),
      find: "if (until <= limits.now) return",
      replace: "if (until > limits.now) return",
    },
  },
  {
    name: "cycle-not-counted",
    slow: true,
    plant: {
      file: inFlows("next-move"),
      find: 'const cycle = state.cycle + (next.cycle === "next" ? 1 : 0);',
      replace: "const { cycle } = state;",
    },
  },
  {
    name: "abort-forgotten",
    slow: true,
    plant: {
      file: inFlows("next-move"),
      find: "if ((course.abortedAt ?? 0) > limits.begun)",
      replace: "if ((course.abortedAt ?? 0) > limits.begun + 99)",
    },
  },
  {
    name: "word-taken-for-proof",

    plant: {
      file: inFlows("judge"),
      find: "(proven(done) && proven(finished)",
      replace: "(proven(undefined)",
    },
  },
  {
    name: "fifth-execution",
    slow: true,
    plant: {
      file: inFlows("judge"),
      find: "if (state.retryCount < mostRetries) {",
      replace: "if (state.retryCount <= mostRetries) {",
    },
  },
  {
    name: "breaker-closed-by-itself",
    slow: true,
    plant: {
      file: inFlows("course"),
      find: "isRetry && !isBroken(course, event.step)",
      replace: "!isRetry && !isBroken(course, event.step)",
    },
  },
  {
    name: "reopened-step-left-at-once",
    slow: true,
    plant: {
      file: inFlows("course"),
      find: "reopened: [...course.reopened.filter((step) => step !== event.step), event.step],",
      replace: "reopened: course.reopened,",
    },
  },
  {
    name: "way-back-not-done-again",
    slow: true,
    plant: {
      file: inFlows("course"),
      find: "? { redoneUntil: later(before.step, course.redoneUntil) }",
      replace: "? {}",
    },
  },
  {
    name: "edit-forgets-the-session",
    slow: true,
    plant: {
      file: inFlows("course"),
      find: "if (known && isSame && !doubt) return known;",
      replace: "",
    },
  },
  {
    name: "choice-overruled",
    slow: true,
    plant: { file: inFlows("cross-check"), find: " || course?.chosen === here.step", replace: "" },
  },
  {
    name: "person-overruled-by-folders",

    plant: {
      file: inFlows("cross-check"),
      find: "if (missing && !ahead && !course?.placed) {",
      replace: "if (missing && !ahead) {",
    },
  },
  {
    name: "skipped-step-missed",
    slow: true,
    plant: {
      file: inFlows("cross-check"),
      find: "return state.skipped.includes(step) || (",
      replace: "return (",
    },
  },
  {
    name: "used-up-files-missed",
    slow: true,
    plant: {
      file: inFlows("cross-check"),
      find: "const probe = past ? (leaves ?? done) : done;",
      replace: "const probe = done;",
    },
  },
  {
    name: "answer-for-another-step",
    slow: true,
    plant: {
      file: inFlows("effects"),
      find: "if (subject !== `${flow.flow} ${flow.step}` || cycle !== flow.cycle) return [];",
      replace: "",
    },
  },
  {
    name: "retries-kept-after-success",
    slow: true,
    plant: {
      file: inFlows("evolve"),
      find: 'status: "completed",\n        retryCount: 0,',
      replace: 'status: "completed",',
    },
  },
  {
    name: "old-answer-on-a-new-occasion",
    slow: true,
    plant: {
      file: inFlows("questions"),
      find: "const cause = ({ enteredAt }: Course): string => `event ${enteredAt}`;",
      replace: "const cause = ({ flow }: Course): string => `event ${flow}`;",
    },
  },
  {
    name: "older-file-taken-over",
    slow: true,
    plant: {
      file: inFlows("whereabouts"),
      find: 'if (facts.everRendered(file.path, file.text)) return "older";',
      replace: "",
    },
  },
];
