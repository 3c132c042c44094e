/**
 * The fold at some head, on disk: `autodev-snapshot1 <fingerprint> <JSON>`. It names the journal
 * line that it was made at; whoever uses it checks that the journal still holds that line.
 */
import type { Snapshot } from "../../store.ts";
import type { Mark } from "./journal.ts";

const snapshotWord = "autodev-snapshot1";

export const writeSnapshot = (mark: Mark, { state, rendered, git }: Snapshot): Buffer => {
  const body = JSON.stringify({ mark, state, rendered, git });
  return Buffer.from(`${snapshotWord} ${fingerprint(body)} ${body}
`);
};

export function readSnapshot(
  bytes: Buffer | undefined,
): { mark: Mark; snapshot: Snapshot } | undefined {
  const text = bytes?.toString("utf8") ?? "";
  const [word, print] = text.split(" ", 2);
  if (word !== snapshotWord || print === undefined) return undefined;
  const body = text.slice(word.length + print.length + 2, -1);
  if (fingerprint(body) !== print) return undefined;
  const { mark, ...snapshot } = JSON.parse(body) as Omit<Snapshot, "head"> & { mark: Mark };
  return { mark, snapshot: { head: mark.head, ...snapshot } };
}

/** Against bad disks, not bad people; a cryptographic hash would cost `status` its instant start. */
function fingerprint(text: string): string {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  return `${(a >>> 0).toString(16)}-${(b >>> 0).toString(16)}-${text.length}`;
}
