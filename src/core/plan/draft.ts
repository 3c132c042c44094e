/**
 * What a reader found in a document, before anybody asks what it means: readers say where things
 * stand, `understand` says what they mean. So a new format is a reader and nothing else.
 */
import type { DeclaredFile, Item, Place, PlanFormat, Said, SpelledCommand } from "./plan.ts";
import type { Notation } from "./status.ts";

export interface PhaseDraft {
  /** As written, without the unit's word: "2A"; empty: it has none. */
  readonly written: string;
  readonly name: string;
  /** Other names that the document calls it by. */
  readonly aliases?: readonly string[];
  readonly place: Place;
  readonly row?: Place;
  readonly section?: Place;
  readonly dependsOn: readonly Said[];
  /** The other way round: phases that wait for this one. */
  readonly blocks: readonly Said[];
  readonly parallelWith: readonly Said[];
  readonly estimate: readonly Said[];
  readonly status: readonly Said[];
  readonly tasks: readonly Item[];
  readonly definitionOfDone: readonly Item[];
  readonly checkpoints: readonly Item[];
  readonly files: readonly DeclaredFile[];
  readonly commands: readonly SpelledCommand[];
  readonly text: string;
  /** Lists, tables, code: something beside fields and prose. */
  readonly hasWork: boolean;
  /** Struck through as a whole. */
  readonly struck?: boolean;
  /** The phase is itself a box, besides those in it. */
  readonly box?: Place;
}

export interface PlanDraft {
  readonly format: PlanFormat;
  readonly phases: readonly PhaseDraft[];
  /** Headings that only hold phases: "Phase 2" around 2A and 2B. */
  readonly groups: readonly { readonly written: string; readonly members: readonly number[] }[];
  /** Every box of the document, and the phase it stands in. */
  readonly boxes: readonly { readonly item: Item; readonly phase?: number }[];
  /** Sentences and drawings that may state an order. */
  readonly hints: readonly Hint[];
  readonly notation: Notation;
  /** There is a table that lists the phases: each of them should have a row. */
  readonly hasTable: boolean;
  /** What the reader itself could not read. */
  readonly unread: readonly { readonly message: string; readonly place: Place }[];
  readonly files: readonly string[];
}

export interface Hint {
  readonly kind: "sentence" | "arrows" | "drawing";
  /** The phase in whose section it stands. */
  readonly phase?: number;
  readonly lines: readonly { readonly text: string; readonly place: Place }[];
}
