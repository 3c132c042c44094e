/** Light or dark: as the system has it, until somebody says otherwise; that is kept. */
const kept = "autodev-theme";

export const isDark = (): boolean =>
  (document.documentElement.dataset["theme"] ??
    (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

export function takeTheme(): void {
  const theme = localStorage.getItem(kept);
  if (theme === "dark" || theme === "light") document.documentElement.dataset["theme"] = theme;
}

export function turnTheme(): void {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset["theme"] = theme;
  localStorage.setItem(kept, theme);
}
