import { describe, expect, it } from "vitest";
import { begin, deliver, parked, used } from "../../../test/run-story.ts";
import { failed, moment, type PhaseOf, watchedRun } from "../../../test/watched-run.ts";
import { randomFrom } from "../../../torture/rig.ts";
import type { RunView } from "../../core/plan/run-view.ts";
import { liveLines } from "./live.ts";
import type { Style } from "./style.ts";
import { widthOf } from "./width.ts";

const same = (text: string): string => text;
const plain: Style = { bold: same, dim: same, red: same, green: same, yellow: same };
const paint =
  (code: number) =>
  (text: string): string =>
    `\u001b[${code}m${text}\u001b[0m`;
const coloured: Style = {
  bold: paint(1),
  dim: paint(2),
  red: paint(31),
  green: paint(32),
  yellow: paint(33),
};

const frame = (view: RunView, columns: number, rows = 30, unicode = true): string[] =>
  liveLines(view, { columns, rows, style: plain, unicode });
const picture = (view: RunView, columns: number, rows = 30, unicode = true): string =>
  `\n${frame(view, columns, rows, unicode).join("\n")}\n`;

/** Some of everything. */
function inTheMiddle(): RunView {
  const story = watchedRun([
    { id: "0", name: "Project set-up", estimate: 1 },
    { id: "1", name: "Database schema and migrations", estimate: 3, dependsOn: ["0"] },
    { id: "2a", name: "Backend API", estimate: 5, dependsOn: ["1"] },
    { id: "2b", name: "監査ログ 🔒", estimate: 3, dependsOn: ["1"] },
    { id: "2c", name: "Mail", estimate: 2, dependsOn: ["1"] },
    { id: "3", name: "Integration", estimate: 2, dependsOn: ["2a", "2b"] },
    { id: "4", name: "Newsletter", estimate: 2, dependsOn: ["2c"] },
    { id: "5", name: "Documentation", estimate: 1 },
  ]);
  const gates = [
    {
      name: "test",
      command: "npm test",
      passed: false,
      summary: "",
      failures: ["test/mail.test.js:12 sends one mail"],
    },
  ];
  story.lands("0", 0, 65).lands("1", 65, 260);
  story.news({ opened: { history: story.history(), jobs: 3 } });
  story.at(262, begin("2c")).at(300, failed("2c", { gates }));
  story.at(301, begin("2c", 2)).at(340, failed("2c", { attempt: 2, gates }));
  story
    .at(342, begin("2a"))
    .at(342, begin("2b", 1, 1))
    .at(345, ...parked("5", moment(4000)));
  story.at(400, failed("2a")).at(401, begin("2a", 2)).at(420, deliver("2b"));
  story.at(420, used("2a", 84_300, 1.42), used("2b", 31_000, 0.5));
  return story
    .news(
      { phase: "2a", text: "Now I will add the route that verifies the challenge." },
      { phase: "2b", gate: "test", command: "npm test" },
      { phase: "2b", text: "✔ writes an entry for each sign-in (12.3ms)" },
    )
    .view(431);
}

describe("a frame", () => {
  it("at 40 columns", () => {
    expect(picture(inTheMiddle(), 40)).toMatchInlineSnapshot(`
      "

      Sign in with …  7 min 11 s · ≈ 1 h left
      ██▒▒▒▒░░░░  2 of 8 · 2 at work · 1 fai…
      ✓ 0  Project set-up  0000abc       1:05
      ✓ 1  Database schem… 1000abc       3:15
      ▸ 2A Backend API     working 2/2   0:30
           └ Now I will add the route that v…
      ▸ 2B 監査ログ 🔒     checking: …   1:29
           └ ✔ writes an entry for each sign…
      ✗ 2C Mail            failed
           └ test failed: \`npm test\` ended w…
             test/mail.test.js:12 sends one …
      ○ 3  Integration     after 2A, …
      • 4  Newsletter      blocked: 2C
      ‖ 5  Documentation   until 13:0…
      "
    `);
  });
  it("at 60 columns", () => {
    expect(picture(inTheMiddle(), 60)).toMatchInlineSnapshot(`
      "

       Sign in with a passkey             7 min 11 s · ≈ 1 h left
       ██▒▒▒▒░░░░  2 of 8 · 2 at work · 1 failed · 1 blocked · 1…
       ✓ 0  Project set-up             0000abc               1:05
       ✓ 1  Database schema and migra… 1000abc               3:15
       ▸ 2A Backend API                working 2/2           0:30
            └ Now I will add the route that verifies the challen…
       ▸ 2B 監査ログ 🔒                checking: test        1:29
            └ ✔ writes an entry for each sign-in (12.3ms)
       ✗ 2C Mail                       failed
            └ test failed: \`npm test\` ended with 1
              test/mail.test.js:12 sends one mail
       ○ 3  Integration                waits for 2A, 2B
       • 4  Newsletter                 blocked by 2C
       ‖ 5  Documentation              parked until 13:06…
      "
    `);
  });
  it("at 80 columns", () => {
    expect(picture(inTheMiddle(), 80)).toMatchInlineSnapshot(`
      "

       Sign in with a passkey        7 min 11 s · about 1 h left · 115k tokens, $1.92
       █████▒▒▒▒▒▒▒▒▒▒░░░░░░░░░  2 of 8 · 2 at work · 1 failed · 1 blocked · 1 parked
       ✓ 0  Project set-up                 0000abc              1:05
       ✓ 1  Database schema and migrations 1000abc              3:15
       ▸ 2A Backend API                    working 2/2          0:30   $1.42
            └ Now I will add the route that verifies the challenge.
       ▸ 2B 監査ログ 🔒                    checking: test       1:29   $0.50
            └ ✔ writes an entry for each sign-in (12.3ms)
       ✗ 2C Mail                           failed
            └ test failed: \`npm test\` ended with 1
              test/mail.test.js:12 sends one mail
       ○ 3  Integration                    waits for 2A, 2B
       • 4  Newsletter                     blocked by 2C
       ‖ 5  Documentation                  parked until 13:0…
      "
    `);
  });
  it("at 120 columns", () => {
    expect(picture(inTheMiddle(), 120)).toMatchInlineSnapshot(`
      "

       Sign in with a passkey                                        7 min 11 s · about 1 h left · 115k tokens, $1.92
       ██████████▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒░░░░░░░░░░░░░░░░░░  2 of 8 · 2 at work · 1 failed · 1 blocked · 1 parked
       ✓ 0  Project set-up                 0000abc                    1:05
       ✓ 1  Database schema and migrations 1000abc                    3:15
       ▸ 2A Backend API                    working, attempt 2 of 2    0:30   $1.42  Now I will add the route that verifies t…
       ▸ 2B 監査ログ 🔒                    checking: test             1:29   $0.50  ✔ writes an entry for each sign-in (12.3…
       ✗ 2C Mail                           failed                                   test failed: \`npm test\` ended with 1
            └ test/mail.test.js:12 sends one mail
       ○ 3  Integration                    waits for 2A, 2B
       • 4  Newsletter                     blocked by 2C
       ‖ 5  Documentation                  parked until 13:06 UTC
      "
    `);
  });
  it("at 200 columns", () => {
    expect(picture(inTheMiddle(), 200)).toMatchInlineSnapshot(`
      "

       Sign in with a passkey                                        7 min 11 s · about 1 h left · 115k tokens, $1.92
       ██████████▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒░░░░░░░░░░░░░░░░░░  2 of 8 · 2 at work · 1 failed · 1 blocked · 1 parked
       ✓ 0  Project set-up                 0000abc                    1:05
       ✓ 1  Database schema and migrations 1000abc                    3:15
       ▸ 2A Backend API                    working, attempt 2 of 2    0:30   $1.42  Now I will add the route that verifies the challenge.
       ▸ 2B 監査ログ 🔒                    checking: test             1:29   $0.50  ✔ writes an entry for each sign-in (12.3ms)
       ✗ 2C Mail                           failed                                   test failed: \`npm test\` ended with 1
            └ test/mail.test.js:12 sends one mail
       ○ 3  Integration                    waits for 2A, 2B
       • 4  Newsletter                     blocked by 2C
       ‖ 5  Documentation                  parked until 13:06 UTC
      "
    `);
  });
  it("in a locale without Unicode", () => {
    expect(picture(inTheMiddle(), 80, 30, false)).toMatchInlineSnapshot(`
      "

       Sign in with a passkey        7 min 11 s - about 1 h left - 115k tokens, $1.92
       #####==========.........  2 of 8 - 2 at work - 1 failed - 1 blocked - 1 parked
       + 0  Project set-up                 0000abc              1:05
       + 1  Database schema and migrations 1000abc              3:15
       > 2A Backend API                    working 2/2          0:30   $1.42
            \` Now I will add the route that verifies the challenge.
       > 2B 監査ログ 🔒                    checking: test       1:29   $0.50
            \` ✔ writes an entry for each sign-in (12.3ms)
       x 2C Mail                           failed
            \` test failed: \`npm test\` ended with 1
              test/mail.test.js:12 sends one mail
       o 3  Integration                    waits for 2A, 2B
       ! 4  Newsletter                     blocked by 2C
       = 5  Documentation                  parked until 13:0~
      "
    `);
  });
  it("before the first phase", () => {
    const story = watchedRun([{ id: "1", name: "Greet" }]);
    story.news({ gate: "test", command: "npm test" });
    expect(picture(story.view(3), 60)).toMatchInlineSnapshot(`
      "

       Sign in with a passkey                                 3 s
       ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  0 of 1 · baseline: test
       ○ 1 Greet next
      "
    `);
  });

  it("says what it needs of somebody who watches from elsewhere", () => {
    const asking = [{ id: "d-0123456789ab", question: "keep\nyours?", recommendation: "B" }];
    const lines = frame({ ...inTheMiddle(), asking }, 60);
    expect(lines).toContain(" ? keep yours?");
    expect(lines).toContain("   autodev decide d-0123456789ab B");
    const screen = { columns: 60, rows: 30, style: plain, unicode: true, isFleet: true };
    expect(liveLines({ ...inTheMiddle(), asking }, screen)).toContain(
      "   autodev decide d-0123456789ab B --engine postgres",
    );
  });
});

describe("more phases than rows", () => {
  const many = (count: number): RunView => {
    const phases = Array.from({ length: count }, (_, at): PhaseOf => {
      const id = `p${at}`;
      return { id, name: `Part ${at}`, dependsOn: at < 3 ? [] : [`p${at - 3}`] };
    });
    const story = watchedRun(phases);
    story.news({ opened: { history: story.history(), jobs: 2 } });
    for (let at = 0; at < 9; at += 3) {
      for (const each of [at, at + 1, at + 2]) story.lands(`p${each}`, at * 10, at * 10 + 9);
    }
    story.at(95, begin("p10")).at(96, failed("p10")).at(97, begin("p10", 2));
    story.at(98, failed("p10", { attempt: 2 }));
    story.at(100, begin("p9")).at(100, begin("p11", 1, 1));
    return story.news({ phase: "p9", text: "at it" }).view(130);
  };

  it("shows those under way, what went wrong, what comes next, and counts the rest", () => {
    expect(picture(many(60), 80, 16)).toMatchInlineSnapshot(`
      "
       Sign in with a passkey                           2 min 10 s · about 3 min left
       ████▒▒░░░░░░░░░░░░░░░░░░░░░░░░░░░  9 of 60 · 2 at work · 1 failed · 16 blocked
       ▸ P9  Part 9  working              0:30  at it
       ▸ P11 Part 11 working              0:30
       ✗ P10 Part 10 failed                     test failed: \`npm test\` ended with 1
       • P13 Part 13 blocked by P10
       • P16 Part 16 blocked by P10
       ○ P12 Part 12 waits for P9
       ○ P14 Part 14 waits for P11
       ○ P15 Part 15 waits for P12
       … 9 complete, 14 blocked, 29 waiting
      "
    `);
  });

  it.each([3, 4, 5, 8, 12, 24, 50])("is never higher than a screen of %i rows", (rows) => {
    for (const columns of [40, 80, 200]) {
      expect(frame(many(60), columns, rows).length).toBeLessThan(rows);
    }
  });

  it("keeps those under way on the smallest screen", () => {
    expect(frame(many(500), 80, 6).join("\n")).toContain("P9");
  });
});

describe("whatever anything is called", () => {
  const pieces = [
    "a",
    "Backend API ",
    "監査",
    "한국어",
    "ｆｕｌｌ",
    "🔒",
    "👩‍👩‍👧‍👦",
    "👍🏽",
    "🇩🇪",
    "⚠️",
    "e\u0301",
    "क्षि",
    "ไทย",
    "\u202e",
    "\u200b",
    "\u001b[2J",
    "\u001b]0;title\u0007",
    "\u009b31m",
    "\r",
    "\n",
    "\t",
    "\u0007",
    "█",
    "…",
    "𠀀",
    "\ud800",
    " ",
    "x".repeat(90),
  ];

  it("no line is as wide as the screen, and nothing in it is obeyed", () => {
    const random = randomFrom(20_261_006);
    const text = (): string =>
      Array.from({ length: random.below(12) }, () => pieces[random.below(pieces.length)]).join("");
    for (let round = 0; round < 150; round++) {
      const story = watchedRun(
        Array.from({ length: 1 + random.below(7) }, (_, at) => ({
          id: `p${at}`,
          written: text(),
          name: text(),
          ...(random.chance(0.5) && { estimate: random.below(9) }),
          dependsOn: at > 2 ? [`p${at - 1}`] : [],
        })),
        text(),
      );
      story.at(1, begin("p0")).news({ phase: "p0", text: text() });
      const error = { type: "agent_crash" as const, message: text(), details: text() };
      const fate = random.below(4);
      if (fate < 2) story.at(2, failed("p0", { error }));
      else if (fate === 2) {
        story.at(2, deliver("p0")).news({ phase: "p0", gate: text(), command: text() });
      }
      story.at(2, used("p0", random.below(1e9), 1234.5));
      const view = { ...story.view(random.below(1e6)), asking: [] };
      const columns = random.between(12, 220);
      const rows = random.between(3, 40);
      const unicode = random.chance(0.8);
      const plainly = liveLines(view, { columns, rows, style: plain, unicode });
      for (const line of plainly) {
        expect(widthOf(line), JSON.stringify({ columns, line })).toBeLessThan(columns);
        expect(line).not.toMatch(/[\p{Cc}\u200b-\u200f\u202a-\u202e]/u);
      }
      expect(plainly.length).toBeLessThan(rows);
      const painted = liveLines(view, { columns, rows, style: coloured, unicode });
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control sequences.
      const bare = painted.map((line) => line.replace(/\u001b\[\d+m/g, "").trimEnd());
      expect(bare).toEqual(plainly.map((line) => line.trimEnd()));
    }
  });
});
