import { describe, expect, it } from "vitest";
import { corpusClock, quiet, troubles } from "./trouble.corpus.ts";
import { troubleAsAnswer, troubleIn, troubleKinds } from "./trouble.ts";

const at = corpusClock;
const named = (row: { agent: string; text: string; status?: number }): string =>
  `${row.agent}: ${row.text.replaceAll("\n", "⏎").slice(0, 90)}${row.status ? ` (${row.status})` : ""}`;
const texts = troubles.filter(({ status, fields }) => status === undefined && fields === undefined);

describe("a trouble", () => {
  it.each(troubles.map((row) => [named(row), row] as const))("is seen in %s", (_, row) => {
    const found = troubleIn(row, at);
    expect({ kind: found?.kind, until: found?.until }).toEqual({
      kind: row.kind,
      until: row.until,
    });
    expect(found?.message.length).toBeLessThanOrEqual(300);
    expect(found?.message).not.toContain("\n");
  });

  it.each(texts.filter(({ whole }) => whole !== false).map((row) => [named(row), row] as const))(
    "is seen when it is the whole answer: %s",
    (_, row) => {
      const found = troubleAsAnswer(row.text, at);
      expect(found?.kind).toBe(row.kind);
      expect(found).toEqual(troubleIn(row, at));
    },
  );

  it.each(quiet.map((row) => [named(row), row] as const))("is not seen in %s", (_, row) => {
    expect(troubleIn(row, at)).toBeUndefined();
    expect(troubleAsAnswer(row.text, at)).toBeUndefined();
  });

  it("has rows of every kind, and enough of them", () => {
    expect(new Set(troubles.map(({ kind }) => kind))).toEqual(new Set(troubleKinds));
    expect(troubles.length).toBeGreaterThanOrEqual(120);
    expect(quiet.length).toBeGreaterThanOrEqual(80);
  });
});

describe("how it is written", () => {
  const one = (text: string): string => text.split(/\s+/).join(" ");

  it.each([
    ["in colours", (text: string) => `\u001b[31m${text}\u001b[0m`],
    ["with the line ends of Windows", (text: string) => text.replaceAll("\n", "\r\n")],
    ["indented", (text: string) => `\n\n    ${text}\n`],
    ["with curly apostrophes", (text: string) => text.replaceAll("'ve ", "’ve ")],
  ])("does not matter: %s", (_, written) => {
    for (const row of texts) {
      expect(troubleIn({ text: written(row.text) }, at), named(row)).toEqual(troubleIn(row, at));
    }
  });

  it.each([
    ["quoted in a sentence", (text: string) => `The log said "${text}", so I changed the client.`],
    ["as an item of a list", (text: string) => `The messages:\n\n- \`${text}\`\n- \`ok\``],
    ["quoted as in a mail", (text: string) => `> ${text}`],
    ["in a fence", (text: string) => `It prints:\n\n\`\`\`\n${text}\n\`\`\`\n\nThat is covered.`],
    ["added by a diff", (text: string) => `@@ -1 +1 @@\n+${text}`],
    ["removed by a diff", (text: string) => `@@ -1 +1 @@\n-${text}`],
    ["found by grep", (text: string) => `src/errors.ts:12:${text}`],
    ["in a table", (text: string) => `| ${text} | what to do |`],
    ["in code", (text: string) => `throw new Error(${JSON.stringify(text)});`],
    ["as the name of a test", (text: string) => `✓ says ${text}`],
    ["in a log of somebody's program", (text: string) => `2026-11-06T13:30:00Z ERROR api: ${text}`],
    ["in an answer of the stream", (text: string) => JSON.stringify({ type: "assistant", text })],
    ["in the result of a tool", (text: string) => JSON.stringify({ type: "user", content: text })],
  ])("makes it a quotation: %s", (_, quoted) => {
    for (const row of texts) {
      expect(troubleIn({ text: quoted(one(row.text)) }, at), named(row)).toBeUndefined();
      expect(troubleAsAnswer(quoted(one(row.text)), at), named(row)).toBeUndefined();
    }
  });

  it("is no answer when work is told before or after it", () => {
    for (const row of texts) {
      const before = `I added the limiter and its tests.\n\n${row.text}`;
      const after = `${row.text}\n\nI added the limiter and all tests pass.`;
      expect(troubleAsAnswer(before, at), named(row)).toBeUndefined();
      expect(troubleAsAnswer(after, at), named(row)).toBeUndefined();
    }
  });
});

describe("an answer", () => {
  it.each([
    "Invalid API key.\n\nThat is what the form says now.",
    "Rate limit exceeded\n\nThe second call gets this, the first one passes.",
    `Invalid API key\n${"line\n".repeat(60)}`,
    `Invalid API key. ${"word ".repeat(1000)}`,
  ])("is no trouble when it goes on about it: %s", (text) => {
    expect(troubleAsAnswer(text, at)).toBeUndefined();
  });

  it("keeps what was said, without its decoration", () => {
    const text = "✕ [API Error: API key not valid. Please pass a valid API key.]";
    expect(troubleAsAnswer(text, at)?.message).toBe(
      "API key not valid. Please pass a valid API key.",
    );
    expect(troubleIn({ text: 'API Error: 401 {"error":{"message":"no such key"}}' }, at)).toEqual({
      kind: "auth",
      message: "no such key",
      status: 401,
    });
  });
});

describe("fields alone", () => {
  it.each([
    [{ "anthropic-ratelimit-unified-status": "rejected" }, "usage_limit"],
    [{ errorkind: "rate_limit" }, "rate_limit"],
    [{ error_type: "authentication_error" }, "auth"],
    [{ subtype: "error_max_turns" }, "turn_limit"],
    [{ stop_reason: "refusal" }, "refusal"],
    [{ note: "refusal" }, undefined],
    [{ "anthropic-ratelimit-unified-status": "allowed" }, undefined],
  ] as const)("tell enough: %o", (fields, kind) => {
    expect(troubleIn({ text: "", fields }, at)?.kind).toBe(kind);
  });
});

describe("when it is over", () => {
  const until = (text: string, now = at.now, zoneMinutes = at.zoneMinutes): string | undefined =>
    troubleIn({ text: `Usage limit reached · ${text}` }, { now, zoneMinutes })?.until;

  it("is tomorrow when the clock has passed that time today", () => {
    expect(until("resets 2:30pm")).toBe("2026-11-07T13:30:00.000Z");
    expect(until("resets 2:31pm")).toBe("2026-11-06T13:31:00.000Z");
  });

  it("is by the person's clock, wherever that is", () => {
    expect(until("resets 3pm", at.now, -480)).toBe("2026-11-06T23:00:00.000Z");
    expect(until("resets 3pm", at.now, 330)).toBe("2026-11-07T09:30:00.000Z");
    expect(until("resets 12am", "2026-12-31T22:00:00Z", 0)).toBe("2027-01-01T00:00:00.000Z");
    expect(until("resets 12pm", at.now, 0)).toBe("2026-11-07T12:00:00.000Z");
  });

  it("is by the zone that is named, also over a change of clocks", () => {
    expect(until("resets 9am (Europe/Berlin)", "2026-10-24T20:00:00Z", 0)).toBe(
      "2026-10-25T08:00:00.000Z",
    );
    expect(until("resets 9am (Asia/Kolkata)")).toBe("2026-11-07T03:30:00.000Z");
    expect(until("resets 3pm (Nowhere/Land)")).toBe("2026-11-06T14:00:00.000Z");
  });

  it("is the next such weekday, never today's past", () => {
    expect(until("resets Fri 2pm")).toBe("2026-11-13T13:00:00.000Z");
    expect(until("resets Friday 3pm")).toBe("2026-11-06T14:00:00.000Z");
    expect(until("resets Thu 9:00 AM")).toBe("2026-11-12T08:00:00.000Z");
  });

  it("is the nearest such date when no year is said", () => {
    expect(until("resets Oct 12, 9am")).toBe("2026-10-12T08:00:00.000Z");
    expect(until("resets Jan 3, 9am", "2026-12-30T00:00:00Z", 0)).toBe("2027-01-03T09:00:00.000Z");
    expect(until("resets Dec 30, 9am", "2027-01-02T00:00:00Z", 0)).toBe("2026-12-30T09:00:00.000Z");
  });

  it.each([
    ["in 2 hours 15 minutes", "2026-11-06T15:45:00.000Z"],
    ["in 2 hours and 15 minutes", "2026-11-06T15:45:00.000Z"],
    ["in 4hr 29min", "2026-11-06T17:59:00.000Z"],
    ["in 1 week", "2026-11-13T13:30:00.000Z"],
    ["after 73801s", "2026-11-07T10:00:01.000Z"],
    ["at 2026-11-07T05:00:00Z", "2026-11-07T05:00:00.000Z"],
    ["at 2026-11-07T05:00:00+02:00", "2026-11-07T03:00:00.000Z"],
    ["on 2026-11-07 05:00 UTC", "2026-11-07T05:00:00.000Z"],
    ["on 2026-11-07 05:00", "2026-11-07T04:00:00.000Z"],
    ["at 23:00 UTC", "2026-11-06T23:00:00.000Z"],
    ["on 20 November 2026 at 08:00", "2026-11-20T07:00:00.000Z"],
  ])("is understood: resets %s", (text, expected) => {
    expect(until(`resets ${text}`)).toBe(expected);
  });

  it.each(["soon", "every 5h", "(every 5h and every week)", "weekly", "at 99pm", "Foo 12"])(
    "stays unknown: resets %s",
    (text) => {
      expect(until(`resets ${text}`)).toBeUndefined();
    },
  );
});

describe("whatever is printed", () => {
  const size = 100_000;
  const pieces = [
    "You've hit your usage limit · resets ",
    "API Error: ",
    "Error: ",
    "litellm.RateLimitError: ",
    '{"error":{"message":"',
    "\\\\\\\\",
    '\\"',
    " ",
    "\t",
    "9",
    "9:",
    "[",
    "{",
    "|1",
    "resets in ",
    "try again ",
    "retry-after: ",
    "a",
    "A.",
    "-",
    "```",
    "\u001b[",
    "⎿ ",
    "Nov ",
    "\ud800",
    "\u0000",
    "\n",
    "\r",
  ];
  const long = (piece: string): string => piece.repeat(Math.ceil(size / piece.length));

  it("is answered without an error, however long it is", () => {
    for (const piece of pieces) {
      for (const other of ["", "Error: ", "You've hit your limit · resets at ", '{"error":']) {
        const text = `${other}${long(piece)}`;
        expect(() => troubleIn({ text }, at)).not.toThrow();
        expect(() => troubleAsAnswer(text, at)).not.toThrow();
        expect(() => troubleIn({ text, status: 429 }, at)).not.toThrow();
      }
    }
  });

  it("is seen at the end of a long output", () => {
    const text = `${long("working on it, 429 lines done\n")}\nYou've hit your session limit · resets 7:20pm\n`;
    expect(troubleIn({ text }, at)?.until).toBe("2026-11-06T18:20:00.000Z");
  });

  it("is answered without an error for any mixture of pieces", () => {
    let seed = 42;
    const next = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    const all = [...pieces, ...troubles.map(({ text }) => text.slice(0, 60))];
    for (let round = 0; round < 3000; round++) {
      const text = Array.from({ length: 1 + next(8) }, () => all[next(all.length)]).join("");
      const found = troubleIn({ text, ...(next(3) === 0 ? { status: 400 + next(200) } : {}) }, at);
      if (found) expect(troubleKinds).toContain(found.kind);
      const until = found?.until;
      if (until) expect(until).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
  });

  it("is answered for fields that make no sense", () => {
    for (const value of ["", "soon", "-1", "1e999", Number.NaN, Number.POSITIVE_INFINITY, -5]) {
      for (const name of ["retry-after", "resets_at", "x-ratelimit-reset", "retry-after-ms"]) {
        expect(troubleIn({ text: "", status: 429, fields: { [name]: value } }, at)?.kind).toBe(
          "rate_limit",
        );
      }
    }
    expect(troubleIn({ text: "", status: 429 }, { now: "", zoneMinutes: Number.NaN })?.kind).toBe(
      "rate_limit",
    );
  });
});
