/** Something that was looked at and what was found: by a doctor, later by a verification. */
export interface Finding {
  readonly code: string;
  readonly level: "ok" | "note" | "warning" | "error";
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  /** The one command that mends it. */
  readonly fix?: string;
}
