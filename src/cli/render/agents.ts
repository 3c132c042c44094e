/** Agents, and what a self-test has found, as lines. */
import type { Choice } from "../../core/agent/choose.ts";
import { applyAgent } from "../../core/agent/known.ts";
import type { TrialCheck } from "../../core/agent/trial.ts";
import { duration, spendWords } from "../../core/amounts.ts";
import { type AgentEvent, shown, type Tried } from "../../project.ts";
import type { AgentsOutput } from "../shapes.ts";
import type { Style } from "./style.ts";
import { cutTo, padTo, widthOf } from "./width.ts";

export type AgentRow = AgentsOutput["agents"][number];

/** A line for each; what to do about one stands below it. */
export function agentLines(rows: readonly AgentRow[], style: Style): string[] {
  const cells = rows.map((row) => [row.name, versionWords(row), loginWords(row)].map(shown));
  // A note has nothing to its right, and may be long.
  const widths = [0, 1, 2].map((column) =>
    Math.max(
      ...cells.map((line, at) =>
        column === 2 && rows[at]?.note !== null ? 0 : widthOf(line[column] ?? ""),
      ),
    ),
  );
  return rows.flatMap((row, index) => {
    const [name = "", version = "", login = ""] = (cells[index] ?? []).map((cell, column) =>
      padTo(cell, widths[column] ?? 0),
    );
    const paint = row.login === "yes" ? style.green : row.login === "no" ? style.yellow : style.dim;
    const line = `${style.bold(name)}  ${version}  ${paint(login)}  ${style.dim(skillWords(row))}`;
    const wayOut = wayOutOf(row);
    return [line.trimEnd(), ...(wayOut === undefined ? [] : [`  → ${shown(wayOut)}`])];
  });
}

function versionWords({ kind, installed, version }: AgentRow): string {
  if (kind === "built-in") return "built in";
  if (kind === "command") return "settings";
  return installed ? (version ?? "version unknown") : "not installed";
}

function loginWords({ login, loginBy, note }: AgentRow): string {
  if (note !== null) return cutTo(note, 60);
  if (login === "yes") return `logged in (${loginBy})`;
  if (login === "unknown") return `perhaps logged in (${loginBy})`;
  return login === "no" ? "not logged in" : "";
}

function skillWords({ can }: AgentRow): string {
  if (!can) return "";
  return [
    ...(can.resume ? ["resumes"] : []),
    ...(can.structured === "native" ? ["native result"] : []),
    ...(can.permissions === "asked" ? ["asks first"] : []),
    ...(can.usage ? [can.cost ? "tells cost" : "tells tokens"] : []),
  ].join(", ");
}

const wayOutOf = ({ installed, login, install, logIn }: AgentRow): string | undefined => {
  if (!installed) return install ?? undefined;
  return login === "no" ? (logIn ?? undefined) : undefined;
};

/** Whom a build takes; `named` decides for every plan. */
export function choiceLines(choice: Choice, isNamed: boolean): string[] {
  const otherwise = `Plans that spell out their files are built by ${applyAgent.name}`;
  switch (choice.is) {
    case "chosen":
      return isNamed
        ? [`Plans are built by ${choice.name}: ${choice.why}.`]
        : [`${otherwise}, all others by ${choice.name}: ${choice.why}.`];
    case "ask":
      return [
        `${otherwise}; for all others you have to say who: ${choice.why}.`,
        `  → autodev build <plan> --agent ${choice.names[0] ?? "<name>"}, or agent: in .autodev/config.yaml`,
      ];
    case "none":
      return isNamed
        ? [`Plans cannot be built: ${choice.why}.`, "  → autodev agents --all"]
        : [
            `${otherwise}; for all others there is nobody: ${choice.why}.`,
            "  → autodev agents --all",
          ];
  }
}

const marks: Record<TrialCheck["state"], string> = {
  passed: "✓",
  failed: "✗",
  warning: "!",
  skipped: "·",
};

export function trialLines({ checks, verdict, ...tried }: Tried, style: Style): string[] {
  const paint = {
    passed: style.green,
    failed: style.red,
    warning: style.yellow,
    skipped: style.dim,
  };
  const spent = tried.tokens === undefined ? "" : spendWords({ ...tried, tokens: tried.tokens });
  const amounts = [duration(tried.milliseconds), spent, shown(tried.model ?? "")];
  return [
    ...checks.map(({ state, what }) => paint[state](`${marks[state]} ${what}`)),
    `${style.bold(shown(verdict.message))} (${amounts.filter((each) => each !== "").join(", ")})`,
    ...(verdict.hint === null ? [] : [`  → ${shown(verdict.hint)}`]),
  ];
}

/** What an agent does, while one waits; most of what it says is not worth a line here. */
export function eventLine(event: AgentEvent): string | undefined {
  switch (event.type) {
    case "session":
      return `session ${event.id}${event.model === undefined ? "" : `, ${event.model}`}`;
    case "file":
      return `${event.change}: ${event.path}`;
    case "tool":
      return event.state === "started" ? `${event.name} ${event.what}` : undefined;
    case "permission":
      return `${event.allowed ? "allowed" : "refused"}: ${event.tool} ${event.what}`;
    case "retry":
      return `tries again: ${event.why}`;
    case "text":
      return event.text;
    default:
      return undefined;
  }
}
