/** What the browser keeps for us; one that keeps nothing, or throws, is no reason to show nothing. */
type Where = "localStorage" | "sessionStorage";

export function stored(where: Where, name: string): string | null {
  try {
    return globalThis[where].getItem(name);
  } catch {
    return null;
  }
}

export function store(where: Where, name: string, value: string): void {
  try {
    globalThis[where].setItem(name, value);
  } catch {
    // Then it is known until the page is left.
  }
}
