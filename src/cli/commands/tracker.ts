/** `autodev tracker`: which one, how it was found, what is pending, what was created. Looks only. */
import { lookAtTracker, openProject, readState, shown, type TrackerLook } from "../../project.ts";
import { print, printJson } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { styleFor } from "../render/style.ts";
import type { TrackerOutput } from "../shapes.ts";

interface Options {
  json?: boolean;
  color?: boolean;
}

export function run(options: Options): number {
  const json = options.json === true;
  const project = openProject(process.cwd());
  const state = readState(project);
  if (!state.ok) return reportFailure(state.failure, json);
  const looked = lookAtTracker(project, state.value);
  if (!looked.ok) return reportFailure(looked.failure, json);
  const output = outputOf(looked.value);
  if (json) printJson(output);
  else tell(output, styleFor(options.color));
  return exitCodes.finished;
}

function outputOf(look: TrackerLook): TrackerOutput {
  const { choice, tracker, server, found, opened, refused, pending, entries } = look;
  return {
    version: 1,
    tracker: tracker ?? null,
    server: server ?? null,
    would: choice.is,
    why: whyOf(look),
    found: found.map(({ name, kind, from, repository }) => ({ name, kind, from, repository })),
    authenticated: opened ? true : refused ? refused.how === "tools" : null,
    refused: refused?.why ?? null,
    pending,
    ledger: entries.map(({ key, tracker: name, does, kind, of, tries, receipt, deferred }) => ({
      key,
      tracker: name,
      does,
      kind,
      of,
      tries,
      id: receipt?.id ?? null,
      url: receipt?.url ?? null,
      others: [...(receipt?.others ?? [])],
      deferred: receipt ? null : (deferred?.why ?? null),
    })),
  };
}

function whyOf({ choice }: TrackerLook): string {
  switch (choice.is) {
    case "missing":
      return `no MCP server is "${choice.wanted}"`;
    case "ask":
      return `several are configured: ${choice.among.map(({ name }) => name).join(", ")}`;
    default:
      return choice.why;
  }
}

function tell(output: TrackerOutput, style: ReturnType<typeof styleFor>): void {
  const { tracker, server, why, found, authenticated, refused, pending, ledger } = output;
  const name = [tracker ?? "not chosen yet", ...(server === null ? [] : [`(${server})`])].join(" ");
  print(`${style.bold("Tracker")}: ${shown(name)}: ${shown(why)}`);
  for (const each of found) {
    const trust = each.repository ? ", of the repository: approved before it is started" : "";
    print(`  ${shown(each.name)}: ${each.kind}, in ${shown(each.from)}${trust}`);
  }
  if (refused !== null) print(`It could not be used: ${shown(refused)}`);
  else if (authenticated) print("Somebody is logged in there.");
  const created = ledger.filter(({ does, id }) => does === "create" && id !== null);
  for (const { kind, of, id, url, others } of created) {
    const twice = others.length > 0 ? ` (also ${others.join(", ")}: for you to close)` : "";
    print(`  ${kind} ${shown(of)}: ${shown([id, url].filter(Boolean).join(" "))}${shown(twice)}`);
  }
  for (const { does, kind, of, deferred } of ledger) {
    if (deferred !== null) print(`  ${does} ${kind} ${shown(of)}: left, ${shown(deferred)}`);
  }
  print(`Created: ${created.length} · pending: ${pending}`);
  if (pending > 0) print("Next: autodev tracker sync");
}
