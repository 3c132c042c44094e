/** No tracker: items stay in our files, as `pending`, until there is one. */
import type { Tracker } from "../tracker.ts";

const stays = { is: "cannot", why: "there is no tracker: it stays in our files" } as const;

export const localTracker: Tracker = {
  name: "local",
  lagMs: 0,
  open: async () => ({ is: "open", tools: [], how: {} }),
  find: async () => ({ is: "done", value: [] }),
  create: async () => stays,
  link: async () => stays,
  move: async () => stays,
  close: async () => undefined,
};
