/**
 * What a runner wrote, out of what reached us: without colours and overwritten progress, and
 * without what tools that run several packages at once put before each line.
 */

/** No summary is longer; what is cut off cannot matter. An event of `go test -json` may be. */
const longestLine = 2000;
const longestEvent = 256 * 1024;

export function cleanLine(raw: string): string {
  let text = raw.length > longestLine ? raw.slice(0, mostOf(raw)) : raw;
  if (text.includes("\u001b")) text = text.replace(escapes, "");
  if (text.includes("\r")) text = lastShown(text);
  return text;
}

const mostOf = (raw: string): number => (raw[0] === "{" ? longestEvent : longestLine);

const escapes =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][0-9A-Z]|[=>78cM])/gu;

/** A carriage return writes over what stood there: the last part that is not empty is seen. */
function lastShown(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === "\r") end--;
  return text.slice(text.lastIndexOf("\r", end - 1) + 1, end);
}

/** Who printed a line, when several print into the same output; "" for nobody in particular. */
export interface Origin {
  readonly from: string;
  /** Where the line's own text begins. */
  readonly at: number;
}

const nobody: Origin = { from: "", at: 0 };

export function originOf(text: string): Origin {
  // Every prefix holds one of these, most lines of a summary begin with a blank or hold none.
  const first = text.charCodeAt(0);
  if (first === 32 || first === 9) return nobody;
  const hasColon = text.includes(": ");
  if (!hasColon && first !== openBracket && !text.includes(" | ") && !isDigit(first)) return nobody;
  const time = isDigit(first) ? (timestamp.exec(text)?.[0].length ?? 0) : 0;
  prefix.lastIndex = time;
  const found = prefix.exec(text);
  if (found && !notAPrefix.test(found[0])) {
    return { from: found[0].trim(), at: time + found[0].length };
  }
  return time > 0 ? { from: "", at: time } : nobody;
}

const openBracket = 91;
const isDigit = (code: number): boolean => code >= 48 && code <= 57;

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z /u;

const prefix = new RegExp(
  [
    // turbo: `shop:test: `, `@acme/shop:test: `
    String.raw`(?:@[\w.-]+\/)?[\w.-]+:[a-z][\w:.-]*: `,
    // pnpm -r: `packages/shop test: `, `. test:unit: `
    String.raw`(?:\.|[a-z@][\w@.-]*(?:\/[\w@.-]+)*) [a-z:.-]*(?:test|spec|check|unit|verify|cover)[\w:.-]*: `,
    // lerna, nx: `@acme/shop: `, `shop: `
    String.raw`(?:@[\w.-]+\/[\w.-]+|[a-z][\w.-]*): `,
    // yarn workspaces: `[shop]: `; concurrently: `[0] `, `[test] `
    String.raw`\[[\w@./:-]+\]:? `,
    // docker compose: `shop-1  | `
    String.raw`[\w.-]+-\d+ +\| `,
  ].join("|"),
  "yu",
);

/** Words of compilers and runners themselves, and how far one has come. */
const notAPrefix =
  /^(?:\[(?:INFO|ERROR|WARN|WARNING|DEBUG|\d+\/\d+)\]|(?:error|warning|note|help|info|debug|fail|failed|failures|failing|panic|thread|test|tests|ok|file|at|stdout|stderr|caused|total|result|summary|testing|coverage|expected|actual|received|got|want|assert): )/u;
