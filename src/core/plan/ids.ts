/** Ids of phases: what people write, and what we file it under. */
import { phaseWord } from "./words.ts";

const longest = 48;

/**
 * "Phase" removed, lower case, punctuation and spaces removed; a decimal point stays as a dash,
 * because without it 1.1 and 11 would be the same. Empty: nothing of it can be a file name.
 */
export function normaliseId(written: string): string {
  const plain = written
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/^[^\p{L}\p{N}]+/u, "")
    .replace(leadingPhaseWord, "")
    .toLowerCase()
    .replace(/(?<=[a-z0-9])\.(?=[0-9])/g, "\u0000")
    .replace(/[^a-z0-9\u0000]/g, "")
    .replaceAll("\u0000", "-");
  return plain.length > longest ? `${plain.slice(0, longest - 9)}-${shortHash(plain)}` : plain;
}

export const leadingPhaseWord = new RegExp(`^(?:${phaseWord.source})(?=$|[^\\p{L}])`, "iu");

/** FNV-1a: it only has to tell two long names apart. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}

/** As people write it, or as we do. */
export function named<T extends { readonly id: string; readonly written: string }>(
  phases: readonly T[],
  name: string,
): T | undefined {
  const wanted = normaliseId(name);
  return (
    phases.find(({ id }) => id === name) ??
    phases.find(({ written }) => written === name) ??
    phases.find(({ id }) => id === wanted)
  );
}
