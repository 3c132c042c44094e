/**
 * Many people answer one decision at the same instant, from processes of their own: one answer
 * stands, everybody is told the same, and a kill in the middle loses no answer that was given.
 */
import { spawn } from "node:child_process";
import * as path from "node:path";
import { createFileStore } from "../src/stores/file.ts";
import {
  again,
  bundle,
  type Context,
  freshFolder,
  judged,
  makeRepository,
  type Outcome,
  type Plant,
  type Row,
  randomFrom,
} from "./rig.ts";

const races = { ci: 8, full: 300 };
const people = 6;

export const decisionRaces: Row = {
  name: "decision-races",
  promise: "the first answer to a decision stands, for everybody and for ever",
  budgetSeconds: { ci: 4, full: 200 },
  run: (context) => raceAnswers(context, { races: races[context.tier] }),
};

export async function raceAnswers(
  context: Context,
  options: { races: number; plant?: Plant },
): Promise<Outcome> {
  const program = await bundle(
    "torture/answerer.ts",
    options.plant ? { plant: options.plant } : {},
  );
  const failures: string[] = [];
  const figures = { races: 0, answers: 0, killed: 0, doubled: 0, lost: 0 };
  for (let race = 0; race < options.races && failures.length < 5; race++) {
    if (context.onlyCase !== undefined && context.onlyCase !== String(race)) continue;
    figures.races++;
    const draw = randomFrom(context.seed, race);
    const root = freshFolder(context.scratch, `race-${race}`);
    await makeRepository(root);
    const id = `d-${race.toString(16).padStart(12, "0")}`;
    const told = await Promise.all(
      Array.from({ length: people }, (_, person) => {
        const key = "ABCD"[person % 4] as string;
        const killAfter = draw.chance(0.3) ? draw.below(60) : undefined;
        return answerer([program, root, id, key, `person ${person}`], killAfter);
      }),
    );
    const folder = path.join(root, ".git", "autodev");
    const stands = createFileStore({ folder, root }).answers().get(id);
    const heard = told.filter((line) => line !== undefined);
    figures.answers += heard.length;
    figures.killed += told.length - heard.length;
    const repeat = again(context, "decision-races", String(race));
    if (new Set(heard).size > 1) {
      figures.doubled++;
      failures.push(`people were told ${[...new Set(heard)].join(" and ")}; ${repeat}`);
    }
    if (heard.length > 0 && heard[0] !== `${stands?.key} ${stands?.by}`) {
      figures.lost++;
      failures.push(`told ${heard[0]}, on disk ${JSON.stringify(stands)}; ${repeat}`);
    }
  }
  return judged(figures, failures);
}

/** What the program said that stands; undefined: it was killed before it could say. */
function answerer(argv: string[], killAfter: number | undefined): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.on("data", (bytes: Buffer) => {
      said += bytes.toString("utf8");
    });
    const timer =
      killAfter === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfter);
    child.on("close", () => {
      clearTimeout(timer);
      resolve(said.endsWith("\n") ? said.trim() : undefined);
    });
  });
}
