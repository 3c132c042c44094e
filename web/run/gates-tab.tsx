/** What was checked of an attempt: its gates, what was found, and its agent's word against that. */
import type { AttemptStory } from "../../src/core/board/attempt-story.ts";
import { isUnderWay } from "../../src/core/plan/attempts.ts";
import type { GateOutcome } from "../../src/core/plan/run-event.ts";
import { Text } from "../text.tsx";
import { type ClaimRow, claimsAgainstFacts, passedWord } from "./claims.ts";
import type { Tone } from "./phase-words.ts";
import { Quiet } from "./quiet.tsx";

export function GatesTab({ story }: { story: AttemptStory }) {
  const { gates, findings = [], error } = story;
  const claims = claimsAgainstFacts(story);
  if (!gates && claims.length === 0 && findings.length === 0) {
    return (
      <Quiet>
        {isUnderWay(story)
          ? "The gates run when the agent has ended."
          : "It ended before anything was checked."}
      </Quiet>
    );
  }
  return (
    <div class="run-gates">
      {error && (
        <p class="run-state" data-tone="bad">
          <strong>{error.type.replaceAll("_", " ")}</strong> <Text of={error.message} line />
        </p>
      )}
      {gates && (
        <ul class="run-gate-list" aria-label="Gates">
          {gates.map((gate) => (
            <GateItem key={gate.name} gate={gate} />
          ))}
        </ul>
      )}
      {findings.length > 0 && (
        <>
          <h3 class="run-part">Findings</h3>
          <ul class="run-findings">
            {findings.map(({ code, level, message, file, line }, at) => (
              <li key={at}>
                <span class="chip" data-tone={level === "error" ? "bad" : "warn"}>
                  {code}
                </span>{" "}
                <Text of={message} line />
                {file !== undefined && (
                  <span class="mono muted">
                    {" "}
                    <Text of={line === undefined ? file : `${file}:${line}`} line />
                  </span>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      {claims.length > 0 && <Claims rows={claims} message={story.claim?.message ?? ""} />}
    </div>
  );
}

function GateItem({ gate }: { gate: GateOutcome }) {
  const { name, command, passed, summary, failures = [], tests, known = [], timedOut } = gate;
  const tone: Tone = passed === null ? "none" : passed || known.length > 0 ? "ok" : "bad";
  return (
    <li class="run-gate">
      <div class="run-gate-head">
        <span class="chip" data-tone={tone}>
          <span aria-hidden="true">{passed === null ? "–" : passed ? "✓" : "✕"}</span>
          {timedOut ? "timed out" : passedWord(passed)}
        </span>
        <strong>
          <Text of={name} line />
        </strong>
        {command !== null && (
          <code class="mono muted">
            <Text of={command} line />
          </code>
        )}
      </div>
      {tests && (
        <p class="run-counts num">
          <span data-tone="ok">{tests.passed} passed</span>
          <span data-tone={tests.failed > 0 ? "bad" : undefined}>{tests.failed} failed</span>
          <span>{tests.skipped} skipped</span>
          {tests.coverage !== undefined && <span>{tests.coverage.toFixed(1)} % of lines</span>}
          <span class="muted">
            <Text of={tests.runner} line />
          </span>
        </p>
      )}
      {known.length > 0 && (
        <p class="muted">What failed had failed before the run: that counts as passed.</p>
      )}
      {failures.length > 0 && (
        <ul class="run-failures mono">
          {failures.map((failure, at) => (
            <li key={at}>
              <Text of={failure} line />
            </li>
          ))}
        </ul>
      )}
      {summary !== "" && (
        <pre class="run-pre mono">
          <Text of={summary} />
        </pre>
      )}
    </li>
  );
}

const Claims = ({ rows, message }: { rows: readonly ClaimRow[]; message: string }) => (
  <>
    <h3 class="run-part">Claims against facts</h3>
    {message !== "" && (
      <blockquote class="run-said">
        <Text of={message} />
      </blockquote>
    )}
    <div class="run-wide" tabIndex={0} role="region" aria-label="Claims against facts">
      <table class="run-claims num">
        <caption class="visually-hidden">What the agent claimed and what was found</caption>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">The agent says</th>
            <th scope="col">We found</th>
            <th scope="col">
              <span class="visually-hidden">Does it hold?</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ what, claimed, found, holds }) => (
            <tr key={what}>
              <th scope="row">
                <Text of={what} line />
              </th>
              <td>{claimed}</td>
              <td>
                <Text of={found} line />
              </td>
              <td>
                {holds !== null && (
                  <span class="chip" data-tone={holds ? "ok" : "bad"}>
                    {holds ? "holds" : "differs"}
                  </span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  </>
);
