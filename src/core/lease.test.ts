import { describe, expect, it } from "vitest";
import {
  type Lease,
  type LeaseName,
  leaseAfter,
  leaseName,
  leaseStanding,
  type Puller,
  readLeaseName,
} from "./lease.ts";

const one: Puller = { by: "one", holder: "h1", host: "here", pid: 1, started: 5, root: "/r" };
const two: Puller = { ...one, by: "two", holder: "h2", pid: 2 };
const noon = "2026-01-01T12:00:00.000Z";
const later = "2026-01-01T12:30:00.000Z";
const lease: Lease = { ...one, epoch: 1, until: later };
const [alive, dead] = [() => false, () => true];

describe("the name of a lease", () => {
  it.each<LeaseName>([
    { of: "phase", run: "r0123456789", phase: "2a", attempt: 3, epoch: 1 },
    { of: "phase", run: "rabcdef0123", phase: "p-1", attempt: 12, epoch: 40 },
    { of: "step", session: 7, epoch: 2 },
  ])("is read as it was written: %o", (name) => {
    expect(readLeaseName(leaseName(name))).toEqual(name);
  });

  it.each([
    "",
    "x",
    "r0123456789/2a/3",
    "r0123456789/2a/3/0",
    "r0123456789/../3/1",
    "r0123456789/2A/3/1",
    "r0123456789/2a/3/1/",
    "r0123456789/2a/-3/1",
    "flow/0/1",
    "flow/1",
    " flow/1/1",
    "flow/1/1\n",
    "R0123456789/2a/3/1",
    "flow/9999999999/1",
  ])("is nothing else: %j", (text) => {
    expect(readLeaseName(text)).toBeUndefined();
  });
});

describe("a lease", () => {
  it("keeps its epoch for the same conversation, and has another for the next", () => {
    expect(leaseAfter(undefined, one, later)).toEqual(lease);
    expect(leaseAfter(lease, one, "2026-01-01T13:00:00.000Z").epoch).toBe(1);
    expect(leaseAfter(lease, two, later)).toMatchObject({ epoch: 2, holder: "h2", by: "two" });
  });

  it.each([
    ["his own", one, alive, noon, "ours"],
    ["his own, after its time", one, alive, later, "ours"],
    ["another's", two, alive, noon, "theirs"],
    ["another's, after its time", two, alive, later, "lapsed"],
    ["a dead one's", two, dead, noon, "ours"],
    ["another's, to us", undefined, alive, noon, "theirs"],
    ["another's, to us, after its time", undefined, alive, later, "lapsed"],
    ["a dead one's, to us", undefined, dead, noon, "lapsed"],
  ] as const)("is %s", (_, puller, isGone, now, standing) => {
    expect(leaseStanding(lease, now, isGone, puller)).toBe(standing);
  });
});
