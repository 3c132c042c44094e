/** A worker: whether it is there, what it is at, what it could do. */
import { type ToldWorker, taskWords } from "../../src/core/fleet/told.ts";
import { ago } from "../moments.ts";
import { Text } from "../text.tsx";

const tones: Readonly<Record<ToldWorker["state"], string>> = {
  active: "ok",
  draining: "warn",
  lost: "bad",
  gone: "quiet",
};

export function WorkerCard({ worker, now }: { worker: ToldWorker; now: number }) {
  const { id, state, jobs, doing, agents, labels, os, memoryGb, seen } = worker;
  return (
    <li class="card worker">
      <header>
        <h3 class="ellipsis">
          <Text of={id} line />
        </h3>
        <span class="chip" data-tone={tones[state]}>
          {state}
        </span>
      </header>
      <p class="num">
        <strong>
          {doing.length}/{jobs}
        </strong>{" "}
        <span class="muted">places taken</span>
      </p>
      {doing.length > 0 && (
        <ul class="doing">
          {doing.map((task) => (
            <li key={task}>
              <Text of={taskWords(task)} line />
              <small class="muted mono">
                {" "}
                <Text of={task.split("/")[0] ?? ""} line />
              </small>
            </li>
          ))}
        </ul>
      )}
      <p class="can">
        {agents.map((agent) => (
          <span key={agent} class="chip">
            <Text of={agent} line />
          </span>
        ))}
        {labels.map((label) => (
          <span key={`#${label}`} class="chip" data-tone="info">
            <Text of={`#${label}`} line />
          </span>
        ))}
      </p>
      <p class="muted worker-foot">
        <Text of={`${worker.host} · ${os} · ${memoryGb} GB · ${worker.lane}`} line />
        <span>seen {ago(seen, now)}</span>
      </p>
    </li>
  );
}
