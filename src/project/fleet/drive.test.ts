import { describe, expect, it } from "vitest";
import { succeed } from "../../core/failure.ts";
import type { Holder } from "../../store.ts";
import type { PostgresStore } from "../../stores/postgres.ts";
import { seatStore } from "./drive.ts";

describe("what whoever drives a run has heard", () => {
  it("is written down for others before it is taken out of the inbox", async () => {
    const done: string[] = [];
    let seq = 1;
    const session = {
      get head() {
        return { seq, hash: "" };
      },
      takenUp: async () => void done.push("taken up"),
    };
    const store = seatStore({ open: async () => succeed(session) } as unknown as PostgresStore);
    const opened = await store.open({} as Holder);
    if (!opened.ok) throw new Error(opened.failure.message);
    store.noteFirst(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      done.push("written down");
    });
    await opened.value.takenUp("1");
    expect(done).toEqual(["written down", "taken up"]);
    // Whatever cannot be written down keeps nobody from hearing more.
    store.noteFirst(() => Promise.reject(new Error("away")));
    await opened.value.takenUp("2");
    expect(done.length).toBe(3);
    seq = 2;
    expect(opened.value.head.seq).toBe(2);
  });
});
