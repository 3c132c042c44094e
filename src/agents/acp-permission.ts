/**
 * What an ACP agent is told when it asks whether it may. What a tool does is said by its kind, which
 * comes from the program; its title can hold words of the model's, and decides nothing, but for our
 * own tool, without which no result could be handed in.
 */
import type { KnownCall } from "./acp-tools.ts";
import { wordsOf } from "./acp-wire.ts";
import type { Permission } from "./dialect.ts";
import { type Fields, listOf } from "./json-line.ts";

const reading = ["read", "search", "think"];
const editing = [...reading, "edit", "delete", "move"];
/** A tool of one of these kinds is not ours, whatever it is called. */
const others = ["edit", "delete", "move", "execute", "fetch", "switch_mode"];

/** As the agents name it: `autodev: submit result`, `mcp__autodev__submit_result` … */
const ourTool = /^(?:tool:\s*)?(?:mcp_+)?(?:autodev[\s:/._-]*)?submit[_ ]result\b/i;

export function isAllowed(
  permission: Permission,
  { kind = "other", titles }: Pick<KnownCall, "kind" | "titles">,
): boolean {
  if (permission === "full") return true;
  if (!others.includes(kind) && titles.some((title) => ourTool.test(title))) return true;
  return (permission === "edit" ? editing : reading).includes(kind);
}

/**
 * By the kind of an option, as its id is anybody's choice. Once rather than always: what is allowed
 * for ever ends up in settings of the user's. Undefined: there is nothing to choose.
 */
export function optionFor(isYes: boolean, options: unknown): string | undefined {
  const kinds = isYes ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
  const offered = listOf(options);
  const chosen = kinds.flatMap((kind) => offered.filter((each) => each.kind === kind))[0];
  return wordsOf(chosen?.optionId);
}

export const chosen = (optionId: string | undefined): Fields =>
  optionId === undefined
    ? { outcome: { outcome: "cancelled" } }
    : { outcome: { outcome: "selected", optionId } };
