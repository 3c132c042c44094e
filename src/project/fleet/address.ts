/**
 * The database's address as everybody here is given it: whole. What PostgreSQL's library would read from
 * the environment at each connection is put into it first, for the environment is emptied of it.
 */
import { fail, type Result, succeed } from "../../core/failure.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** `read`: the text of a file that only its owner may read; undefined: there is none. */
export function wholeAddress(
  text: string,
  env: Env,
  read: (file: string) => string | undefined,
): Result<string> {
  // What cannot be read is refused by whoever connects.
  if (!URL.canParse(text)) return succeed(text);
  const url = new URL(text);
  const { searchParams: query } = url;
  let isWhole = true;
  const add = (name: string, value: string | undefined): void => {
    if (!value || query.has(name)) return;
    isWhole = false;
    query.set(name, value);
  };
  const mode = securityOf(env["PGSSLMODE"]);
  if (!mode.ok) return mode;
  if (!query.has("ssl")) add("sslmode", mode.value);
  if (query.has("sslmode")) {
    const { PGSSLROOTCERT: root, PGSSLCERT: own, PGSSLKEY: key } = env;
    // As PostgreSQL's own programs understand it: whom the system trusts, which is our usual.
    if (root !== "system") add("sslrootcert", root);
    add("sslcert", own);
    add("sslkey", key);
  }
  if (url.hostname === "") add("host", env["PGHOST"]);
  if (url.port === "") add("port", env["PGPORT"]);
  const login = (name: "username" | "password", param: string, value: string | undefined): void => {
    if (!value || url[name] !== "" || query.has(param)) return;
    // Without a host there is no place for it but the query.
    if (url.hostname === "") return add(param, value);
    isWhole = false;
    url[name] = encodeURIComponent(value);
  };
  login("username", "user", env["PGUSER"]);
  login("password", "password", env["PGPASSWORD"] || passwordIn(url, env, read));
  return succeed(isWhole ? text : url.href);
}

/** Every mode that encrypts also verifies, as `pg` has it; `allow` asks for nothing. */
function securityOf(mode: string | undefined): Result<string | undefined> {
  switch (mode || "allow") {
    case "allow":
      return succeed(undefined);
    case "disable":
    case "no-verify":
      return succeed(mode);
    case "prefer":
    case "require":
    case "verify-ca":
    case "verify-full":
      return succeed("verify-full");
    default:
      return fail("database", `PGSSLMODE=${mode} is no way to connect that we know`, {
        hint: "?sslmode=verify-full at the end of the address, without PGSSLMODE",
      });
  }
}

/** Of the first line that fits; where none does, the usual file is looked into by `pg` itself. */
function passwordIn(
  { hostname, port, pathname, username, searchParams }: URL,
  env: Env,
  read: (file: string) => string | undefined,
): string | undefined {
  const file = env["PGPASSFILE"];
  const text = file && read(file);
  if (!text) return undefined;
  const host = searchParams.get("host") ?? (decodeURIComponent(hostname) || "localhost");
  const wanted = [
    host.startsWith("/") ? "localhost" : host,
    searchParams.get("port") ?? (port || "5432"),
    decodeURIComponent(pathname.slice(1)),
    searchParams.get("user") ?? (decodeURIComponent(username) || (env["USER"] ?? "")),
  ];
  for (const line of text.split(/\r?\n/)) {
    const fields = [...line.matchAll(/(?:^|:)((?:\\.|[^\\:])*)/g)].map(([, field = ""]) =>
      field.replace(/\\(.)/g, "$1"),
    );
    const [password, ...rest] = fields.length === 5 ? fields.toReversed() : [];
    if (password === undefined || line.startsWith("#")) continue;
    const fits = rest.toReversed().every((field, at) => field === "*" || field === wanted[at]);
    if (fits) return password;
  }
  return undefined;
}
