/** Backlog.md: a file is a phase; front matter says id, status and dependencies. */
import { isMap, isScalar, isSeq, parseDocument as parseYaml } from "yaml";
import { succeed } from "../core/failure.ts";
import type { Said } from "../core/plan/plan.ts";
import { type Card, cardsDraft, under } from "./card.ts";
import type { Document } from "./document.ts";
import type { Format } from "./format.ts";
import { readSection } from "./section.ts";

export const backlog: Format = {
  name: "backlog",
  detect(input) {
    if (input.sources.some(({ text }) => !/^\uFEFF?---/u.test(text))) return undefined;
    const parsed = input.documents();
    if (!parsed.ok) return undefined;
    const cards = parsed.value.map(frontMatterOf);
    const isCard = cards.length > 0 && cards.every((card) => card?.id && card.title && card.status);
    return isCard
      ? `front matter with id, title and status (${cards.length === 1 ? "one task" : `${cards.length} tasks`})`
      : undefined;
  },
  read(input) {
    const parsed = input.documents();
    if (!parsed.ok) return parsed;
    const cards = parsed.value
      .flatMap((document) => cardOf(document) ?? [])
      .sort((a, b) => natural(a.written, b.written));
    const draft = cardsDraft("backlog", parsed.value, cards);
    const alone = parsed.value.length === 1;
    return succeed({
      ...draft,
      notation: {
        ...draft.notation,
        words: { pending: "To Do", running: "In Progress", complete: "Done" },
      },
      // A single card cannot know the others: what it waits for is outside.
      phases: draft.phases.map((phase) =>
        alone
          ? {
              ...phase,
              dependsOn: phase.dependsOn.map((said) => ({ ...said, loose: true as const })),
            }
          : phase,
      ),
    });
  },
};

const natural = (a: string, b: string): number => a.localeCompare(b, "en", { numeric: true });

interface FrontMatter {
  readonly id?: Said;
  readonly title?: Said;
  readonly status?: Said;
  readonly dependencies: readonly Said[];
}

/** Values with the range of their text, so that a status can be written in place. */
export function frontMatterOf(document: Document): FrontMatter | undefined {
  if (!document.frontMatter) return undefined;
  const { from } = document.frontMatter;
  const yaml = parseYaml(document.raw(document.frontMatter), { logLevel: "silent" });
  if (!isMap(yaml.contents)) return undefined;
  const said = (value: unknown): Said | undefined => {
    if (!isScalar(value) || value.value === null || !value.range) return undefined;
    const [start, end] = value.range;
    const raw = document.text.slice(from + start, from + end);
    const quoted = /^(["'])[\s\S]*\1$/u.test(raw) ? 1 : 0;
    return {
      // 3.10 is an id, not the number 3.1.
      text: typeof value.value === "string" ? value.value : (value.source ?? raw),
      place: document.place({ from: from + start + quoted, to: from + end - quoted }),
      where: "section",
      // A text over several lines is read, not written.
      ...(/[\r\n|>]/u.test(raw) ? { fixed: true as const } : {}),
    };
  };
  const get = (key: string): unknown =>
    isMap(yaml.contents) ? yaml.contents.get(key, true) : undefined;
  const list = get("dependencies");
  const values = isSeq(list) ? list.items.map(said) : [said(list)];
  const [id, title, status] = ["id", "title", "status"].map((key) => said(get(key)));
  return {
    ...(id ? { id } : {}),
    ...(title ? { title } : {}),
    ...(status ? { status } : {}),
    dependencies:
      isSeq(list) && list.items.length === 0 && id
        ? [{ ...id, text: "none" }]
        : values.filter((value) => value !== undefined),
  };
}

function cardOf(document: Document): Card | undefined {
  const front = frontMatterOf(document);
  if (!front?.id) return undefined;
  const written = front.id.text;
  const criteria = readSection(
    document,
    under(document, (text) => /^acceptance criteria$/iu.test(text)),
  );
  const done = readSection(
    document,
    under(document, (text) => /^definition of done$/iu.test(text)),
  );
  const plan = readSection(
    document,
    under(document, (text) => /^implementation plan$/iu.test(text)),
  );
  const number = /[\d.]+$/u.exec(written)?.[0];
  return {
    document,
    written,
    name: front.title?.text ?? written,
    // Older files call BACK-217 task-217.
    aliases: number ? [`task-${number}`, number] : [],
    dependsOn: front.dependencies,
    status: front.status ? [front.status] : [],
    estimate: [],
    tasks: plan.tasks,
    definitionOfDone: [...criteria.tasks, ...done.tasks],
    section: readSection(document, []),
  };
}
