/** Light or dark: as the system has it, until somebody says otherwise; that is kept. */
import { store, stored } from "./stored.ts";

const [where, kept] = ["localStorage", "autodev-theme"] as const;

export const isDark = (): boolean =>
  (document.documentElement.dataset["theme"] ??
    (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

export function takeTheme(): void {
  const theme = stored(where, kept);
  if (theme === "dark" || theme === "light") document.documentElement.dataset["theme"] = theme;
}

export function turnTheme(): void {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset["theme"] = theme;
  store(where, kept, theme);
}
