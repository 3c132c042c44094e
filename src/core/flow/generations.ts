/**
 * The three generations of the state file and how their steps correspond. Steps are matched by
 * name; the number only breaks ties ("Run Tests" stands twice in existing-code).
 */
export type Generation = 1 | 2 | 3;

/** Generation 2 had three step lists for existing code, told apart by their length. */
export type Variant = 12 | 13 | 14;
const variants: readonly Variant[] = [13, 14, 12];

interface Row {
  readonly flow: "greenfield" | "existing-code";
  readonly name: string;
  /** What generation 1 called it, where that differs. */
  readonly oldName?: string;
  readonly gen1: readonly string[];
  readonly gen2: Readonly<Partial<Record<Variant, string>>>;
  readonly gen3: string;
  /** The step is gone; whoever stands on it goes on at `gen3`, not yet begun. */
  readonly moved?: true;
}

const same = (step: string): Readonly<Record<Variant, string>> => ({
  12: step,
  13: step,
  14: step,
});
const green = (name: string, gen1: string[], gen2: string | null, gen3: string): Row => ({
  flow: "greenfield",
  name,
  gen1,
  gen2: gen2 === null ? {} : same(gen2),
  gen3,
});
const existing = (
  name: string,
  gen1: string[],
  gen2: readonly [number | null, number | null, number | null],
  gen3: string,
  more: Partial<Row> = {},
): Row => ({
  flow: "existing-code",
  name,
  gen1,
  gen2: Object.fromEntries(
    ([12, 13, 14] as const).flatMap((variant, at) => {
      const step = gen2[at];
      return step === null || step === undefined ? [] : [[variant, String(step)]];
    }),
  ),
  gen3,
  ...more,
});

export const generationTable: readonly Row[] = [
  green("Problem", ["0"], "1", "1"),
  green("Research", ["1", "1b"], "2", "2"),
  green("Plan", ["2"], "3", "3"),
  green("UI Design", ["2a"], "4", "4"),
  green("Decompose", ["3"], "5", "5"),
  green("Implement", ["4"], "6", "6"),
  green("Run Tests", ["5"], "7", "7"),
  green("Security Audit", ["5b"], "8", "8"),
  green("Performance Test", ["5c"], "9", "9"),
  green("Deploy", ["6"], "10", "10"),
  green("Retrospective", [], null, "11"),
  existing("Document", ["pre"], [1, 1, 1], "1"),
  existing("Architecture Baseline Scan", [], [null, null, null], "2"),
  existing("Test Spec", ["2b"], [2, 2, 2], "3", { oldName: "Blackbox Test Spec" }),
  existing("Code Testability Revision", [], [null, 3, 3], "4"),
  existing("Decompose Tests", ["2c"], [3, 4, 4], "5"),
  existing("Implement Tests", ["2d"], [4, 5, 5], "6"),
  existing("Run Tests", [], [5, 6, 6], "7"),
  existing("Refactor", ["2e"], [6, 7, 7], "8"),
  existing("UI Design", ["2ea"], [null, null, null], "9", { moved: true }),
  existing("New Task", ["2f"], [7, 8, 8], "9"),
  existing("Implement", ["2g"], [8, 9, 9], "10"),
  existing("Run Tests", ["2h"], [9, 10, 10], "11"),
  existing("Test-Spec Sync", [], [null, null, null], "12"),
  existing("Update Docs", [], [null, null, 11], "13"),
  existing("Security Audit", ["2hb"], [10, 11, 12], "14"),
  existing("Performance Test", ["2hc"], [11, 12, 13], "15"),
  existing("Deploy", ["2i"], [12, 13, 14], "16"),
  existing("Retrospective", [], [null, null, null], "17"),
];

export interface OldStep {
  readonly flow: "greenfield" | "existing-code";
  readonly step: string;
  readonly name: string;
  readonly moved: boolean;
  readonly variant: Variant;
}

/** Generation 1 named no flow: its step codes and names tell. */
export function fromGeneration1(step: string, name: string): OldStep | undefined {
  const code = step.toLowerCase();
  const byCode = generationTable.find((row) => row.gen1.includes(code));
  const named = generationTable.filter((row) => row.gen1.length > 0 && called(row, name));
  const exact = named.find((row) => row.gen1.includes(code));
  if (exact) return oldStep(exact, 13);
  if (named.length === 1) return oldStep(named[0] as Row, 13);
  if (named.length > 1) {
    const sameFlow = named.filter((row) => row.flow === byCode?.flow);
    return sameFlow.length === 1 ? oldStep(sameFlow[0] as Row, 13) : undefined;
  }
  return name === "" && byCode ? oldStep(byCode, 13) : undefined;
}

export function fromGeneration2(flow: string, step: string, name: string): OldStep | undefined {
  const rows = generationTable.filter((row) => row.flow === flow && !row.moved);
  const numbered = rows.filter((row) => Object.values(row.gen2).includes(step));
  const named = rows.filter((row) => called(row, name) && Object.keys(row.gen2).length > 0);
  const exact = named.filter((row) => numbered.includes(row));
  const row =
    exact.length === 1
      ? exact[0]
      : named.length === 1
        ? named[0]
        : name === "" && numbered.length === 1
          ? numbered[0]
          : undefined;
  if (!row) return undefined;
  return oldStep(row, variants.find((variant) => row.gen2[variant] === step) ?? 13);
}

/** The number and name that an older generation gives to a step of ours; undefined: it has none. */
export function toGeneration(
  generation: 1 | 2,
  variant: Variant,
  flow: string,
  step: string,
): { step: string; name: string } | undefined {
  if (step === "done") return { step: "done", name: "Done" };
  const row = generationTable.find(
    (each) => each.flow === flow && each.gen3 === step && !each.moved,
  );
  if (!row) return undefined;
  if (generation === 1) {
    const code = row.gen1[0];
    return code === undefined ? undefined : { step: code, name: row.oldName ?? row.name };
  }
  const number = row.gen2[variant];
  return number === undefined ? undefined : { step: number, name: row.name };
}

const called = (row: Row, name: string): boolean => {
  const wanted = name.toLowerCase();
  return row.name.toLowerCase() === wanted || row.oldName?.toLowerCase() === wanted;
};

const oldStep = (row: Row, variant: Variant): OldStep => ({
  flow: row.flow,
  step: row.gen3,
  name: row.moved ? "New Task" : row.name,
  moved: row.moved === true,
  variant,
});
