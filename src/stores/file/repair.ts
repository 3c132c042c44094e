/**
 * Finds every kind of damage to the store, and mends what can be mended. Repair never depends on
 * the broken thing being readable, and never deletes: the damaged journal is kept aside whole.
 */
import * as path from "node:path";
import type { Event } from "../../core/event.ts";
import { type Result, succeed } from "../../core/failure.ts";
import type { Finding } from "../../core/finding.ts";
import type { Transition } from "../../store.ts";
import {
  allEpochs,
  type Damage,
  damageFailure,
  diskFailure,
  journalFolder,
  type Mark,
  type Place,
  readAfter,
  segmentFile,
  shownSegment,
  walkSegments,
} from "./journal.ts";
import { encodeRecord, genesis, type RecordLine, salvageRecords } from "./record.ts";

const mend = "autodev doctor --fix";
/** Where a mended journal waits until the damaged one is out of the way. */
export const mendedFolder = (place: Place): string => path.join(place.folder, "journal-mended");

const damageCode: Record<Damage["kind"], string> = {
  flipped: "journal-flipped",
  missing: "journal-missing",
  "two-epochs": "journal-two-epochs",
  newer: "journal-newer",
};

export function examineJournal(
  place: Place,
  snapshot: { present: boolean; mark: Mark | undefined },
): Finding[] {
  const findings: Finding[] = [];
  const epochs = allEpochs(place);
  const shownJournal = path.join(place.shown, "journal");
  if (epochs.length === 0) {
    if (place.disk.exists(mendedFolder(place))) {
      findings.push({
        code: "journal-half-mended",
        level: "error",
        message: `${shownJournal} was being mended when the machine stopped`,
        file: shownJournal,
        fix: mend,
      });
    } else if (snapshot.mark) {
      findings.push({
        code: "journal-gone",
        level: "warning",
        message: `${shownJournal} is gone; it had reached ${snapshot.mark.head.seq}. The files are taken as the truth`,
        file: shownJournal,
        fix: mend,
      });
    }
    return findings;
  }
  const walk = walkSegments(
    place,
    epochs.map((epoch) => ({ epoch, from: 0 })),
  );
  if (walk.damage) {
    const { message, file, line, hint } = damageFailure(place, walk.damage);
    findings.push({
      code: damageCode[walk.damage.kind],
      level: "error",
      message,
      ...(file !== undefined && { file }),
      ...(line !== undefined && { line }),
      fix: walk.damage.kind === "newer" && hint ? hint : mend,
    });
  }
  for (const { segment, at, bytes } of walk.torn) {
    findings.push({
      code: "journal-torn",
      level: "note",
      message: `${shownSegment(place, segment)} ends in ${bytes} bytes of an append that never finished (from byte ${at}); they count for nothing and are kept`,
      file: shownSegment(place, segment),
    });
  }
  for (const { segment, seq } of walk.late) {
    findings.push({
      code: "journal-late",
      level: "note",
      message: `${shownSegment(place, segment)} holds transition ${seq}, written after another autodev had taken over; it was refused and is kept`,
      file: shownSegment(place, segment),
    });
  }
  const last = walk.links.at(-1);
  const reached = last ? last.seq + last.events - 1 : 0;
  if (!walk.damage && snapshot.mark && snapshot.mark.head.seq > reached) {
    findings.push({
      code: "journal-missing",
      level: "error",
      message: `${shownJournal} ends at ${reached}, but ${snapshot.mark.head.seq} was recorded: transitions are missing`,
      file: shownJournal,
      fix: mend,
    });
  } else if (
    snapshot.present &&
    !walk.damage &&
    (!snapshot.mark || !readAfter(place, snapshot.mark)?.ok)
  ) {
    findings.push({
      code: "snapshot-unusable",
      level: "warning",
      message: `${path.join(place.shown, "snapshot")} does not fit the journal; it is only a cache and is ignored`,
      file: path.join(place.shown, "snapshot"),
      fix: mend,
    });
  }
  if (!walk.damage) {
    findings.push({
      code: "journal",
      level: "ok",
      message: `the journal holds ${reached} events in ${epochs.length} segments, whole and in order`,
    });
  }
  return findings;
}

/**
 * Keeps everything that can still be read, in its place in history; where a transition cannot,
 * `journal-repaired` says so. The new journal is complete before the old one is moved.
 */
export async function repairJournal(
  place: Place,
  known: Mark | undefined,
  at: string,
): Promise<Result<string[]>> {
  const rescue = path.join(place.folder, "rescue");
  const stamp = at.replace(/[^0-9A-Za-z]/g, "");
  const aside = path.join(rescue, `journal-${stamp}`);
  const mended = mendedFolder(place);
  try {
    const said: string[] = [];
    const epochs = allEpochs(place);
    if (epochs.length > 0) {
      const { damage } = walkSegments(
        place,
        epochs.map((epoch) => ({ epoch, from: 0 })),
      );
      const kept = salvage(place, epochs);
      if (!damage && (known?.head.seq ?? 0) <= lastSeq(kept)) return succeed(said);
      if (damage?.kind === "newer") {
        return { ok: false, failure: damageFailure(place, damage) };
      }
      const lines = rebuild(place, kept, known?.head.seq ?? 0, {
        epoch: (epochs.at(-1) ?? 0) + 1,
        at,
        aside: path.join(place.shown, path.relative(place.folder, aside)),
      });
      await place.disk.removeFolder(mended);
      const file = path.join(
        mended,
        path.relative(journalFolder(place), segmentFile(place, (epochs.at(-1) ?? 0) + 1)),
      );
      await place.disk.makeFolder(path.dirname(file));
      await place.disk.create(file, Buffer.from(lines.text));
      await place.disk.syncFile(file);
      await place.disk.syncFolder(path.dirname(file));
      await place.disk.syncFolder(mended);
      await place.disk.makeFolder(rescue);
      await place.disk.rename(journalFolder(place), aside);
      await place.disk.syncFolder(rescue);
      said.push(
        `kept ${kept.length} transitions; ${lines.lost} events could not be read and are marked as lost`,
        `the damaged journal is at ${path.join(place.shown, path.relative(place.folder, aside))}`,
      );
    }
    if (place.disk.exists(mended)) {
      await place.disk.rename(mended, journalFolder(place));
      await place.disk.syncFolder(place.folder);
      said.push("the mended journal is in place");
    }
    return succeed(said);
  } catch (error) {
    return diskFailure(place, error);
  }
}

const lastSeq = (records: readonly RecordLine[]): number => {
  const last = records.at(-1);
  return last ? last.seq + last.events - 1 : 0;
};

/** Later sessions overrule earlier ones from their first transition on. */
function salvage(place: Place, epochs: readonly number[]): RecordLine[] {
  let kept: RecordLine[] = [];
  for (const epoch of epochs) {
    const bytes = place.disk.read(segmentFile(place, epoch));
    if (!bytes) continue;
    const records = salvageRecords(bytes, place.sha256).sort((a, b) => a.seq - b.seq);
    const first = records[0];
    if (!first) continue;
    kept = [...kept.filter((record) => record.seq < first.seq), ...records];
  }
  return kept;
}

function rebuild(
  place: Place,
  kept: readonly RecordLine[],
  knownSeq: number,
  options: { epoch: number; at: string; aside: string },
): { text: string; lost: number } {
  let text = "";
  let prev = genesis;
  let next = 1;
  let lost = 0;
  const write = (events: number, payload: string): void => {
    const { line, hash } = encodeRecord(
      { seq: next, events, epoch: options.epoch, prev, payload },
      place.sha256,
    );
    text += line;
    prev = hash;
    next += events;
  };
  const fill = (until: number): void => {
    const missing = until - next;
    if (missing <= 0) return;
    const event: Event = {
      type: "journal-repaired",
      lost: missing === 1 ? `${next}` : `${next} to ${until - 1}`,
      aside: options.aside,
    };
    const transition: Transition = {
      at: options.at,
      run: "flow",
      events: Array.from({ length: missing }, () => event),
    };
    lost += missing;
    write(missing, JSON.stringify(transition));
  };
  for (const record of kept) {
    fill(record.seq);
    if (record.seq === next) write(record.events, record.payload);
  }
  fill(knownSeq + 1);
  // The damage was in the very last line: say that something stood there.
  if (lost === 0) fill(next + 1);
  return { text, lost };
}
