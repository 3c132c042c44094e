/** Text that fits: SVG cuts none, and how wide a letter is only the font knows. */
const widths = new Map<string, string>();
let pen: CanvasRenderingContext2D | null | undefined;

/** Cut to so many pixels, in the font of the graph's names. */
export function cut(text: string, room: number): string {
  const key = `${Math.round(room)} ${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  pen ??= document.createElement("canvas").getContext("2d");
  if (pen) {
    const font = getComputedStyle(document.documentElement).getPropertyValue("--font-ui");
    pen.font = `500 12.5px ${font}`;
  }
  const isFitting = (part: string): boolean => (pen?.measureText(part).width ?? 0) <= room;
  let kept = [...text.slice(0, 80)];
  if (!isFitting(text)) {
    while (kept.length > 0 && !isFitting(`${kept.join("")}…`)) kept = kept.slice(0, -1);
  }
  const fitting = isFitting(text) ? text : `${kept.join("").trimEnd()}…`;
  widths.set(key, fitting);
  return fitting;
}
