import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loginFiles } from "./confinement.ts";

const home = fs.mkdtempSync(path.join(os.tmpdir(), "login-files-"));
afterAll(() => fs.rmSync(home, { recursive: true }));

describe("where a login to a fleet's database is written down", () => {
  const at = (name: string): string => path.join(home, name);
  for (const name of [".pgpass", "pass", "service", "url"]) fs.writeFileSync(at(name), "");

  it("is every file that the database's library would read, as far as it is there", () => {
    const named = { PGPASSFILE: at("pass"), PGSERVICEFILE: at("service") };
    const env = { HOME: home, AUTODEV_DATABASE_URL_FILE: at("url"), ...named };
    expect(loginFiles(env)).toEqual(["url", "pass", "service", ".pgpass"].map(at));
    const elsewhere = { HOME: home, AUTODEV_DATABASE_URL: "postgres://db/a", PGPASSFILE: at("no") };
    expect(loginFiles(elsewhere)).toEqual([at(".pgpass")]);
  });

  it("is nobody's business where there is no fleet", () => {
    expect(loginFiles({ HOME: home, PGPASSFILE: at("pass") })).toEqual([]);
  });
});
