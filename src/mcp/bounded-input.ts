/**
 * What a client writes to us, with lines that are too long taken out: one of them would end the
 * connection, and everything that waits for an answer with it. Whoever sent it is told.
 */
import { Transform, type TransformCallback } from "node:stream";

/** Far more than any tool takes. */
export const mostLineBytes = 8 * 1024 * 1024;
const endBytes = 4096;

export class BoundedInput extends Transform {
  readonly #refused: (answer: string) => void;
  readonly #most: number;
  #pieces: Buffer[] = [];
  #length = 0;
  /** Of a line that is too long: how it begins and how it ends. */
  #first: Buffer | undefined;
  #last: Buffer = Buffer.alloc(0);

  constructor(refused: (answer: string) => void, most = mostLineBytes) {
    super();
    this.#refused = refused;
    this.#most = most;
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(10, from);
      this.#take(chunk.subarray(from, end < 0 ? undefined : end));
      if (end < 0) break;
      this.#endLine();
      from = end + 1;
    }
    done();
  }

  override _flush(done: TransformCallback): void {
    if (this.#length > 0 && !this.#first) this.push(Buffer.concat(this.#pieces));
    done();
  }

  #take(piece: Buffer): void {
    this.#length += piece.length;
    if (!this.#first && this.#length <= this.#most) {
      this.#pieces.push(piece);
      return;
    }
    if (!this.#first) {
      const before = Buffer.concat(this.#pieces);
      this.#first = Buffer.from(Buffer.concat([before, piece]).subarray(0, endBytes));
      this.#last = before.subarray(-endBytes);
      this.#pieces = [];
    }
    // A copy: what is kept of a line must not keep the line.
    this.#last = Buffer.from(Buffer.concat([this.#last, piece.subarray(-endBytes)])).subarray(
      -endBytes,
    );
  }

  #endLine(): void {
    if (this.#first) {
      const message = `a message of ${this.#length} bytes is too long; ${this.#most} are the most`;
      const id = idIn(this.#first.toString("latin1"), this.#last.toString("latin1"));
      this.#refused(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32600, message } }));
    } else this.push(Buffer.concat([...this.#pieces, Buffer.from("\n")]));
    this.#pieces = [];
    this.#length = 0;
    this.#first = undefined;
  }
}

/** It stands at the beginning or at the end, beside the parameters; null: nowhere that we can see. */
function idIn(first: string, last: string): number | string | null {
  const id = `"id"\\s*:\\s*(\\d{1,15}|"[^"\\\\]{1,200}")`;
  const found =
    new RegExp(
      `^\\s*\\{\\s*(?:"jsonrpc"\\s*:\\s*"2\\.0"\\s*,\\s*)?(?:"method"\\s*:\\s*"[^"]*"\\s*,\\s*)?${id}`,
    ).exec(first) ??
    new RegExp(`,\\s*${id}\\s*(?:,\\s*"jsonrpc"\\s*:\\s*"2\\.0"\\s*)?\\}\\s*$`).exec(last);
  return found?.[1] === undefined ? null : (JSON.parse(found[1]) as number | string);
}
