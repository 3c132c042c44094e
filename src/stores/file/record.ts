/**
 * One transition on disk is one line:
 *
 *   autodev1 <seq> <events> <epoch> <bytes> <prev> <hash> <payload>\n
 *
 * `hash` covers the fields before it and the payload, `prev` is the hash of the transition
 * before: a flipped byte, a missing line or a line from somewhere else cannot pass. The payload
 * is JSON without line breaks. A line of a newer format has another first word and is refused.
 */
export const genesis = "0".repeat(32);
const word = "autodev";
const format = 1;

export interface RecordLine {
  readonly seq: number;
  readonly events: number;
  readonly epoch: number;
  readonly prev: string;
  readonly hash: string;
  readonly payload: string;
  /** Byte offsets of the line within its segment. */
  readonly start: number;
  readonly end: number;
}

export type Tail =
  | { readonly is: "clean" }
  /** The end of an append that never finished: it was not acknowledged. */
  | { readonly is: "torn"; readonly at: number; readonly bytes: number }
  | { readonly is: "damaged"; readonly at: number; readonly reason: string }
  | { readonly is: "newer"; readonly at: number; readonly format: string };

export type Hash = (text: string) => string;

export function encodeRecord(
  fields: Pick<RecordLine, "seq" | "events" | "epoch" | "prev" | "payload">,
  sha256: Hash,
): { line: string; hash: string } {
  const hash = hashOf(fields, sha256);
  const { seq, events, epoch, prev, payload } = fields;
  const bytes = Buffer.byteLength(payload);
  return {
    hash,
    line: `${word}${format} ${seq} ${events} ${epoch} ${bytes} ${prev} ${hash} ${payload}\n`,
  };
}

const hashOf = (
  {
    seq,
    events,
    epoch,
    prev,
    payload,
  }: Pick<RecordLine, "seq" | "events" | "epoch" | "prev" | "payload">,
  sha256: Hash,
): string => sha256(`${seq} ${events} ${epoch} ${prev}\n${payload}`).slice(0, 32);

/** The lines from `from` on, up to the first that is not whole and right. */
export function decodeRecords(
  bytes: Buffer,
  from: number,
  sha256: Hash,
): { records: RecordLine[]; tail: Tail } {
  const records: RecordLine[] = [];
  let at = from;
  while (at < bytes.length) {
    const newline = bytes.indexOf(10, at);
    const end = newline < 0 ? bytes.length : newline;
    const record = decodeLine(bytes, at, end, sha256);
    if (!("is" in record)) {
      // A whole line that only lacks its line break is whole.
      at = newline < 0 ? end : end + 1;
      records.push({ ...record, end: at });
      continue;
    }
    if (record.is === "newer") return { records, tail: record };
    // A line that lacks its end, or was extended but never filled, is an append cut short. Then
    // it is the last thing in its segment: nothing is ever appended behind an unfinished line.
    const rest = bytes.subarray(at);
    const behind = newline < 0 ? rest.subarray(rest.length) : bytes.subarray(newline + 1);
    const unfinished =
      newline < 0 || (rest.includes(0) && salvageRecords(behind, sha256).length === 0);
    return {
      records,
      tail: unfinished ? { is: "torn", at, bytes: rest.length } : record,
    };
  }
  return { records, tail: { is: "clean" } };
}

function decodeLine(
  bytes: Buffer,
  start: number,
  end: number,
  sha256: Hash,
):
  | RecordLine
  | { is: "damaged"; at: number; reason: string }
  | { is: "newer"; at: number; format: string } {
  const damaged = (reason: string): { is: "damaged"; at: number; reason: string } => ({
    is: "damaged",
    at: start,
    reason,
  });
  const head = bytes.toString("latin1", start, Math.min(end, start + 220));
  const match =
    /^autodev(\d{1,6}) (\d{1,15}) (\d{1,9}) (\d{1,15}) (\d{1,12}) ([0-9a-f]{32}) ([0-9a-f]{32}) /.exec(
      head,
    );
  if (!match) {
    const newer = /^autodev(\d{1,6}) /.exec(head)?.[1];
    if (newer !== undefined && Number(newer) > format)
      return { is: "newer", at: start, format: newer };
    return damaged("its first words are not those of a record");
  }
  if (Number(match[1]) !== format) return { is: "newer", at: start, format: match[1] as string };
  const [, , seq, events, epoch, length, prev, hash] = match;
  const from = start + match[0].length;
  if (end - from !== Number(length))
    return damaged(`it is not as long as it says (${length} bytes)`);
  const fields = {
    seq: Number(seq),
    events: Number(events),
    epoch: Number(epoch),
    prev: prev as string,
    payload: bytes.toString("utf8", from, end),
  };
  if (hashOf(fields, sha256) !== hash) return damaged("its checksum does not match");
  return { ...fields, hash: hash as string, start, end };
}

/** Every line that is right by itself, whatever stands between them. */
export function salvageRecords(bytes: Buffer, sha256: Hash): RecordLine[] {
  const records: RecordLine[] = [];
  for (let at = 0; at < bytes.length; ) {
    const newline = bytes.indexOf(10, at);
    const end = newline < 0 ? bytes.length : newline;
    const record = decodeLine(bytes, at, end, sha256);
    if (!("is" in record)) records.push(record);
    at = end + 1;
  }
  return records;
}

/** Whether a line claims this hash: one look, nothing computed. */
export const claimsHash = (line: string, hash: string): boolean => line.split(" ", 7)[6] === hash;

/** Where a line claims to stand; NaN: it is none. */
export const claimedSeq = (line: string): number => Number(line.split(" ", 2)[1] ?? Number.NaN);
