/**
 * The percentage of lines that tests reached, where one number stands for the whole project. Tables
 * of several projects have several such numbers, and no mean of them is true: then there is none.
 */
export interface CoverageReading {
  line(text: string): void;
  percent(): number | undefined;
}

/** The first characters of the lines that it has to see. */
export const coverageMarks = "fFaAℹ#|NTotL{";

export function createCoverageReading(): CoverageReading {
  let column: number | undefined;
  let isPython = false;
  let said: number | undefined;
  let isSeveral = false;
  const take = (percent: number): void => {
    if (!(percent >= 0 && percent <= 100)) return;
    if (said !== undefined && said !== percent) isSeveral = true;
    said = percent;
  };
  return {
    line(text) {
      if (!promising.test(text)) return;
      const cells = text
        .replace(/^\| /u, "")
        .split("|")
        .map((each) => each.trim());
      const first = (cells[0] ?? "").replace(/^[ℹ#] /u, "").toLowerCase();
      if (cells.length > 2 && first === "file") {
        const at = cells.findIndex((cell) => /^(?:% lines?|lines? %)$/iu.test(cell));
        column = at > 0 ? at : undefined;
      } else if (cells.length > 2 && first === "all files" && column !== undefined) {
        const cell = cells[column] ?? "";
        if (/^\d/u.test(cell)) take(Number.parseFloat(cell));
        column = undefined;
      } else if (/^Name +Stmts +Miss .*Cover/u.test(text)) isPython = true;
      else if (isPython && text.startsWith("TOTAL ")) {
        const percent = /^TOTAL(?: +\d+)+ +(\d+(?:\.\d+)?)%$/u.exec(text)?.[1];
        if (percent !== undefined) take(Number(percent));
        isPython = false;
      } else {
        const percent = sentences.map((each) => each.exec(text)?.[1]).find(Boolean);
        if (percent) take(Number(percent));
      }
    },
    percent: () => (isSeveral ? undefined : said),
  };
}

/** Cheap, for the many lines that have nothing to do with it. */
const promising =
  /^(?:(?:[ℹ#|] )?(?:file|all files) +\||Name +Stmts|TOTAL |ok |\{"|Lines?[: ]|Line Cov|total:)/iu;

const sentences: readonly RegExp[] = [
  // go test -cover, go tool cover -func, PHPUnit, SimpleCov
  /^ok\s.*\scoverage: (\d+(?:\.\d+)?)% of statements/u,
  /^\{"Time".*"Output":"ok .*coverage: (\d+(?:\.\d+)?)% of statements/u,
  /^total:\s+\(statements\)\s+(\d+(?:\.\d+)?)%$/u,
  /^Lines:\s+(\d+(?:\.\d+)?)% \(\d+\/\d+\)$/u,
  /^Line Coverage: (\d+(?:\.\d+)?)% \(\d+ \/ \d+\)$/u,
];
