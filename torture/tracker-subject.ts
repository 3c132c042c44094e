/** The product at work on one project's tracker, as a process of its own: to be killed. */
import type { TrackerKind } from "../src/core/tracker/servers.ts";
import { makeServer, trackOnce } from "./tracker-world.ts";

const [root = "", kind = "", folder = ""] = process.argv.slice(2);
void trackOnce(root, makeServer(kind as TrackerKind, folder)).then((problem) => {
  if (problem !== undefined) console.error(problem);
  process.exitCode = problem === undefined ? 0 : 1;
});
