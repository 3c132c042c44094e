/**
 * How the page comes by its token: in the address's fragment, which no server ever sees, as the
 * token itself or as a word that is good for it once. It is kept for this tab, and taken out of the
 * address before anybody could copy it from there.
 */
import { enter } from "./api.ts";
import { store, stored } from "./stored.ts";

const [where, kept] = ["sessionStorage", "autodev-token"] as const;

export async function takeToken(): Promise<string> {
  const given = /^#(token|ticket)=([^&]+)(?:&(.*))?$/.exec(location.hash);
  if (!given) return stored(where, kept) ?? "";
  const [, is, word = "", rest = ""] = given;
  const place = decoded(rest);
  history.replaceState(null, "", place.startsWith("/") ? `#${place}` : "#/");
  const token = is === "token" ? decoded(word) : await tokenFor(decoded(word));
  if (token === "") return stored(where, kept) ?? "";
  store(where, kept, token);
  return token;
}

/** An address that was spoilt on its way says nothing. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** Empty: it was used before, by this tab (then the token is at hand) or by somebody else. */
async function tokenFor(ticket: string): Promise<string> {
  const answer = await enter(ticket);
  return answer.ok ? answer.value.token : "";
}
