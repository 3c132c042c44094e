import { describe, expect, it } from "vitest";
import { wholeAddress } from "./address.ts";

const address = (text: string, env: Record<string, string>, files: Record<string, string> = {}) => {
  const whole = wholeAddress(text, env, (file) => files[file]);
  return whole.ok ? whole.value : whole.failure.message;
};

describe("a database's address", () => {
  it("is left as it is where the environment has nothing to say", () => {
    const text = "postgres://me:p%40ss@db:6000/a?sslmode=disable";
    expect(address(text, {})).toBe(text);
    const others = { PGSSLMODE: "verify-full", PGUSER: "you", PGPASSWORD: "b", PGPORT: "1" };
    expect(address(text, { ...others, PGHOST: "elsewhere" })).toBe(text);
    expect(address("no address", { PGPASSWORD: "b" })).toBe("no address");
  });

  it.each([
    ["verify-full", "postgres://db/a?sslmode=verify-full"],
    ["require", "postgres://db/a?sslmode=verify-full"],
    ["no-verify", "postgres://db/a?sslmode=no-verify"],
    ["disable", "postgres://db/a?sslmode=disable"],
    ["allow", "postgres://db/a"],
    ["Verify-Full", "PGSSLMODE=Verify-Full is no way to connect that we know"],
  ])("is encrypted as PGSSLMODE=%s asks for it", (mode, whole) => {
    expect(address("postgres://db/a", { PGSSLMODE: mode })).toBe(whole);
  });

  it("holds who signs for the server, where it is verified", () => {
    const env = { PGSSLMODE: "verify-full", PGSSLROOTCERT: "/ca.pem" };
    expect(address("postgres://db/a", env)).toBe(
      "postgres://db/a?sslmode=verify-full&sslrootcert=%2Fca.pem",
    );
    expect(address("postgres://db/a", { PGSSLROOTCERT: "/ca.pem" })).toBe("postgres://db/a");
  });

  it("holds the login, whatever characters it has", () => {
    const env = { PGUSER: "us:er", PGPASSWORD: "p%a/s@s" };
    expect(address("postgres://db/a", env)).toBe("postgres://us%3Aer:p%25a%2Fs%40s@db/a");
    expect(address("postgres:///a", { ...env, PGHOST: "/run/postgresql", PGPORT: "6000" })).toBe(
      "postgres:///a?host=%2Frun%2Fpostgresql&port=6000&user=us%3Aer&password=p%25a%2Fs%40s",
    );
  });

  it("holds the password of the first line of PGPASSFILE that fits", () => {
    const lines = [
      "# db:5432:a:me:never",
      "db:5433:a:me:other port",
      "db:5432:*:me:with \\: and \\\\",
      "*:*:*:*:last",
    ];
    const files = { "/pass": lines.join("\n") };
    const env = { PGPASSFILE: "/pass" };
    expect(address("postgres://me@db/a", env, files)).toBe(
      `postgres://me:${encodeURIComponent("with : and \\")}@db/a`,
    );
    expect(address("postgres://you@db/a", env, files)).toBe("postgres://you:last@db/a");
    expect(address("postgres://me@db/a", env)).toBe("postgres://me@db/a");
    expect(address("postgres://me@db/a", { ...env, PGPASSWORD: "mine" }, files)).toBe(
      "postgres://me:mine@db/a",
    );
  });
});
