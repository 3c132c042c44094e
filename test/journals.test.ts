import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Event } from "../src/core/event.ts";
import { evolve, nothingYet, renderedStateFile } from "../src/core/evolve.ts";
import { eventsOf } from "../src/project.ts";
import { createFileStore } from "../src/stores/file.ts";

const journals = join(import.meta.dirname, "journals");

describe("journals that earlier releases wrote", () => {
  it.each(readdirSync(journals))("%s is read, checked and folded to the same state", (release) => {
    const folder = join(journals, release);
    const reading = createFileStore({ folder, root: folder }).read({ whole: true });
    if (!reading.ok) throw new Error(reading.failure.message);
    const events = reading.value.after.flatMap(eventsOf);
    for (const event of events) expect(Event.safeParse(event).error).toBeUndefined();
    const state = events.reduce(evolve, nothingYet);
    const expected: unknown = JSON.parse(readFileSync(join(folder, "expected.json"), "utf8"));
    // What a later release remembers besides is no part of what this one knew.
    const { course: _, ...known } = state;
    expect({ ...known, file: renderedStateFile(state)?.text }).toEqual(expected);
  });
});
