/**
 * Bugs planted in what judges agents, each of which a liar alone may never meet: they show when
 * lies come together, in another order, in other words, or once too often.
 */
import type { Plant } from "./rig.ts";

export const liarBugs: readonly {
  readonly name: string;
  readonly slow?: true;
  /** What it is told by; other failures are not it. */
  readonly seen: RegExp;
  readonly plant: Plant;
}[] = [
  {
    name: "too-many-findings-are-none",
    seen: /: believed/,
    plant: {
      file: "src/core/verification.ts",
      find: "if (!worst) return undefined;",
      replace: "if (!worst || failures.length > 3) return undefined;",
    },
  },
  {
    name: "only-the-last-gate-counts",
    slow: true,
    seen: /: believed/,
    plant: {
      file: "src/core/verification/gates.ts",
      find: "return gates.flatMap((gate)",
      replace: "return gates.slice(-1).flatMap((gate)",
    },
  },
  {
    name: "whoever-miscounts-is-refused",
    slow: true,
    seen: /: refused/,
    plant: {
      file: "src/core/verification/claims.ts",
      find: "if (completed < total) {",
      replace: "if (completed !== phase.tasks.length) {",
    },
  },
  {
    name: "green-by-its-own-word",
    slow: true,
    seen: /: believed/,
    plant: {
      file: "src/core/verification/gates.ts",
      find: "if (passed !== false) return [];",
      replace: 'if (passed !== false || claim.message.includes("green")) return [];',
    },
  },
  {
    name: "one-attempt-too-many",
    slow: true,
    seen: /: believed|failures, not/,
    plant: {
      file: "src/core/plan/progress.ts",
      find: "const over = charged >= most ||",
      replace: "const over = charged > most ||",
    },
  },
];
