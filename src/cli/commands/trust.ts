/** `autodev trust PLAN`: what a build would run, and whether a person has approved it. */
import { openProject, shown, trustPlaceOf, trustPlan } from "../../project.ts";
import { print, printJson } from "../output.ts";
import { type AskOptions, answeredBy, trustAsker } from "../prompt.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import type { TrustOutput } from "../shapes.ts";

interface Options extends AskOptions {
  agent?: string;
  sha256?: string;
  revoke?: boolean;
  json?: boolean;
}

export async function run(plan: string, options: Options): Promise<number> {
  const json = options.json === true;
  const project = openProject(process.cwd());
  const looked = await trustPlan.look(project, process.cwd(), {
    plan,
    ...(options.agent === undefined ? {} : { agent: options.agent }),
  });
  if (!looked.ok) return reportFailure(looked.failure, json);
  const { surface, also, hash, state } = looked.value;
  const place = trustPlaceOf(project);
  let trusted = state.is === "trusted" || surface.length === 0;
  if (options.revoke) {
    const revoked = await trustPlan.revoke(place);
    if (!revoked.ok) return reportFailure(revoked.failure, json);
    trusted = surface.length === 0;
  } else if (!trusted) {
    const asked = await wantsIt(
      options,
      state.is === "trusted" ? [] : state.difference,
      hash,
      state.is === "changed",
    );
    if (!asked.ok) return reportFailure(asked.failure, json);
    if (asked.value) {
      const by = answeredBy(options);
      const granted = await trustPlan.grant(place, surface, {
        by,
        at: project.world.now(),
        also,
      });
      if (!granted.ok) return reportFailure(granted.failure, json);
      trusted = true;
    }
  }
  const shape: TrustOutput = {
    version: 1,
    plan: looked.value.plan,
    sha256: hash,
    trusted,
    surface: surface.map(({ kind, name, text }) => ({ kind, name, text })),
  };
  if (json) printJson(shape);
  else {
    for (const { kind, name, text } of surface) {
      print(`${kind} ${shown(name)}`);
      if (kind !== "script") for (const line of text.split("\n")) print(`    ${shown(line)}`);
    }
    print(`${trusted ? "trusted" : "not trusted"}: ${hash}`);
    if (!trusted && !options.revoke) {
      print(`  → read them; then: autodev trust ${shown(looked.value.plan)} --sha256 ${hash}`);
    }
  }
  return trusted || options.revoke ? exitCodes.finished : exitCodes.decision;
}

/** By its hash, which says exactly what; or by a person at a terminal. */
async function wantsIt(
  options: Options,
  difference: readonly string[],
  hash: string,
  known: boolean,
): ReturnType<ReturnType<typeof trustAsker>> {
  if (options.sha256 !== undefined) return { ok: true, value: options.sha256 === hash };
  return trustAsker(options)(difference, hash, known);
}
