/** What every view is given: the board of the moment that is looked at, and the way to other views. */
import type { Board } from "../src/core/board/board.ts";
import type { Api } from "./api.ts";
import type { Place } from "./route.ts";

export interface View {
  readonly board: Board;
  /** In milliseconds, by the server's clock; in the past, that moment. */
  readonly now: number;
  readonly past: boolean;
  readonly api: Api;
  /** Somebody's session is open. */
  readonly held: boolean;
  /** The address of a place, in the same project and at the same moment. */
  readonly to: (place: Place) => string;
}
