/** What an attempt changed: its files, and their lines as a patch; large ones are folded. */
import { useMemo, useState } from "preact/hooks";
import type { AttemptStory } from "../../src/core/board/attempt-story.ts";
import type { DiffAnswer } from "../../src/core/board/wire.ts";
import type { Api, Which } from "../api.ts";
import { Text, visibleLine } from "../text.tsx";
import { filesIn, type LineKind, type PatchFile } from "./patch.ts";
import { Answer, Quiet } from "./quiet.tsx";

export interface DiffTabProps {
  readonly api: Api;
  readonly which: Which;
  /** When it changes, so may what there is to see. */
  readonly how: AttemptStory["how"];
}

export const DiffTab = ({ api, which, how }: DiffTabProps) => (
  <Answer what="the diff" on={how} ask={() => api.diff(which)}>
    {(diff, again) => <Diff diff={diff} onAgain={again} />}
  </Answer>
);

/** More than so many lines, and a file is folded; more in all, and every file is. */
const [mostOpen, mostInAll] = [300, 1500];

function Diff({ diff, onAgain }: { diff: DiffAnswer; onAgain(): void }) {
  const files = useMemo(() => filesIn(diff.patch), [diff]);
  const lines = useMemo(() => new Map(files.map((file) => [file.path, file])), [files]);
  const total = files.reduce((sum, file) => sum + file.lines.length, 0);
  if (diff.files.length === 0) {
    return (
      <Quiet>{diff.commit === null ? "Nothing is changed so far." : "It changed no file."}</Quiet>
    );
  }
  const sum = (of: "added" | "removed"): number =>
    diff.files.reduce((all, file) => all + (file[of] ?? 0), 0);
  return (
    <div class="run-diff">
      <p class="run-about muted num">
        <span>{diff.files.length === 1 ? "1 file" : `${diff.files.length} files`}</span>
        <Counts added={sum("added")} removed={sum("removed")} />
        {diff.commit === null ? (
          <button type="button" class="run-link" onClick={onAgain}>
            under way: look again
          </button>
        ) : (
          <span class="mono">{diff.commit.slice(0, 10)}</span>
        )}
      </p>
      {diff.files.map(({ path, added, removed }) => (
        <FileDiff
          key={path}
          path={path}
          added={added}
          removed={removed}
          file={lines.get(path)}
          isOpen={total <= mostInAll && (lines.get(path)?.lines.length ?? mostInAll) <= mostOpen}
        />
      ))}
      {diff.cut && <p class="run-note">It is longer than what is shown here: see the commit.</p>}
    </div>
  );
}

const Counts = ({ added, removed }: { added: number | null; removed: number | null }) =>
  added === null || removed === null ? (
    <span class="muted">binary</span>
  ) : (
    <span class="run-plus-minus num">
      <span data-tone="ok">+{added}</span> <span data-tone="bad">−{removed}</span>
    </span>
  );

interface FileDiffProps {
  readonly path: string;
  readonly added: number | null;
  readonly removed: number | null;
  readonly file: PatchFile | undefined;
  readonly isOpen: boolean;
}

const signs: Readonly<Record<LineKind, string>> = {
  added: "+",
  removed: "−",
  same: " ",
  hunk: "",
  note: "",
};

function FileDiff({ path, added, removed, file, isOpen }: FileDiffProps) {
  const [open, setOpen] = useState(isOpen);
  return (
    <details class="run-file" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="mono run-file-path">
          <Text of={path} line />
        </span>
        <Counts added={added} removed={removed} />
      </summary>
      {open && (
        <div
          class="run-wide"
          tabIndex={0}
          role="region"
          aria-label={`Lines of ${visibleLine(path)}`}
        >
          {file ? (
            <table class="run-patch mono">
              <tbody>
                {file.lines.map(({ is, text, number }, at) => (
                  <tr key={at} data-is={is}>
                    <td class="run-line-number">{number ?? ""}</td>
                    <td class="run-line-sign">{signs[is]}</td>
                    <td>
                      <Text of={text} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          ) : (
            <p class="run-note">Its lines are not shown here.</p>
          )}
        </div>
      )}
    </details>
  );
}
