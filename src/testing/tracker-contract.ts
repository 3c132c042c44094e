/**
 * The suite that every tracker passes. It takes a test runner's own functions, and a factory that makes
 * a tracker in which there is nothing yet.
 */
import type { NewItem } from "../core/tracker/ledger.ts";
import type { Outcome, Tracker } from "../tracker.ts";
import type { Runner } from "./store-contract.ts";

const idShape = /^[A-Z][A-Z0-9_]{0,19}-[0-9]{1,12}$/;

const epic: NewItem = { key: "ad-00000000000000e1", kind: "epic", title: "Orders", body: "" };
const task = (epicId: string): NewItem => ({
  key: "ad-00000000000000a1",
  kind: "task",
  title: 'Cancel "several" orders; <b>all</b> of them',
  body: "Up to 100.\n\nComponent: 02_orders",
  epic: epicId,
});

/** `keeps`: items that are created can be found again; without, it only says that it has none. */
export function trackerContract(
  name: string,
  make: () => Promise<Tracker>,
  { describe, it, expect }: Runner,
  { keeps = true } = {},
): void {
  const opened = async (): Promise<Tracker> => {
    const tracker = await make();
    expect(await tracker.open()).toMatchObject({ is: "open" });
    return tracker;
  };
  const valueOf = <T>(outcome: Outcome<T>): T => {
    if (outcome.is !== "done") throw new Error(`${outcome.is}: ${outcome.why}`);
    return outcome.value;
  };

  describe(`${name} keeps the contract of a tracker`, () => {
    it("finds nothing where nothing was created", async () => {
      const tracker = await opened();
      expect(await tracker.find(epic.key)).toEqual({ is: "done", value: [] });
      await tracker.close();
    });

    it("can be closed twice", async () => {
      const tracker = await opened();
      await tracker.close();
      await tracker.close();
    });

    if (!keeps) {
      it("says that it does nothing else", async () => {
        const tracker = await opened();
        const outcomes = [
          await tracker.create(epic),
          await tracker.link("X-1", "X-2"),
          await tracker.move("X-1", "done"),
        ];
        expect(outcomes.map(({ is }) => is)).toEqual(["cannot", "cannot", "cannot"]);
        await tracker.close();
      });
      return;
    }

    it("says by which tool it does what, and what those tools are", async () => {
      const tracker = await make();
      const how = await tracker.open();
      if (how.is !== "open") throw new Error(how.why);
      expect(Object.keys(how.how).sort()).toEqual(["create", "find", "link", "move"]);
      const used = new Set(Object.values(how.how));
      expect(how.tools.every((tool) => used.has(tool.name) && tool.text !== "")).toBe(true);
      await tracker.close();
    });

    it("finds what it created by its key, once, under the same id", async () => {
      const tracker = await opened();
      const above = valueOf(await tracker.create(epic));
      const made = valueOf(await tracker.create(task(above.id)));
      expect(idShape.test(above.id) && idShape.test(made.id) && above.id !== made.id).toBe(true);
      const found = valueOf(await tracker.find(task("").key));
      expect(found.map(({ id }) => id)).toEqual([made.id]);
      await tracker.close();
    });

    it("shows two with one key, the oldest first", async () => {
      const tracker = await opened();
      const first = valueOf(await tracker.create(epic));
      const second = valueOf(await tracker.create(epic));
      const found = valueOf(await tracker.find(epic.key));
      expect(found.map(({ id }) => id)).toEqual([first.id, second.id]);
      await tracker.close();
    });

    it("links and moves, twice as well as once", async () => {
      const tracker = await opened();
      const above = valueOf(await tracker.create(epic));
      const made = valueOf(await tracker.create(task(above.id)));
      for (const _ of [1, 2]) {
        expect(await tracker.link(made.id, above.id)).toMatchObject({ is: "done" });
        expect(await tracker.move(made.id, "done")).toMatchObject({ is: "done" });
      }
      await tracker.close();
    });

    it("can do nothing before it was opened, and says so", async () => {
      const tracker = await make();
      expect((await tracker.find(epic.key)).is).toBe("cannot");
      await tracker.close();
    });
  });
}
