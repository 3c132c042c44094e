/** What the phase asks for in so many words: files, and points of the definition of done. */
import type { Phase } from "../plan/plan.ts";
import type { ChangedFile, Facts } from "./facts.ts";
import { failure, note, type VerificationFinding } from "./finding-table.ts";
import { covers, isPattern, mentions, plainPath } from "./paths.ts";

/** A phase that asks for work and leaves everything as it was has not been done. */
export function somethingChanged({
  phase,
  changes,
  there,
  toTheLetter,
}: Facts): VerificationFinding[] {
  if (changes.length > 0 || toTheLetter || !asksForChanges(phase)) return [];
  const created = phase.files.filter(({ change }) => change === "create");
  const isThere = created.length > 0 && created.every(({ path }) => there.has(plainPath(path)));
  if (isThere) return [];
  return [
    failure("nothing-changed", `phase ${phase.written} asks for work, and no file was changed`),
  ];
}

/** Commands alone may have their effect elsewhere; `Files: none` says that there is nothing to change. */
const asksForChanges = (phase: Phase): boolean =>
  phase.files.length > 0 ||
  (phase.commands.length === 0 &&
    phase.tasks.length > 0 &&
    !phase.text.split("\n").some((line) => line.length < 80 && changesNothing.test(line)));

/** `**Files**: none` */
const changesNothing =
  /^[\s*_#>|-]{0,8}files?[\s*_|]{0,6}:?[\s*_|]{0,6}(?:none|no changes?)[\s*_.|]{0,6}$/i;

export function declaredFiles(facts: Facts): VerificationFinding[] {
  return [...unmet(facts), ...outside(facts)];
}

function unmet({ phase, changes, there, claim, toTheLetter }: Facts): VerificationFinding[] {
  const changed = new Map(changes.map((each) => [each.path, each]));
  const findings: VerificationFinding[] = [];
  for (const declared of phase.files) {
    const file = plainPath(declared.path);
    if (declared.change === "touch" || isPattern(declared.path)) continue;
    const is = changed.get(file);
    const exists = is ? is.change !== "deleted" : there.has(file);
    if (declared.change === "delete") {
      if (exists)
        findings.push(
          failure("declared-missing", `the phase deletes ${file}, and it is there`, { file }),
        );
    } else if (!exists) {
      findings.push(
        failure(
          "declared-missing",
          `the phase is to ${declared.change} ${file}, and it is not there`,
          { file },
        ),
      );
    } else if (is?.empty && is.change === "created" && !toTheLetter && !mayBeEmpty.test(file)) {
      findings.push(
        failure("declared-missing", `${file} was created with nothing in it`, { file }),
      );
    } else if (!is && declared.change === "modify" && !toTheLetter) {
      const word = mentions(claim.message, file);
      findings.push(
        word
          ? note(
              "extra-file",
              `${file} was to be modified and was not, for a reason in the commit message`,
              { file },
            )
          : failure("declared-missing", `the phase is to modify ${file}, and it is as it was`, {
              file,
            }),
      );
    }
  }
  return findings;
}

const mayBeEmpty =
  /(?:^|\/)(?:__init__\.py|py\.typed|\.(?:git)?keep|\.nojekyll|\.npmignore|\.gitkeep)$/;

/** A phase that names its files is held to them; tests, documents and lock files go along. */
function outside({ phase, changes, claim, others }: Facts): VerificationFinding[] {
  if (phase.files.length === 0) return [];
  const { created = [], modified = [], deleted = [] } = claim.files ?? {};
  const [left, gone] = [[...created, ...modified], deleted].map((said) => said.map(plainPath));
  const findings: VerificationFinding[] = [];
  for (const change of changes) {
    const { path: file } = change;
    if (phase.files.some(({ path }) => covers(path, file))) continue;
    if (change.kind === "test" || change.kind === "snapshot" || isExpected(phase, change)) continue;
    const owner = others.get(file);
    const explained = mentions(claim.message, file) || mentions(phase.text, file);
    // A word that is not true of it is no reason: what is called deleted, and is there, was not named.
    const isNamed = (change.change === "deleted" ? gone : left)?.includes(file) === true;
    if (explained || (owner === undefined && (isNamed || isHarmless(change)))) {
      findings.push(
        note("extra-file", `${file} was ${change.change}; the phase does not declare it`, { file }),
      );
    } else {
      const whose =
        owner === undefined ? "the phase does not declare it" : `it belongs to phase ${owner}`;
      findings.push(
        failure("undeclared-file", `${file} was ${change.change} without a word, and ${whose}`, {
          file,
        }),
      );
    }
  }
  return findings;
}

/** A lock file follows its manifest, and a package's marker its module. */
const isExpected = (phase: Phase, { path, kind }: ChangedFile): boolean =>
  (kind === "lock" && phase.files.some((declared) => manifest.test(declared.path))) ||
  (/(?:^|\/)__init__\.py$/.test(path) &&
    phase.files.some((declared) =>
      plainPath(declared.path).startsWith(path.replace(/__init__\.py$/, "")),
    ));

const manifest =
  /(?:^|\/)(?:package\.json|pyproject\.toml|Cargo\.toml|go\.mod|composer\.json|Gemfile|Pipfile|[^/]+\.csproj)$/;

/** New and no code: notes, pictures, data. What was there before is nobody's to change in passing. */
const isHarmless = ({ change, kind, ignored }: ChangedFile): boolean =>
  change === "created" && kind !== "code" && !ignored;

/** A point that names a file asks for that file. */
export function definitionOfDone({ phase, changes, there }: Facts): VerificationFinding[] {
  const deleted = new Set(
    changes.filter(({ change }) => change === "deleted").map(({ path }) => path),
  );
  const present = new Set(
    changes.filter(({ change }) => change !== "deleted").map(({ path }) => path),
  );
  return phase.definitionOfDone.flatMap(({ text, optional, place }) => {
    if (optional || goesAway.test(text)) return [];
    return filesNamedIn(text)
      .filter((file) => deleted.has(file) || (!present.has(file) && !there.has(file)))
      .map((file) =>
        failure("done-unmet", `“${text}” names ${file}, which is not there`, {
          file: place.file,
          line: place.line,
        }),
      );
  });
}

const goesAway =
  /\b(?:no|not|never|without|remove[sd]?|delete[sd]?|gone|dropped?|absent|unused)\b/i;

/** Words that can only be files of this tree: a folder before and an ending behind. */
export const filesNamedIn = (text: string): string[] =>
  text
    .split(/[\s`'"“”‘’(),;]+/)
    .map((word) => plainPath(word.replace(/[.:!?]+$/, "")))
    .filter((word) => /^(?:[\w.@-]+\/)+[\w@-][\w.@-]*\.[A-Za-z]\w{0,5}$/.test(word))
    .filter((word) => !/^(?:\.\.|www\.|[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev)\/)/.test(word));
