/** The keys for what needs a person: from one to the next, and a letter answers it. */
import type { Keys } from "../keys.ts";

export const needKeys: Keys = {
  j: () => step(1),
  k: () => step(-1),
  a: () => press("A"),
  b: () => press("B"),
  c: () => press("C"),
  d: () => press("D"),
};

const cards = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("[data-need]")];

const focused = (): HTMLElement | undefined =>
  cards().find((card) => card.contains(document.activeElement));

function step(by: 1 | -1): void {
  const all = cards();
  const at = focused() ? all.indexOf(focused() as HTMLElement) + by : by > 0 ? 0 : all.length - 1;
  const card = all[Math.max(0, Math.min(all.length - 1, at))];
  card?.focus();
  card?.scrollIntoView({ block: "nearest" });
}

/** Without a focus it is only clear which one is meant if there is but one. */
function press(key: string): void {
  const open = cards().filter((card) => card.dataset["over"] === "false");
  const card = focused() ?? (open.length === 1 ? open[0] : undefined);
  card?.querySelector<HTMLButtonElement>(`[data-key="${key}"]`)?.click();
}
