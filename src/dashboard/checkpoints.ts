/**
 * Boards of the past, so that a look at any moment has few events to fold. Never more than 32: when
 * there would be, every other one goes, and the next ones lie twice as far apart.
 */
import { type Board, blankBoard } from "../core/board/board.ts";

const most = 32;
const firstStride = 256;

export interface Checkpoints {
  /** After each event. */
  passed(board: Board): void;
  /** The newest that is not after `seq`. */
  before(seq: number): Board;
  readonly count: number;
}

export function createCheckpoints(): Checkpoints {
  let kept: Board[] = [];
  let stride = firstStride;
  return {
    passed(board) {
      if (board.seq - (kept.at(-1)?.seq ?? 0) < stride) return;
      kept.push(board);
      if (kept.length <= most) return;
      stride *= 2;
      kept = kept.filter((_, index) => index % 2 === 1);
    },
    before: (seq) => kept.findLast((board) => board.seq <= seq) ?? blankBoard,
    get count() {
      return kept.length;
    },
  };
}
