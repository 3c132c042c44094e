/**
 * Text from files and agents is data: no escape sequence, no control character, no direction
 * override of theirs ever reaches a terminal. Line breaks become spaces: a value is one line.
 */
export const shown = (text: string): string => (suspicious.test(text) ? cleaned(text) : text);

/** Most text is harmless, and telling so takes one look (\udb40 begins every tag character). */
const suspicious =
  /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\udb40]/;

const cleaned = (text: string): string =>
  text
    // Whole sequences first (CSI, OSC and other strings up to their end), then what is left of them.
    .replace(/(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]/g, "")
    .replace(
      /(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|$)/g,
      "",
    )
    .replace(/\u001b./g, "")
    .replace(/[\r\n\t\u2028\u2029]+/g, " ")
    .replace(
      /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu,
      "",
    );
