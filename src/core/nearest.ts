/** The nearest of the names to what somebody typed, best first; none where nothing is near. */
export const nearest = (wanted: string, names: readonly string[]): string[] =>
  names
    .map((name) => ({ name, away: distanceOf(plain(wanted), plain(name)) }))
    .filter(({ name, away }) => away <= Math.max(plain(wanted).length, name.length) / 3)
    .sort((a, b) => a.away - b.away)
    .map(({ name }) => name);

/** Case, underscores and spaces around it are not what somebody got wrong. */
export const plain = (name: string): string => name.trim().toLowerCase().replaceAll("_", "-");

/** Letters to change, add, drop or swap with their neighbour. */
function distanceOf(a: string, b: string): number {
  let [earlier, before]: [number[], number[]] = [
    [],
    Array.from({ length: b.length + 1 }, (_, at) => at),
  ];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          (row[j - 1] ?? 0) + 1,
          (before[j] ?? 0) + 1,
          (before[j - 1] ?? 0) + same,
          ...(swapped ? [(earlier[j - 2] ?? 0) + 1] : []),
        ),
      );
    }
    [earlier, before] = [before, row];
  }
  return before[b.length] ?? 0;
}
