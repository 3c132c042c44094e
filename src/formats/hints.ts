/** Lines and drawings that may state an order of phases; what they mean is core's to say. */
import type { Hint } from "../core/plan/draft.ts";
import type { Document, Fence, Line } from "./document.ts";

const arrow = /→|⟶|➜|➔|⇒|=>|->|─▶|─►|─>|▶|►|←|<-(?!-)/u;

const drawing = /[│┌┐└┘├┤┬┴┼╭╮╯╰▼▲↓║╔╗╚╝]|^\s*\|\s*$|^\s*[v^]\s*$/u;

const sentence =
  /\b(?:depends?|depending|requires?|required|blocked|blocks?|after|before|once|needs?|prerequisites?|wait|waits|follows?|independent|parallel)\b|依赖|依存|之后|以降|完了後|завис|после|требует|abhäng|hängt|setzt|voraus|nach\b|depende|después|requiere|dépend|après|dipende|dopo|의존/iu;

/** Lines that may state an order of phases. */
export function lineHint(document: Document, line: Line): Omit<Hint, "phase"> | undefined {
  const at = { text: line.text, place: document.place(line) };
  if (arrow.test(line.text)) return { kind: "arrows", lines: [at] };
  if (sentence.test(line.text)) return { kind: "sentence", lines: [at] };
  return undefined;
}

export function fenceHints(document: Document, fence: Fence): Omit<Hint, "phase">[] {
  if (
    fence.info !== "" &&
    !/^(?:text|txt|plaintext|mermaid|ascii|graph|diagram|dot|graphviz)/i.test(fence.info)
  )
    return [];
  const raw = document.raw(fence.content);
  if (raw.length > 20000) return [];
  let at = fence.content.from;
  const lines = raw.split(/\r\n|\r|\n/).map((text) => {
    const start = at;
    at += text.length + 1;
    return { text, place: document.place({ from: start, to: start + text.length }) };
  });
  if (
    !lines.some(
      ({ text }) =>
        arrow.test(text) || /--+>|-->/.test(text) || drawing.test(text) || sentence.test(text),
    )
  )
    return [];
  const isDrawing = lines.some(({ text }) => drawing.test(text));
  return [{ kind: isDrawing ? "drawing" : "arrows", lines }];
}
