import { describe, expect, it } from "vitest";
import { fail } from "../core/failure.ts";
import { tellable, tellableFailure } from "./tellable.ts";

const secrets = /hunter2|db\.internal|10\.1\.2\.3|5432|fleet-db|\bann\b/;

describe("what is told of a fleet", () => {
  it("has an end, however long what others wrote is", () => {
    const told = tellable({
      text: "x".repeat(1_000_000),
      list: Array.from({ length: 10_000 }, () => ({ deep: "y".repeat(100_000) })),
      number: 7,
      nothing: null,
    });
    expect(told.text.length).toBeLessThan(5000);
    expect(told.list.length).toBe(500);
    expect(told.list[0]?.deep.length).toBeLessThan(5000);
    expect(told).toMatchObject({ number: 7, nothing: null });
  });

  it("never holds where the database is", () => {
    const text = "gave up: postgresql://ann:hunter2@db.internal:5432/fleet-db is away";
    expect(tellable([{ text }])).toEqual([{ text: "gave up: the database is away" }]);
  });

  it.each([
    [
      "postgres://db.internal:5432/fleet-db cannot be reached: connect ECONNREFUSED 10.1.2.3:5432",
      "the database cannot be reached",
    ],
    [
      'postgres://db.internal:5432/fleet-db does not let us in: password authentication failed for user "ann"',
      "the database does not let us in",
    ],
    ["postgres://db.internal/fleet-db has no tables of ours", "the database has no tables of ours"],
    [
      'postgres://db.internal/fleet-db: database "fleet-db" does not exist',
      "the database cannot be used",
    ],
    [
      "AUTODEV_DATABASE_URL_FILE cannot be read: ENOENT, open '/run/secrets/fleet-db'",
      "AUTODEV_DATABASE_URL_FILE cannot be read",
    ],
    ["getaddrinfo ENOTFOUND db.internal", "the database cannot be used"],
    ["the database does not answer", "the database does not answer"],
  ])("%s", (said, told) => {
    const { failure } = fail("database", said, { hint: "the way out" });
    expect(tellableFailure(failure)).toEqual({
      code: "database",
      message: told,
      hint: "the way out",
    });
    expect(tellableFailure(failure).message).not.toMatch(secrets);
  });

  it("of another sort is told in its own words", () => {
    const { failure } = fail("not-found", "there is no run r12");
    expect(tellableFailure(failure)).toEqual(failure);
  });
});
