/**
 * The suite that every engine passes. It takes a test runner's own functions, and a factory that
 * makes an engine for a new repository with given files; the work is done by scripts in there.
 */
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import type { RecordedEvent } from "../core/event.ts";
import type { Result } from "../core/failure.ts";
import type { Engine } from "../engine.ts";
import type { Runner } from "./store-contract.ts";

export interface EngineAtWork {
  readonly engine: Engine;
  /** Subjects of what is published on `main`, oldest first, without what was there before. */
  published(): readonly string[];
  end(): Promise<void>;
}

/** What the repository holds, committed; `docs/plan.md` is the plan. */
export type EngineFiles = Readonly<Record<string, string>>;

const plan = "docs/plan.md";

/** Each phase writes one file of its own. */
const planOf = (phases: readonly (readonly [id: string, ...needs: string[]])[]): string =>
  [
    "# A feature\n",
    "| Phase | Name | Depends On | Parallel With | Estimate | Status |",
    "|---|---|---|---|---|---|",
    ...phases.map(
      ([id, ...needs]) => `| ${id} | Part ${id} | ${needs.join(", ") || "-"} | - | 1 | ⬜ |`,
    ),
    "",
    ...phases.map(
      ([id]) =>
        `### Phase ${id}: Part ${id}\n\n#### Tasks\n\n- [ ] Make part ${id}\n\n#### Definition of Done\n\n- [ ] It is there\n`,
    ),
  ].join("\n");

/** A script that has $NOTES, a folder outside of every repository, to tell us what it has seen. */
const agentOf = (script: string, notes: string): string => `NOTES='${notes}'
echo "$AUTODEV_PHASE $AUTODEV_ATTEMPT" >> "$NOTES/started"
finish() {
  printf '{"phase_id":"%s","status":"complete","tasks":{"total":1,"completed":1},"commit_message":"feat: part %s"}' "$AUTODEV_PHASE" "$AUTODEV_PHASE" > "$AUTODEV_RESULT"
}
work() { mkdir -p src; echo "part $AUTODEV_PHASE" > "src/$AUTODEV_PHASE.txt"; }
${script}
`;

const config = (gates: string): string =>
  `gates: ${gates}\nagents:\n  mine: { command: sh agent.sh, confined: false }\n`;

export function engineContract(
  name: string,
  make: (files: EngineFiles) => Promise<EngineAtWork>,
  { describe, it, expect }: Runner,
): void {
  const value = <T>(result: Result<T>): T => {
    if (!result.ok) throw new Error(`${result.failure.code}: ${result.failure.message}`);
    return result.value;
  };
  const open = async (
    phases: Parameters<typeof planOf>[0],
    { script = "work; finish", gates = "{ test: 'true' }" } = {},
  ) => {
    const notes = fs.mkdtempSync(path.join(os.tmpdir(), "autodev-engine-"));
    const at = await make({
      [plan]: planOf(phases),
      "agent.sh": agentOf(script, notes),
      ".autodev/config.yaml": config(gates),
    });
    const read = (file: string): string[] => {
      const full = path.join(notes, file);
      return fs.existsSync(full) ? fs.readFileSync(full, "utf8").trim().split("\n") : [];
    };
    const until = async (is: () => boolean): Promise<void> => {
      for (let left = 600; !is(); left--) {
        if (left === 0) throw new Error("it never came to that");
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    return { ...at, notes, read, until };
  };
  const wish = (jobs = 2) => ({ plan, commit: "auto" as const, jobs, agent: "mine" });
  const types = (events: readonly RecordedEvent[]): string[] =>
    events.map((event) => ("phase" in event ? `${event.type} ${event.phase}` : event.type));

  describe(`${name} keeps the contract of an engine`, () => {
    it("carries a plan to its end, each phase once, after those that it waits for", async () => {
      const diamond = [
        ["1"],
        ["2a", "1"],
        ["2b", "1"],
        ["2c", "1"],
        ["3", "2a", "2b", "2c"],
      ] as const;
      const { engine, read, published, end } = await open(diamond);
      const { run, created } = value(await engine.submit(wish(3)));
      expect(created).toBe(true);
      const rested = value(await engine.rested(run));
      expect(rested.ended).toBe("complete");
      expect(read("started").toSorted()).toEqual(["1 1", "2a 1", "2b 1", "2c 1", "3 1"]);
      const order = published();
      expect(order.length).toBe(5);
      expect([order[0], order.at(-1)]).toEqual(["feat: part 1", "feat: part 3"]);
      await end();
    });

    it("records the same history as every other", async () => {
      const { engine, end } = await open([["1"], ["2", "1"]]);
      const { run } = value(await engine.submit(wish(1)));
      value(await engine.rested(run));
      const one = (id: string): string[] => [
        `attempt-started ${id}`,
        `attempt-delivered ${id}`,
        `phase-verified ${id}`,
        `phase-landed ${id}`,
      ];
      const events = types(value(await engine.events(run)));
      // When a phase is published, the next may have begun: that is nobody's to say.
      const [landing, publishing] = [
        events.filter((each) => !each.startsWith("phase-published")),
        events.filter((each) => each.startsWith("phase-published")),
      ];
      expect(landing).toEqual([
        "run-started",
        "baseline-taken",
        ...one("1"),
        ...one("2"),
        "run-ended",
      ]);
      expect(publishing).toEqual(["phase-published 1", "phase-published 2"]);
      await end();
    });

    it("takes the same plan, submitted again, for the same run", async () => {
      const { engine, read, notes, until, end } = await open([["1"]], {
        script: 'while [ ! -e "$NOTES/go" ]; do sleep 0.05; done; work; finish',
      });
      const first = value(await engine.submit(wish()));
      await until(() => read("started").length > 0);
      const second = value(await engine.submit(wish()));
      expect(second).toMatchObject({ run: first.run, created: false });
      fs.writeFileSync(path.join(notes, "go"), "");
      expect(value(await engine.rested(first.run)).ended).toBe("complete");
      expect(read("started")).toEqual(["1 1"]);
      await end();
    });

    it("tries again what failed, gives it up in the end, and lands what does not wait for it", async () => {
      const { engine, read, published, end } = await open([["1"], ["2"], ["3", "1"]], {
        script: '[ "$AUTODEV_PHASE" = 1 ] && exit 3; work; finish',
      });
      const { run } = value(await engine.submit(wish()));
      const rested = value(await engine.rested(run));
      expect(rested.ended).toBe("halted");
      expect(read("started").toSorted()).toEqual(["1 1", "1 2", "2 1"]);
      expect(published()).toEqual(["feat: part 2"]);
      await end();
    });

    it("believes no agent that says it is done", async () => {
      const { engine, published, end } = await open([["1"]], {
        script: "finish",
        gates: "{ test: '[ -z \"$AUTODEV_PHASE\" ] || [ -e src/1.txt ]' }",
      });
      const { run } = value(await engine.submit(wish()));
      expect(value(await engine.rested(run)).ended).toBe("halted");
      expect(published()).toEqual([]);
      await end();
    });

    it("asks a decision once, lets the first answer stand, and goes on with it", async () => {
      const { engine, read, end } = await open([["1"]], { gates: "{ test: false }" });
      const { run } = value(await engine.submit(wish()));
      expect(value(await engine.rested(run)).ended).toBe("asking");
      const [decision] = value(await engine.openDecisions(run));
      const id = decision?.id ?? "";
      const answers = await Promise.all(
        ["A", "B", "A"].map((key, at) => engine.answer(run, id, { key, by: `person ${at}` })),
      );
      const standing = new Set(answers.map((answer) => JSON.stringify(value(answer))));
      expect(standing.size).toBe(1);
      const first = value(answers[0] ?? answers[1] ?? answers[2] ?? (undefined as never));
      const rested = value(await engine.rested(run));
      expect(rested.ended).toBe(first.key === "A" ? "complete" : "halted");
      expect(read("started").length).toBe(first.key === "A" ? 1 : 0);
      const asked = value(await engine.events(run));
      expect(asked.filter(({ type }) => type === "run-started").length).toBe(1);
      await end();
    });

    it("stops those at work, and goes on from there without doing anything twice", async () => {
      const { engine, read, notes, until, published, end } = await open([["1"], ["2", "1"]], {
        script: `if [ "$AUTODEV_PHASE" = 2 ] && [ ! -e "$NOTES/go" ]; then sleep 60 & echo $! >> "$NOTES/child"; wait; fi
work; finish`,
      });
      const { run } = value(await engine.submit(wish()));
      await until(() => read("child").length > 0);
      value(await engine.stop(run, "somebody"));
      expect(value(await engine.rested(run)).ended).toBe("interrupted");
      fs.writeFileSync(path.join(notes, "go"), "");
      const again = value(await engine.submit(wish()));
      expect(again).toMatchObject({ run, created: false });
      expect(value(await engine.rested(run)).ended).toBe("complete");
      expect(read("started")).toEqual(["1 1", "2 1", "2 2"]);
      expect(published()).toEqual(["feat: part 1", "feat: part 2"]);
      await end();
    });

    it("has no more phases at work at once than it was told", async () => {
      const { engine, read, end } = await open([["1"], ["2"], ["3"], ["4"], ["5"]], {
        script: `echo + >> "$NOTES/at-work"; sleep 0.3; work; finish; echo - >> "$NOTES/at-work"`,
      });
      const { run } = value(await engine.submit(wish(2)));
      expect(value(await engine.rested(run)).ended).toBe("complete");
      let [now, most] = [0, 0];
      for (const mark of read("at-work")) {
        now += mark === "+" ? 1 : -1;
        most = Math.max(most, now);
      }
      expect(most).toBe(2);
      await end();
    });
  });
}
