/** The repositories of a suite: where each is, how far, and whether it needs somebody. */
import type { SeenProject } from "../../src/core/board/wire.ts";
import { Text } from "../text.tsx";

interface Props {
  readonly projects: readonly SeenProject[];
  readonly project: string;
  readonly choose: (key: string) => void;
}

export const ProjectList = ({ projects, project, choose }: Props) => (
  <ul class="card projects">
    {projects.map((each) => (
      <li key={each.key}>
        <button
          type="button"
          class="project"
          aria-current={each.key === project}
          onClick={() => choose(each.key)}
        >
          <span class="dot" data-tone={toneOf(each)} aria-hidden="true" />
          <span class="project-name">
            <Text of={each.name} line />
          </span>
          {each.needs > 0 && <span class="badge num">{each.needs}</span>}
          <small class="muted ellipsis">
            <Text of={wordsOf(each)} line />
          </small>
        </button>
      </li>
    ))}
  </ul>
);

const toneOf = ({ needs, holder, trouble, run }: SeenProject): string =>
  trouble !== undefined
    ? "bad"
    : needs > 0
      ? "warn"
      : holder
        ? "info"
        : run?.ended === "complete"
          ? "ok"
          : "quiet";

function wordsOf({ trouble, run, place, at }: SeenProject): string {
  if (trouble !== undefined) return trouble;
  const parts = [
    ...(run ? [`${run.complete}/${run.total} ${run.title}`] : []),
    ...(place ? [`step ${place.step} ${place.name}`] : []),
  ];
  return parts.length > 0 ? parts.join(" · ") : at === undefined ? "nothing yet" : "";
}
