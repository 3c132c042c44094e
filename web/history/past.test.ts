import { describe, expect, it } from "vitest";
import { blankBoard, evolveBoard, packBoard } from "../../src/core/board/board.ts";
import type { RecordedEvent } from "../../src/core/event.ts";
import type { Api } from "../api.ts";
import { foldTo, jump, marksOf, nearest, pastOf, together } from "./past.ts";

/** A long flow: blockers come and go. */
const eventAt = (seq: number): RecordedEvent => {
  const at = new Date(Date.UTC(2026, 0, 1) + seq * 1000).toISOString();
  const told = { seq, at, run: "flow" };
  if (seq === 1)
    return {
      ...told,
      type: "step-entered",
      flow: "greenfield",
      step: "1",
      name: "Problem",
      cycle: 1,
    };
  return seq % 2 === 0
    ? { ...told, type: "blocker-raised", text: `blocker ${seq}` }
    : { ...told, type: "blocker-cleared", text: `blocker ${seq - 1}` };
};

const history = (length: number): RecordedEvent[] =>
  Array.from({ length }, (_, at) => eventAt(at + 1));

const boardAt = (events: readonly RecordedEvent[], seq: number) =>
  events.slice(0, seq).reduce(evolveBoard, blankBoard);

/** A server with a checkpoint every 700 events; `asked`: what it was asked. */
function server(events: readonly RecordedEvent[]) {
  const asked: string[] = [];
  const api: Pick<Api, "board" | "events"> = {
    board: (at = events.length) => {
      asked.push(`board ${at}`);
      const board = packBoard(boardAt(events, at - (at % 700)));
      const head = { seq: events.length, began: "", at: "" };
      const value = {
        version: 1 as const,
        board,
        head,
        budgets: { attempt: {}, phase: {}, run: {} },
        flows: [],
      };
      return Promise.resolve({ ok: true, value });
    },
    events: (after, to) => {
      asked.push(`events ${after}`);
      return Promise.resolve({ ok: true, value: { version: 1, events: events.slice(after, to) } });
    },
  };
  return { api: api as Api, asked };
}

describe("folding to a moment", () => {
  const events = history(950);

  it("arrives at the board of that moment, from wherever it begins", () => {
    for (const from of [0, 1, 99, 500]) {
      const { board } = foldTo(boardAt(events, from), events, 731);
      expect(board).toEqual(boardAt(events, 731));
    }
  });

  it("leaves boards to begin from, and finds the nearest of them", () => {
    const { left } = foldTo(blankBoard, events, 731);
    expect(left.map(({ seq }) => seq)).toEqual([100, 200, 300, 400, 500, 600, 700]);
    expect(nearest(left, 450).seq).toBe(400);
    expect(nearest(left, 99)).toBe(blankBoard);
  });

  it("keeps no more of them than it needs, in their order", () => {
    const boards = Array.from({ length: 500 }, (_, at) => ({ ...blankBoard, seq: at + 1 }));
    const kept = together(boards.slice(250), boards.slice(0, 260));
    expect(kept.length).toBe(250);
    expect(kept.map(({ seq }) => seq)).toEqual(
      kept.map(({ seq }) => seq).toSorted((a, b) => a - b),
    );
  });
});

describe("the past", () => {
  const events = history(5300);
  const { api, asked } = server(events);
  const past = pastOf(api, () => events.length);

  it.each([5300, 1, 1000, 1001, 2650, 2649, 4999, 3])("is what it was at %i", async (seq) => {
    const moment = await past.at(seq);
    if (!moment.ok) throw new Error("the server answers");
    expect(moment.value.board).toEqual(boardAt(events, seq));
    expect(moment.value.event?.seq).toBe(seq);
    const [first, last] = [moment.value.around[0]?.seq, moment.value.around.at(-1)?.seq];
    expect([first, last]).toEqual([Math.max(1, seq - 60), Math.min(5300, seq + 60)]);
  });

  it("asks for nothing twice: one step beside a moment costs no question", async () => {
    await past.at(4999);
    const before = asked.length;
    await past.at(4998);
    await past.at(4997);
    expect(asked.length).toBe(before);
  });

  it("tells trouble as it is", async () => {
    const trouble = { is: "away", code: "away", message: "nobody answers" } as const;
    const broken = { ...api, events: () => Promise.resolve({ ok: false as const, trouble }) };
    expect(await pastOf(broken, () => 10).at(5)).toEqual({ ok: false, trouble });
  });
});

describe("what is worth seeing", () => {
  const marks = marksOf(history(9));

  it("is found in both directions, and a way on where none is known", () => {
    expect(marks.map(({ seq }) => seq)).toEqual([2, 4, 6, 8]);
    expect(jump(marks, 5, 1)).toBe(6);
    expect(jump(marks, 5, -1)).toBe(4);
    expect(jump(marks, 8, 1)).toBe(33);
  });
});
