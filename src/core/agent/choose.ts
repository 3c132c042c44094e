/**
 * Who does the work when nobody was named. What people have written down goes first; then `apply`,
 * where a plan leaves nothing to think about; then whoever is the only one that can be meant. A guess
 * among several is never made: that is a question for people.
 */
import { applyAgent, knownAgents } from "./known.ts";

export type Login = "yes" | "no" | "unknown";

export interface Chooseable {
  /** `--agent`, or the settings' `agent`. */
  readonly named?: string;
  /** Whether every phase says so exactly what it wants that nobody has to think. */
  readonly spelledOut: boolean;
  /** The names in the settings' `agents`. */
  readonly own: readonly string[];
  /** Of the programs that we know, those that are installed. */
  readonly installed: readonly { readonly name: string; readonly login: Login }[];
}

export type Choice =
  | { readonly is: "chosen"; readonly name: string; readonly why: string }
  /** Several could be meant; those that can work at once come first. */
  | { readonly is: "ask"; readonly names: readonly string[]; readonly why: string }
  | { readonly is: "none"; readonly why: string };

export function chooseDefault(found: Chooseable): Choice {
  const { named, spelledOut, own, installed } = found;
  if (named !== undefined) return choiceOf(named, found);
  if (spelledOut) {
    return { is: "chosen", name: applyAgent.name, why: "every phase spells out its files" };
  }
  const [only] = own;
  if (only !== undefined && own.length === 1) {
    return { is: "chosen", name: only, why: "it is the only one in the settings" };
  }
  const loggedIn = namesWith("yes", installed);
  const ready = [...own, ...loggedIn];
  const [first] = ready;
  if (first !== undefined && ready.length === 1) {
    return { is: "chosen", name: first, why: "it is the only one that is logged in" };
  }
  if (ready.length > 1) {
    const why = own.length > 0 ? "several are in the settings" : "several are logged in";
    return { is: "ask", names: ready, why };
  }
  const perhaps = namesWith("unknown", installed);
  if (perhaps.length > 0) {
    return { is: "ask", names: perhaps, why: "of none it is certain that somebody is logged in" };
  }
  return installed.length > 0
    ? { is: "none", why: "nobody is logged in to any of those that are installed" }
    : { is: "none", why: "none is installed" };
}

/** Named is chosen, if there is such a one; whether somebody is logged in shows when it begins. */
function choiceOf(name: string, { own, installed }: Chooseable): Choice {
  const isThere =
    name === applyAgent.name || own.includes(name) || installed.some((each) => each.name === name);
  if (isThere) return { is: "chosen", name, why: "the settings name it" };
  const isKnown = knownAgents.some((each) => each.name === name);
  const why = isKnown ? "which is not installed" : "and there is no agent of that name";
  return { is: "none", why: `the settings name ${name}, ${why}` };
}

const namesWith = (login: Login, installed: Chooseable["installed"]): string[] =>
  installed.flatMap((each) => (each.login === login ? [each.name] : []));
