/**
 * The compiler: what is wrong with a plan, before a single token is spent on it. Each check is a
 * named function over an understood plan; errors block, warnings only a strict run.
 */
import { batchesOf, criticalPathOf, cyclesOf } from "./graph.ts";
import { type Phase, type Place, type Plan, type PlanFinding, planFindingTable } from "./plan.ts";
import { finding, type Understood } from "./understand.ts";

export interface CompiledPlan {
  readonly plan: Plan;
  readonly batches: readonly (readonly string[])[];
  readonly criticalPath: readonly string[];
  /** Points; phases without an estimate add nothing. */
  readonly estimate: {
    readonly total: number;
    readonly remaining: number;
    readonly missing: number;
  };
  readonly errors: readonly PlanFinding[];
  readonly warnings: readonly PlanFinding[];
}

type Check = (plan: Plan, batches: readonly (readonly string[])[]) => readonly PlanFinding[];

const checks: readonly Check[] = [
  noPhases,
  selfDependencies,
  cycles,
  nothingToDo,
  sharedFiles,
  uncheckedTasks,
  destructiveOperations,
  placeholders,
  impossibleParallels,
  boxesOutside,
];

export function compilePlan({ plan, findings }: Understood): CompiledPlan {
  const batches = batchesOf(plan.phases);
  const order = new Map(plan.files.map((file, index) => [file, index]));
  const all = [...findings, ...checks.flatMap((check) => check(plan, batches))].sort(
    (a, b) => (order.get(a.file) ?? 0) - (order.get(b.file) ?? 0) || a.line - b.line,
  );
  const blocks = blockingIn(plan);
  return {
    plan,
    batches,
    criticalPath: criticalPathOf(plan.phases, batches),
    estimate: estimateOf(plan.phases),
    errors: all.filter(blocks),
    warnings: all.filter((each) => !blocks(each)),
  };
}

const errorCodes: ReadonlySet<string> = new Set(
  planFindingTable.flatMap(([code, level]) => (level === "error" ? [code] : [])),
);

/** What is done needs no section and no tasks any more. */
function blockingIn(plan: Plan): (each: PlanFinding) => boolean {
  const over = new Set(
    plan.phases.filter(isOver).map(({ place }) => `${place.file}:${place.line}`),
  );
  return ({ code, file, line }) =>
    errorCodes.has(code) &&
    !(
      (code === "phase-without-section" || code === "nothing-to-do") &&
      over.has(`${file}:${line}`)
    );
}

export const isOver = (phase: Phase): boolean =>
  phase.status === "complete" || phase.status === "skipped";

function estimateOf(phases: readonly Phase[]): CompiledPlan["estimate"] {
  let total = 0;
  let remaining = 0;
  let missing = 0;
  for (const phase of phases) {
    if (phase.estimate === undefined) missing++;
    total += phase.estimate ?? 0;
    if (!isOver(phase)) remaining += phase.estimate ?? 0;
  }
  return { total, remaining, missing };
}

function noPhases(plan: Plan): readonly PlanFinding[] {
  if (plan.phases.length > 0) return [];
  return [
    {
      code: "no-phases",
      message:
        "there are no phases here: no overview table, no section “Phase 1: …”, no list of boxes under a heading",
      file: plan.files[0] ?? "",
      line: 1,
      hint: "autodev plan new shows what a plan looks like; --format says which format this is",
    },
  ];
}

function selfDependencies({ phases }: Plan): readonly PlanFinding[] {
  return phases
    .filter(({ id, dependsOn }) => dependsOn.includes(id))
    .map((phase) =>
      finding(
        "self-dependency",
        phase.row ?? phase.place,
        `phase ${phase.written} depends on itself`,
        "remove it from its own dependencies",
      ),
    );
}

function cycles({ phases }: Plan): readonly PlanFinding[] {
  const byId = new Map(phases.map((phase) => [phase.id, phase]));
  return cyclesOf(phases).map((cycle) => {
    const walked = [...cycle, cycle[0] ?? ""].map((id) => byId.get(id)?.written ?? id);
    const first = byId.get(cycle[0] ?? "");
    const place = first?.row ?? first?.place;
    const lines = cycle
      .map((id) => byId.get(id))
      .flatMap((phase) => (phase ? [(phase.row ?? phase.place).line] : []));
    return finding(
      "cycle",
      place as Place,
      `these phases wait for each other: ${walked.join(" -> ")} (lines ${lines.join(", ")})`,
      "remove one of these dependencies",
    );
  });
}

function nothingToDo({ phases }: Plan): readonly PlanFinding[] {
  return phases.flatMap((phase) => {
    if (!phase.section || phase.tasks.length > 0 || phase.files.length > 0) return [];
    if (!phase.hasWork && phase.definitionOfDone.length === 0) {
      return [
        finding(
          "nothing-to-do",
          phase.place,
          `phase ${phase.written} says nothing that could be done`,
          "list its tasks as boxes: - [ ] …",
        ),
      ];
    }
    if (isOver(phase)) return [];
    return [
      finding(
        "no-tasks",
        phase.place,
        `phase ${phase.written} lists no tasks: an agent gets only its text`,
        "list its tasks as boxes: - [ ] …",
      ),
    ];
  });
}

/** Two phases that may run at once and both declare a file would trample each other. */
function sharedFiles(
  { phases }: Plan,
  batches: readonly (readonly string[])[],
): readonly PlanFinding[] {
  const level = new Map(batches.flatMap((batch, index) => batch.map((id) => [id, index] as const)));
  const byId = new Map(phases.map((phase) => [phase.id, phase]));
  const owners = new Map<string, { phase: Phase; place: Place }[]>();
  for (const phase of phases) {
    for (const { path, place } of phase.files) {
      const list = owners.get(path) ?? [];
      if (list.at(-1)?.phase !== phase) owners.set(path, [...list, { phase, place }]);
    }
  }
  const waitsFor = (from: string, to: string): boolean => {
    const floor = level.get(to) ?? 0;
    const seen = new Set<string>();
    const next = [from];
    for (let id = next.pop(); id !== undefined; id = next.pop()) {
      if (id === to) return true;
      if (seen.has(id) || (level.get(id) ?? 0) <= floor) continue;
      seen.add(id);
      next.push(...(byId.get(id)?.dependsOn ?? []));
    }
    return false;
  };
  return [...owners].flatMap(([path, list]) => {
    if (list.length < 2) return [];
    // In order of levels, neighbours that are ordered make all pairs ordered.
    const sorted = [...list].sort(
      (a, b) => (level.get(a.phase.id) ?? 0) - (level.get(b.phase.id) ?? 0),
    );
    return sorted.slice(1).flatMap((later, index) => {
      const earlier = sorted[index];
      if (!earlier || isOver(earlier.phase) || isOver(later.phase)) return [];
      if (waitsFor(later.phase.id, earlier.phase.id) || waitsFor(earlier.phase.id, later.phase.id))
        return [];
      return [
        finding(
          "shared-file",
          later.place,
          `phases ${earlier.phase.written} and ${later.phase.written} may run at once and both declare ${path} (lines ${earlier.place.line} and ${later.place.line})`,
          "let one depend on the other, or give the file to one of them",
        ),
      ];
    });
  });
}

function uncheckedTasks({ phases }: Plan): readonly PlanFinding[] {
  return phases
    .filter(
      (phase) =>
        !isOver(phase) &&
        phase.tasks.length > 0 &&
        phase.definitionOfDone.length === 0 &&
        !phase.files.some(({ path }) =>
          /(?:^|[/._-])(?:tests?|specs?|__tests__)(?:[/._-]|$)/i.test(path),
        ) &&
        !/\b(?:tests?|pytest|vitest|jest|verif(?:y|ied|ication)|expected)\b|测试|テスト|тест/iu.test(
          phase.text,
        ),
    )
    .map((phase) =>
      finding(
        "unchecked-tasks",
        phase.place,
        `nothing in phase ${phase.written} says how its tasks are checked`,
        "add a definition of done, or name the tests",
      ),
    );
}

const destructive: readonly (readonly [RegExp, string])[] = [
  [/\brm\s+-(?=[a-z]*r)(?=[a-z]*f)[a-z]+\b/i, "rm -rf"],
  [/\bDROP\s+(?:TABLE|DATABASE|SCHEMA)\b/i, "DROP"],
  [/\bTRUNCATE\s+(?:TABLE\s+)?\w/i, "TRUNCATE"],
  [/\bDELETE\s+FROM\s+[\w."`]+\s*(?:;|$)/im, "DELETE without WHERE"],
  [/\bgit\s+push\b[^\n]*(?:--force(?!-with-lease)\b|\s-f\b)/i, "git push --force"],
  [/\bgit\s+reset\s+--hard\b/i, "git reset --hard"],
  [/\bgit\s+clean\s+-[a-z]*f/i, "git clean -f"],
  [/\bgit\s+(?:filter-branch|filter-repo)\b/i, "git filter-branch"],
  [/\bterraform\s+destroy\b/i, "terraform destroy"],
  [/\bkubectl\s+delete\b/i, "kubectl delete"],
  [/\bmkfs(?:\.\w+)?\b/i, "mkfs"],
  [/\bdd\s+[^\n]*\bof=\/dev\//i, "dd to a device"],
  [/\bdocker\s+(?:system|volume)\s+prune\b/i, "docker prune"],
  [/\bchmod\s+-R\s+777\b/i, "chmod -R 777"],
];

function destructiveOperations({ phases }: Plan): readonly PlanFinding[] {
  return phases.flatMap((phase) => {
    if (isOver(phase)) return [];
    return destructive.flatMap(([pattern, name]) => {
      const match = pattern.exec(phase.text);
      if (!match) return [];
      const start = phase.section ?? phase.place;
      const line =
        start.line + (phase.text.slice(0, match.index).match(/\r\n|\r|\n/g)?.length ?? 0);
      return [
        {
          code: "destructive" as const,
          message: `phase ${phase.written} contains ${name}: "${lineAround(phase.text, match.index)}"`,
          file: start.file,
          line,
          hint: "make sure that it can only hit what it should, or take it out of the plan",
        },
      ];
    });
  });
}

function lineAround(text: string, at: number): string {
  const start = Math.max(text.lastIndexOf("\n", at), text.lastIndexOf("\r", at)) + 1;
  return (text.slice(start, start + 80).split(/[\r\n]/)[0] ?? "").trim();
}

const placeholder =
  /(?<![\w\]!])\[(?:(?!x\]|X\])[A-Z][A-Za-z ]{1,30}|[a-z]+ [a-z ]{2,30}|\.\.\.|…|\?+)\](?![([:])|\bTBD\b|\bTODO:|\bFIXME\b|<(?:placeholder|your[^>]*|insert[^>]*|name|todo|tbd)>|\?\?\?|\bXXX\b|\blorem ipsum\b/u;

function placeholders({ phases }: Plan): readonly PlanFinding[] {
  return phases.flatMap((phase) => {
    if (isOver(phase)) return [];
    const places: [string, Place][] = [
      [phase.name, phase.place],
      ...[...phase.tasks, ...phase.definitionOfDone].map((item): [string, Place] => [
        item.text,
        item.place,
      ]),
      ...phase.files.map((file): [string, Place] => [file.path, file.place]),
    ];
    return places.flatMap(([text, place]) => {
      const match = placeholder.exec(text);
      return match
        ? [
            finding(
              "placeholder",
              place,
              `phase ${phase.written} has a placeholder, "${match[0]}": "${text.slice(0, 80)}"`,
              "say what is meant",
            ),
          ]
        : [];
    });
  });
}

function impossibleParallels({ phases }: Plan): readonly PlanFinding[] {
  const byId = new Map(phases.map((phase) => [phase.id, phase]));
  return phases.flatMap((phase) =>
    phase.parallelWith
      .filter(
        (other) =>
          phase.dependsOn.includes(other) ||
          (byId.get(other)?.dependsOn.includes(phase.id) ?? false),
      )
      .filter(
        (other) =>
          phase.dependsOn.includes(other) || !byId.get(other)?.parallelWith.includes(phase.id),
      )
      .map((other) =>
        finding(
          "parallel-depends",
          phase.row ?? phase.place,
          `phase ${phase.written} is to run with ${byId.get(other)?.written ?? other} and one waits for the other: they never overlap`,
          "take it out of one of the two columns",
        ),
      ),
  );
}

function boxesOutside({ boxes, phases }: Plan): readonly PlanFinding[] {
  const [first] = boxes.outsidePhases;
  if (!first || phases.length === 0) return [];
  const number = boxes.outsidePhases.length;
  return [
    finding(
      "boxes-outside",
      first.place,
      `${number} ${number === 1 ? "box stands" : "boxes stand"} outside every phase (the first here): no phase ticks ${number === 1 ? "it" : "them"}`,
      "nothing, if they are not work; else move them into a phase",
    ),
  ];
}
