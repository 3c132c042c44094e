/** What becomes of one file, said before anything is written. */
import type { Result } from "../failure.ts";
import type { Edit } from "../plan/edits.ts";

export type Outcome =
  /** It is as it should be. */
  | { readonly is: "same" }
  | { readonly is: "create"; readonly text: string }
  | { readonly is: "edit"; readonly edits: readonly Edit[] }
  /** With so many folders above it that were made for it, as far as nothing else is in them. */
  | { readonly is: "remove"; readonly made: number }
  /** It is somebody else's, or somebody has changed it: nothing is touched. */
  | { readonly is: "left"; readonly line: number; readonly why: string; readonly hint: string };

/** A file as it is: its text, or nothing. */
export interface Found {
  readonly file: string;
  readonly text: string | undefined;
  /** Folders above it that are not there yet. */
  readonly missing: number;
}

export interface Intent {
  readonly do: "put" | "take";
  /** A person has said that what differs is to be replaced. */
  readonly replace?: boolean;
  /** A few hexadecimal digits that tell one text from another. */
  readonly hash: (text: string) => string;
}

export type PlanFile<Want> = (wanted: Want, found: Found, intent: Intent) => Result<Outcome>;

export const same: Outcome = { is: "same" };

export const lineAt = (text: string, offset: number): number =>
  text.slice(0, offset).split("\n").length;

/** As the file ends its lines. */
export const lineEndOf = (text: string): string => (/\r?\n/u.exec(text) ?? ["\n"])[0];

/** A checkout may have turned the ends of lines. */
export const plainEnds = (text: string): string => text.replaceAll("\r\n", "\n");
