/** What `autodev plan check` finds; the sentences are `planFindingTable`'s. */
import type { PlanFindingCode } from "../plan/plan.ts";
import type { Remedy } from "./explained.ts";

export const planRemedies: Readonly<Record<PlanFindingCode, Remedy>> = {
  "no-phases": {
    causes: ["a document that is no plan", "a format that was taken for another"],
    wayOut: [
      "`autodev plan new` shows what a plan looks like",
      "`--format <format>` says how to read it",
    ],
  },
  "duplicate-id": {
    causes: ["a phase was copied and its id not changed"],
    wayOut: ["give one of the two another id; both lines are named"],
  },
  "colliding-ids": {
    causes: ["ids that differ only in punctuation or case: `2A` and `2-a`"],
    wayOut: ["rename one of them: files and branches are named after the id"],
  },
  "self-dependency": {
    causes: ["a row was copied with its dependencies"],
    wayOut: ["remove the phase from its own dependencies"],
  },
  "unknown-dependency": {
    causes: ["a misspelt id", "the phase was removed or renamed"],
    wayOut: ["name a phase that is there, or drop the dependency"],
  },
  cycle: {
    causes: ["a dependency that was written the wrong way round"],
    wayOut: ["remove one of them; the message shows the circle and its lines"],
  },
  "phase-without-section": {
    causes: ["the overview was written first", "a section whose heading has another id"],
    wayOut: ["write its section (`### Phase 2A: …`), or remove the row"],
  },
  "section-without-row": {
    causes: ["a phase was added and the overview forgotten"],
    wayOut: ["add its row, with what it waits for, or remove the section"],
  },
  "nothing-to-do": {
    causes: ["a heading with prose only"],
    wayOut: ["list its tasks as boxes: `- [ ] …`"],
  },
  contradiction: {
    causes: ["one of table, section and boxes was brought up to date, the others were not"],
    wayOut: ["make both lines say the same; `autodev plan tick` changes all of them at once"],
  },
  unread: {
    causes: ["dependencies or statuses in words that we do not know"],
    wayOut: ["write ids, `none`, or a status of docs/reference/plans.md"],
  },
  "shared-file": {
    causes: ["two phases of one batch that touch the same module"],
    wayOut: ["let one depend on the other, or give the file to one of them"],
  },
  "no-tasks": {
    causes: ["a phase described in prose"],
    wayOut: ["list its tasks as boxes: `- [ ] …`; an agent reports on those"],
  },
  "unchecked-tasks": {
    causes: ["nothing in the phase says how it is known to be done"],
    wayOut: ["add a definition of done, or name the tests"],
  },
  destructive: {
    causes: ["a command that cannot be undone, in the text or in a code block"],
    wayOut: ["make sure that it can only hit what it should, or take it out of the plan"],
  },
  placeholder: {
    causes: ["a template that was not filled in"],
    wayOut: ["say what is meant: an agent would guess"],
  },
  "parallel-depends": {
    causes: ["“Parallel With” and “Depends On” name the same phase"],
    wayOut: ["take it out of one of the two; they never overlap as it is"],
  },
  "boxes-outside": {
    causes: ["check lists for people, before or after the phases"],
    wayOut: ["nothing, if they are no work; else move them into a phase"],
  },
};
