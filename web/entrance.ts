/**
 * How the page comes by its token: in the address's fragment, which no server ever sees, as the
 * token itself or as a word that is good for it once. It is kept for this tab, and taken out of the
 * address before anybody could copy it from there.
 */
import { enter } from "./api.ts";

const kept = "autodev-token";

export async function takeToken(): Promise<string> {
  const given = /^#(token|ticket)=([^&]+)(?:&(.*))?$/.exec(location.hash);
  if (!given) return sessionStorage.getItem(kept) ?? "";
  const [, is, word = "", rest = ""] = given;
  const place = decodeURIComponent(rest);
  history.replaceState(null, "", place.startsWith("/") ? `#${place}` : "#/");
  const token =
    is === "token" ? decodeURIComponent(word) : await tokenFor(decodeURIComponent(word));
  if (token !== "") sessionStorage.setItem(kept, token);
  return token !== "" ? token : (sessionStorage.getItem(kept) ?? "");
}

/** Empty: it was used before, by this tab (then the token is at hand) or by somebody else. */
async function tokenFor(ticket: string): Promise<string> {
  const answer = await enter(ticket);
  return answer.ok ? answer.value.token : "";
}
