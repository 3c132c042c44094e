/**
 * `npm run picture`: runs the example at a terminal of its own and draws one frame of what is seen
 * there as docs/picture.svg. Every word in it was on the screen; test/docs.test.ts looks again.
 */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { spawn } from "@lydell/node-pty";
import { makeScreen } from "../test/screen.ts";

const [columns, rows] = [80, 40];
const folder = fs.mkdtempSync(path.join(tmpdir(), "autodev-picture-"));

/** Two phases are being checked, and the rest waits: it happens in every run. */
const wanted = /▸ 2A .*checking[^]*└ .*[a-z][^]*▸ 2B .*checking[^]*└ .*[a-z]/;

function frameOf(): Promise<string[]> {
  const program = path.resolve("dist/cli/main.cjs");
  const env = {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: folder,
    LANG: "C.UTF-8",
    TERM: "xterm-256color",
    AUTODEV_NO_NOTIFY: "1",
    GIT_AUTHOR_NAME: "Somebody",
    GIT_AUTHOR_EMAIL: "somebody@example.invalid",
    GIT_COMMITTER_NAME: "Somebody",
    GIT_COMMITTER_EMAIL: "somebody@example.invalid",
  };
  const options = { cwd: folder, env, cols: columns, rows };
  const child = spawn(process.execPath, [program, "example"], options);
  const screen = makeScreen(columns, rows);
  let frame: string[] | undefined;
  child.onData((text) => {
    for (const part of text.split(/(?<=\u001b\[\?2026l)/)) {
      screen.write(part);
      const seen = screen.seen();
      if (wanted.test(seen.join("\n"))) frame = seen;
    }
  });
  return new Promise((resolve, reject) => {
    child.onExit(() => (frame ? resolve(frame) : reject(new Error("there was no such frame"))));
  });
}

// ── the drawing ────────────────────────────────────────────────────────────────────────────────

const lineHeight = 19;
const character = 8.43;
const margin = 20;

/** As the program colours them. */
const colours: readonly (readonly [RegExp, string])[] = [
  [/[✓█]+/g, "done"],
  [/[▸▒]+/g, "busy"],
  [/└.*$|░+|\d+:\d\d$|\b[0-9a-f]{7}\b|waits for .*$|[├│┬╮┴╯─]+/g, "dim"],
];

function markup(line: string): string {
  let parts: { text: string; kind?: string }[] = [{ text: line }];
  for (const [pattern, kind] of colours) {
    parts = parts.flatMap((part) => {
      if (part.kind !== undefined) return [part];
      const pieces: { text: string; kind?: string }[] = [];
      let at = 0;
      for (const { 0: text, index } of part.text.matchAll(pattern)) {
        pieces.push({ text: part.text.slice(at, index) }, { text, kind });
        at = index + text.length;
      }
      return [...pieces, { text: part.text.slice(at) }].filter(({ text }) => text !== "");
    });
  }
  return parts
    .map(({ text, kind }) =>
      kind === undefined ? escaped(text) : `<tspan class="${kind}">${escaped(text)}</tspan>`,
    )
    .join("");
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function draw(lines: readonly string[]): string {
  const width = Math.ceil(columns * character + 2 * margin);
  const height = lines.length * lineHeight + 2 * margin;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">
<title id="title">autodev at work: what has landed, and below it a view that changes in place</title>
<style>
  rect { fill: #f6f8fa; stroke: #d0d7de }
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328; white-space: pre }
  .done { fill: #1a7f37 } .busy { fill: #9a6700 } .dim { fill: #656d76 }
  @media (prefers-color-scheme: dark) {
    rect { fill: #0d1117; stroke: #30363d }
    text { fill: #e6edf3 }
    .done { fill: #3fb950 } .busy { fill: #d29922 } .dim { fill: #8b949e }
  }
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${lines.map((line, at) => `<text x="${margin}" y="${margin + 14 + at * lineHeight}" xml:space="preserve">${markup(line)}</text>`).join("\n")}
</svg>
`;
}

frameOf()
  .then((frame) => {
    // From the build on: the graph is shown in words.
    const from = frame.findIndex((line) => line.startsWith("$ autodev build"));
    fs.writeFileSync("docs/picture.svg", draw(frame.slice(from)));
    console.log(frame.slice(from).join("\n"));
  })
  .catch((error: unknown) => {
    console.error(String(error));
    process.exitCode = 1;
  })
  .finally(() => fs.rmSync(folder, { recursive: true, force: true }));
