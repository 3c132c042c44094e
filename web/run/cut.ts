/** Text that fits: SVG cuts none, and how wide a letter is only the font knows. */
const cuts = new Map<string, string>();
let pen: CanvasRenderingContext2D | null | undefined;

/** Cut to so many pixels, in the font of the graph's names. */
export function cut(text: string, room: number): string {
  const key = `${room} ${text}`;
  const known = cuts.get(key);
  if (known !== undefined) return known;
  if (!pen) {
    pen = document.createElement("canvas").getContext("2d");
    const font = getComputedStyle(document.documentElement).getPropertyValue("--font-ui");
    if (pen) pen.font = `500 12.5px ${font}`;
  }
  const letters = Array.from(text).slice(0, 80);
  let fitting = text;
  while (letters.length > 0 && (pen?.measureText(fitting).width ?? 0) > room) {
    letters.pop();
    fitting = `${letters.join("").trimEnd()}…`;
  }
  cuts.set(key, fitting);
  return fitting;
}
