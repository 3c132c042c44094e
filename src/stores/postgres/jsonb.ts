/**
 * A value as `jsonb` takes it. PostgreSQL refuses half a character and U+0000, which JSON can spell,
 * and would refuse it again whenever asked: what prints such a thing would hold up its run for ever.
 * Text goes in with U+FFFD there, as every decoder writes what it cannot read.
 */
export const jsonbOf = (value: unknown): string => storable(JSON.stringify(value));

function storable(text: string): string {
  if (!suspicious.test(text)) return text;
  // One escape after the other: the second half of `\\` begins none.
  return text.replace(everyEscape, (escape, bad?: string) =>
    bad === undefined ? escape : "\ufffd",
  );
}

/** `JSON.stringify` spells a surrogate out only where its other half is missing. */
const suspicious = /\\u(?:0000|d[89a-f])/;
const everyEscape = /\\(?:u(0000|d[89a-f][0-9a-f]{2})|.)/g;
