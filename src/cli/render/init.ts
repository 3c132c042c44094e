/** What `autodev init` does to each file, as lines and as JSON. */
import { calls } from "../../core/host/calls.ts";
import { hosts } from "../../core/host/hosts.ts";
import type { Outcome } from "../../core/host/outcome.ts";
import { type InitRequest, type PlannedFile, shown } from "../../project.ts";
import type { InitOutput } from "../shapes.ts";
import type { Style } from "./style.ts";

const marks: Record<Outcome["is"], string> = {
  create: "+",
  edit: "~",
  remove: "-",
  same: "=",
  left: "!",
};

/** One line a file; `whole`: with the lines that change. */
export function fileLines(
  planned: readonly PlannedFile[],
  whole: boolean,
  style: Style,
): readonly string[] {
  const paint: Record<Outcome["is"], (text: string) => string> = {
    create: style.green,
    edit: style.green,
    remove: style.red,
    same: style.dim,
    left: style.yellow,
  };
  return planned.flatMap((each) => {
    const { file, outcome } = each;
    if (outcome.is === "same") return [];
    const line = (text: string): string => paint[outcome.is](`${marks[outcome.is]} ${shown(text)}`);
    if (outcome.is === "left") {
      return [
        line(`${file}:${outcome.line}: ${outcome.why}; it is left`),
        `  → ${shown(outcome.hint)}`,
      ];
    }
    const { removed, added } = changedLines(each);
    const lines = [
      ...removed.map((text) => style.red(`    -${shown(text)}`)),
      ...added.map((text) => style.green(`    +${shown(text)}`)),
    ];
    return [line(file), ...(whole ? lines : [])];
  });
}

export function noteLines(
  { do: doing, hosts: names }: InitRequest,
  planned: readonly PlannedFile[],
  { dryRun }: { readonly dryRun?: boolean },
): readonly string[] {
  const isDone = planned.every(({ outcome }) => outcome.is === "same");
  if (doing === "take") {
    if (isDone) return ["Nothing of init is here."];
    return dryRun ? ["Nothing was changed (--dry-run)."] : [];
  }
  return [
    ...(isDone ? ["Everything is as it should be; nothing was changed."] : []),
    ...(dryRun ? ["Nothing was changed (--dry-run)."] : [""]),
    ...(dryRun
      ? []
      : names.map((name) => {
          const { title, calls: place } = hosts[name];
          const typed = calls.map((call) => [place.sign + call.name, call.takes ?? ""].join(" "));
          return `${title}: ${typed.map((each) => each.trim()).join(", ")}`;
        })),
  ];
}

export const outputOf = (
  root: string,
  request: InitRequest,
  planned: readonly PlannedFile[],
  notes: readonly string[],
  { dryRun }: { readonly dryRun?: boolean },
): InitOutput => ({
  version: 1,
  root,
  dryRun: dryRun === true,
  remove: request.do === "take",
  hosts: [...request.hosts],
  autobuild: request.do === "take" ? null : request.autobuild,
  files: planned.map((each) => {
    const { file, outcome } = each;
    const left = outcome.is === "left" ? outcome : undefined;
    return {
      file,
      change: outcome.is,
      line: left?.line ?? null,
      why: left?.why ?? null,
      hint: left?.hint ?? null,
      ...changedLines(each),
    };
  }),
  notes: [...notes],
});

/** From the first line that differs to the last. */
function changedLines({ before = "", after = "" }: PlannedFile): {
  removed: string[];
  added: string[];
} {
  const [old, now] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) head++;
  let tail = 0;
  while (
    tail < Math.min(old.length, now.length) - head &&
    old.at(-1 - tail) === now.at(-1 - tail)
  ) {
    tail++;
  }
  const between = (lines: readonly string[]): string[] =>
    lines.slice(head, lines.length - tail).map((line) => line.replace(/\r?\n$/u, ""));
  return { removed: between(old), added: between(now) };
}

const linesOf = (text: string): string[] =>
  text === "" ? [] : text.split(/(?<=\n)/u).filter((line) => line !== "");
