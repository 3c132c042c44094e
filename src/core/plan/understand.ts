/**
 * From what a reader found to what it means: ids, dependencies, statuses. Where the document
 * contradicts itself both lines are named; nothing is dropped in silence.
 */
import type { PhaseDraft, PlanDraft } from "./draft.ts";
import { reaches, reduced } from "./graph.ts";
import { normaliseId } from "./ids.ts";
import { type Edge, readOrder } from "./order.ts";
import {
  count,
  type Phase,
  type PhaseStatus,
  type Place,
  type Plan,
  type PlanFinding,
  type Said,
  type SaidStatus,
} from "./plan.ts";
import { isNone, type Phonebook, phonebook } from "./references.ts";
import { readStatus } from "./status.ts";

export interface Understood {
  readonly plan: Plan;
  readonly findings: readonly PlanFinding[];
}

export function understand(draft: PlanDraft, reason: string): Understood {
  const findings: PlanFinding[] = [];
  const ids = draft.phases.map((phase, index) => normaliseId(phase.written) || `p${index + 1}`);
  findings.push(...sameIds(draft, ids));
  const groups = new Map(
    draft.groups.map(({ written, members }) => [
      normaliseId(written),
      members.map((at) => ids[at] ?? ""),
    ]),
  );
  const phones = phonebook(
    draft.phases.map(({ written, name, aliases = [] }, index) => ({
      id: ids[index] ?? "",
      written,
      name,
      aliases,
    })),
    groups,
  );
  const dependencies = readDependencies(draft, ids, phones, findings);
  for (const { message, place } of draft.unread) {
    findings.push(
      finding("unread", place, message, "rewrite it, or see docs/plans.md for what is read"),
    );
  }
  const phases = draft.phases.map((phase, index): Phase => {
    const id = ids[index] ?? "";
    const statuses = saidStatuses(phase, draft, findings);
    return {
      id,
      written: phase.written || phase.name,
      name: phase.name || phase.written,
      dependsOn: dependencies[index] ?? [],
      parallelWith: parallelOf(phase, index, phones, findings),
      ...estimateOf(phase),
      status: settledStatus(phase, statuses, findings),
      statuses,
      tasks: phase.tasks,
      definitionOfDone: phase.definitionOfDone,
      checkpoints: phase.checkpoints,
      files: phase.files,
      commands: phase.commands,
      ...(phase.row ? { row: phase.row } : {}),
      ...(phase.section ? { section: phase.section } : {}),
      place: phase.place,
      ...(phase.box ? { box: phase.box } : {}),
      text: phase.text,
      hasWork: phase.hasWork || phase.tasks.length > 0 || phase.files.length > 0,
    };
  });
  return {
    plan: {
      format: draft.format,
      reason,
      files: draft.files,
      notation: draft.notation,
      phases,
      boxes: {
        ...count(draft.boxes.map(({ item }) => item)),
        outsidePhases: draft.boxes
          .filter(({ phase }) => phase === undefined)
          .map(({ item }) => item),
      },
    },
    findings: [...findings, ...missingHalves(draft, phases)],
  };
}

export const finding = (
  code: PlanFinding["code"],
  place: Place,
  message: string,
  hint: string,
): PlanFinding => ({ code, message, file: place.file, line: place.line, hint });

const called = (phase: { written: string; name: string }): string =>
  phase.written || `"${phase.name}"`;

function sameIds(draft: PlanDraft, ids: readonly string[]): PlanFinding[] {
  const findings: PlanFinding[] = [];
  const first = new Map<string, number>();
  ids.forEach((id, index) => {
    const earlier = first.get(id);
    const [a, b] = [draft.phases[earlier ?? -1], draft.phases[index]];
    if (earlier === undefined || !a || !b) {
      first.set(id, index);
      return;
    }
    const same =
      a.written.toLowerCase().replace(/\s/g, "") === b.written.toLowerCase().replace(/\s/g, "");
    findings.push(
      same
        ? finding(
            "duplicate-id",
            b.place,
            `phase ${called(b)} is there twice: here and on line ${a.place.line}`,
            "give one of them another id",
          )
        : finding(
            "colliding-ids",
            b.place,
            `phases ${a.written} (line ${a.place.line}) and ${b.written} (line ${b.place.line}) both become ${id}`,
            "write one of the two ids in another way",
          ),
    );
  });
  return findings;
}

/** By table, section, or both; else by sentences and drawings; else one after the other. */
function readDependencies(
  draft: PlanDraft,
  ids: readonly string[],
  phones: Phonebook,
  findings: PlanFinding[],
): string[][] {
  const places = new Map(ids.map((id, index) => [id, index]));
  const wanted = ids.map(() => new Set<string>());
  const stated = ids.map(() => false);
  const byPart = ids.map(() => new Map<string, { ids: Set<string>; place: Place; text: string }>());
  draft.phases.forEach((phase, index) => {
    for (const said of phase.dependsOn) {
      const references = phones.list(said.text, index);
      if (said.loose && references.ids.length === 0 && !isNone(said.text)) continue;
      stated[index] = true;
      for (const id of references.ids) wanted[index]?.add(id);
      const part = said.where === "table" ? "table" : "section";
      const known = byPart[index]?.get(part);
      if (known) for (const id of references.ids) known.ids.add(id);
      else
        byPart[index]?.set(part, {
          ids: new Set(references.ids),
          place: said.place,
          text: said.text,
        });
      if (!said.loose) findings.push(...unresolved(phase, said, references));
      else
        for (const each of references.unknown) findings.push(unknownDependency(phase, said, each));
    }
  });
  draft.phases.forEach((phase, index) => {
    for (const said of phase.blocks) {
      for (const id of phones.list(said.text, index).ids) {
        const at = places.get(id) ?? -1;
        stated[at] = true;
        wanted[at]?.add(ids[index] ?? "");
      }
    }
  });
  if (!stated.some(Boolean)) return orderOtherwise(draft, ids, phones, findings);
  const graph = new Map(ids.map((id, index) => [id, [...(wanted[index] ?? [])]]));
  draft.phases.forEach((phase, index) => {
    const [table, section] = [byPart[index]?.get("table"), byPart[index]?.get("section")];
    if (!table || !section || sameOrder(table.ids, section.ids, graph)) return;
    findings.push(
      finding(
        "contradiction",
        section.place,
        `phase ${called(phase)} depends on ${listed(table.ids)} by the table (line ${table.place.line}), on ${listed(section.ids)} by its section (line ${section.place.line}); it waits for all of them`,
        "make both say the same",
      ),
    );
  });
  return wanted.map((each) => inOrder(each, places));
}

const listed = (ids: ReadonlySet<string>): string =>
  ids.size === 0 ? "nothing" : [...ids].join(", ");

const inOrder = (wanted: ReadonlySet<string>, places: ReadonlyMap<string, number>): string[] =>
  [...wanted].sort((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));

/** "0, 1" and "1" say the same when 1 depends on 0. */
function sameOrder(
  a: ReadonlySet<string>,
  b: ReadonlySet<string>,
  graph: ReadonlyMap<string, readonly string[]>,
): boolean {
  if (a.size === b.size && [...a].every((id) => b.has(id))) return true;
  const [left, right] = [reduced(a, graph), reduced(b, graph)];
  return left.size === right.size && [...left].every((id) => right.has(id));
}

function unresolved(
  phase: PhaseDraft,
  said: Said,
  references: { unknown: readonly string[]; unread: readonly string[] },
): PlanFinding[] {
  return [
    ...references.unknown.map((each) => unknownDependency(phase, said, each)),
    ...references.unread.map((each) =>
      finding(
        "unread",
        said.place,
        `phase ${called(phase)} depends on "${each}", which is no phase of this plan`,
        "name a phase, or write none and move the remark elsewhere",
      ),
    ),
  ];
}

const unknownDependency = (phase: PhaseDraft, said: Said, each: string): PlanFinding =>
  finding(
    "unknown-dependency",
    said.place,
    `phase ${called(phase)} depends on ${each}, and there is no such phase`,
    "correct the id, or add the phase",
  );

function orderOtherwise(
  draft: PlanDraft,
  ids: readonly string[],
  phones: Phonebook,
  findings: PlanFinding[],
): string[][] {
  const { edges, mentioned, unread } = readOrder(draft.hints, phones, (phase) => ids[phase] ?? "");
  const real = edges.filter((edge) => edge.dependsOn !== undefined);
  if (real.length === 0) {
    for (const { message, place } of unread) {
      findings.push(
        finding(
          "unread",
          place,
          `${message}; as no dependency is stated in words, each phase waits for the one before it`,
          "add a Depends On column, or a line **Depends On**: … to each phase",
        ),
      );
    }
    return ids.map((_, index) => (index === 0 ? [] : [ids[index - 1] ?? ""]));
  }
  for (const { message, place } of unread) {
    findings.push(
      finding(
        "unread",
        place,
        message,
        "add a Depends On column, or a line **Depends On**: … to each phase",
      ),
    );
  }
  const wanted = new Map<string, Set<string>>(ids.map((id) => [id, new Set()]));
  for (const { phase, dependsOn } of withoutLoops(real)) {
    if (dependsOn !== undefined) wanted.get(phase)?.add(dependsOn);
  }
  // A phase that no sentence and no drawing mentions comes where it stands.
  ids.forEach((id, index) => {
    const before = ids[index - 1];
    if (before !== undefined && !mentioned.has(id)) wanted.get(id)?.add(before);
  });
  const places = new Map(ids.map((id, index) => [id, index]));
  return ids.map((id) => inOrder(wanted.get(id) ?? new Set(), places));
}

/** Of two sentences that contradict each other, the first counts; a table would be an error. */
function withoutLoops(edges: readonly Edge[]): Edge[] {
  const graph = new Map<string, string[]>();
  return edges.filter(({ phase, dependsOn = "" }) => {
    if (reaches(graph, dependsOn, phase)) return false;
    graph.set(phase, [...(graph.get(phase) ?? []), dependsOn]);
    return true;
  });
}

function parallelOf(
  phase: PhaseDraft,
  index: number,
  phones: Phonebook,
  findings: PlanFinding[],
): readonly string[] {
  const ids = new Set<string>();
  for (const said of phase.parallelWith) {
    if (/^(?:yes|no|✅|❌|y|n|true|false|是|否)\b/iu.test(said.text)) continue;
    const references = phones.list(said.text, index);
    for (const id of references.ids) ids.add(id);
    for (const each of references.unknown) {
      findings.push(
        finding(
          "unread",
          said.place,
          `phase ${called(phase)} is to run with ${each}, and there is no such phase`,
          "correct the id",
        ),
      );
    }
  }
  return [...ids];
}

/** Points only: "8", "8 pts", "8 points". Days and shirt sizes are no points. */
function estimateOf(phase: PhaseDraft): { estimate?: number } {
  for (const { text } of phase.estimate) {
    const match =
      /^~?\s*(\d{1,6}(?:\.\d{1,6})?)\s*(?:pts?|points?|sp|story points?|点|ポイント|баллов|балла|punkte|puntos|pontos)?\.?\s*(?:\([^)]*\))?$/iu.exec(
        text.trim(),
      );
    if (match?.[1] !== undefined) return { estimate: Number(match[1]) };
  }
  return {};
}

function saidStatuses(phase: PhaseDraft, draft: PlanDraft, findings: PlanFinding[]): SaidStatus[] {
  const statuses: SaidStatus[] = [];
  for (const said of phase.status) {
    const status = readStatus(said.text, draft.notation.legend);
    if (status === undefined) {
      if (said.where === "table" || said.where === "section")
        statuses.push({ ...said, status: "pending", silent: true });
      continue;
    }
    statuses.push({ ...said, status });
    if (status === "unknown") {
      findings.push(
        finding(
          "unread",
          said.place,
          `the status of phase ${called(phase)}, "${said.text}", is none that we know`,
          "use pending, in progress, complete, failed, blocked or skipped, or ⬜ 🔄 ✅ ❌ ⏸️ ⏭️",
        ),
      );
    }
  }
  return statuses;
}

function settledStatus(
  phase: PhaseDraft,
  statuses: readonly SaidStatus[],
  findings: PlanFinding[],
): PhaseStatus {
  const items = [...phase.tasks, ...phase.definitionOfDone].filter(
    (item) => item.box && !item.optional,
  );
  const boxes = count(items);
  const [first] = statuses.filter(({ silent, status }) => !silent && status !== "unknown");
  for (const other of statuses) {
    if (!first || other.status === first.status || other.status === "unknown" || other.silent)
      continue;
    findings.push(
      finding(
        "contradiction",
        other.place,
        `phase ${called(phase)} is ${first.status} on line ${first.place.line} and ${other.status} on line ${other.place.line}`,
        "make both say the same; a run goes by its own records",
      ),
    );
  }
  if (phase.struck && !first) return "skipped";
  if (!first) {
    if (statuses.length > 0 && statuses.every(({ status }) => status === "unknown"))
      return "unknown";
    return boxes.done > 0
      ? boxes.done === boxes.total
        ? "complete"
        : "running"
      : derivedFrom(phase);
  }
  const open = items.find((item) => !item.done);
  const ticked = items.find((item) => item.done);
  if (first.status === "complete" && open) {
    findings.push(
      finding(
        "contradiction",
        first.place,
        `phase ${called(phase)} is complete on line ${first.place.line}, but ${boxes.total - boxes.done} of its ${boxes.total} boxes are open (the first on line ${open.place.line})`,
        "tick the boxes or set the status back",
      ),
    );
  } else if (first.status === "pending" && ticked) {
    findings.push(
      finding(
        "contradiction",
        first.place,
        `phase ${called(phase)} is pending on line ${first.place.line}, but ${boxes.done} of its ${boxes.total} boxes are ticked (the first on line ${ticked.place.line})`,
        "set the status or untick the boxes",
      ),
    );
  }
  return first.status;
}

/** Without boxes and without a status: what its tasks show, if they show anything. */
function derivedFrom(phase: PhaseDraft): PhaseStatus {
  const { total, done } = count(phase.tasks);
  if (done === 0) return "pending";
  return done === total ? "complete" : "running";
}

/** A row without a section, a section without a row. */
function missingHalves(draft: PlanDraft, phases: readonly Phase[]): PlanFinding[] {
  if (!draft.hasTable) return [];
  return phases.flatMap((phase, index) => {
    const source = draft.phases[index];
    if (!source) return [];
    if (!phase.section) {
      return [
        finding(
          "phase-without-section",
          phase.place,
          `phase ${called(source)} is in the table and has no section`,
          `add a section "Phase ${called(source)}: …" with its tasks`,
        ),
      ];
    }
    if (!phase.row) {
      return [
        finding(
          "section-without-row",
          phase.place,
          `phase ${called(source)} has a section and is not in the table`,
          "add its row to the table",
        ),
      ];
    }
    return [];
  });
}
