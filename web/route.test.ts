import { describe, expect, it } from "vitest";
import { hashOf, type Route, routeOf } from "./route.ts";

describe("a route", () => {
  it.each<[string, Route]>([
    ["#/", { view: "now", project: "." }],
    ["#/?p=packages%2Fweb", { view: "now", project: "packages/web" }],
    [
      "#/flow/00_problem/problem.md",
      { view: "flow", artifact: "00_problem/problem.md", project: "." },
    ],
    ["#/flow?step=3", { view: "flow", step: "3", project: "." }],
    ["#/run/r12", { view: "run", run: "r12", project: "." }],
    ["#/run/r12/2a?p=web&at=57", { view: "run", run: "r12", phase: "2a", project: "web", at: 57 }],
    ["#/timeline/r12", { view: "timeline", run: "r12", project: "." }],
    ["#/history?at=9", { view: "history", project: ".", at: 9 }],
  ])("%s is read and written", (hash, route) => {
    expect(routeOf(hash)).toEqual(route);
    expect(hashOf(route)).toBe(hash);
  });

  it.each(["", "#", "#nonsense", "#/elsewhere/x", "#/?at=-1", "#/?at=x"])("%s is now", (hash) => {
    expect(routeOf(hash)).toEqual({ view: "now", project: "." });
  });

  it("survives what is no escape", () => {
    expect(routeOf("#/flow/100%.md")).toMatchObject({ artifact: "100%.md" });
  });
});
