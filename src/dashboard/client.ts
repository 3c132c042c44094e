/**
 * Somebody who listens to a stream. What he is told is shared by all; what he has not read yet waits
 * for him as long as it is not much. Whoever reads too slowly is hung up on: he comes back, and goes on
 * from the last number that he has seen.
 */
import type { ServerResponse } from "node:http";

export const mostWaiting = 4 * 1024 ** 2;

export interface Client {
  /** Must not be lost. */
  send(frame: Buffer): void;
  /** Only the last of these is of interest: not said to whoever has not read the one before. */
  mention(frame: Buffer): void;
  /** He has read what was sent so far, or has gone. */
  read(): Promise<void>;
  readonly gone: boolean;
  hangUp(): void;
}

export function clientOf(response: ServerResponse, { left }: { left(): void }): Client {
  let blocked = false;
  let gone = false;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let isRead: (() => void)[] = [];
  const wake = (): void => {
    for (const each of isRead) each();
    isRead = [];
  };
  const leave = (): void => {
    if (gone) return;
    gone = true;
    waiting = [];
    wake();
    left();
  };
  const write = (bytes: Buffer): void => {
    blocked = !response.write(bytes);
  };
  response.on("drain", () => {
    blocked = false;
    // Many in one: what has come meanwhile is no more work than the next would be.
    const merged = waiting.length > 0 ? Buffer.concat(waiting) : undefined;
    waiting = [];
    waitingBytes = 0;
    if (merged) write(merged);
    if (!blocked) wake();
  });
  response.on("close", leave).on("error", leave);
  return {
    send(frame) {
      if (gone) return;
      if (!blocked) return write(frame);
      waiting.push(frame);
      waitingBytes += frame.length;
      if (waitingBytes + response.writableLength <= mostWaiting) return;
      response.destroy();
      leave();
    },
    mention(frame) {
      if (!gone && !blocked) write(frame);
    },
    read: () =>
      gone || !blocked ? Promise.resolve() : new Promise((resolve) => isRead.push(resolve)),
    get gone() {
      return gone;
    },
    hangUp() {
      response.end();
      leave();
    },
  };
}
