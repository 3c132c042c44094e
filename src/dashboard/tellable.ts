/**
 * What may leave this machine's process of what a database holds: others have written it, and it may
 * be of any length. Where the database is, is nobody's business but ours.
 */
import type { Failure } from "../core/failure.ts";

const longestText = 4000;
const longestList = 500;

/** The same, with every text and every list cut to what a page can show. */
export function tellable<T>(told: T): T {
  return toldOf(told) as T;
}

function toldOf(value: unknown): unknown {
  if (typeof value === "string") return cut(value.replace(addresses, "the database"));
  if (Array.isArray(value)) return value.slice(0, longestList).map(toldOf);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toldOf(each)]));
}

const addresses = /\bpostgres(?:ql)?:\/\/\S+/gi;

const cut = (text: string): string =>
  text.length > longestText ? `${text.slice(0, longestText)}…` : text;

/**
 * A driver's words name hosts, ports, users; ours stand before the colon, and the way out is ours
 * too. (The terminal, whose user has set the address, tells all of it.)
 */
export function tellableFailure({ code, message, hint }: Failure): Failure {
  const way = hint === undefined ? {} : { hint };
  if (code !== "database" && code !== "database-schema")
    return { code, message: cut(message.replace(addresses, "the database")), ...way };
  const [, file, ours] =
    /^(?:(AUTODEV_DATABASE_URL_FILE)|postgres(?:ql)?:\/\/\S*[^\s:]|the database) ([^:]+?)(?:: |$)/i.exec(
      message,
    ) ?? [];
  if (ours === undefined) return { code, message: "the database cannot be used", ...way };
  return { code, message: `${file ?? "the database"} ${ours}`, ...way };
}
