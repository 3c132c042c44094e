/** What waits for people in the other repositories: their boards are read when something changes there. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { unpackBoard } from "../../src/core/board/board.ts";
import type { SeenProject } from "../../src/core/board/wire.ts";
import { withAnswers } from "../../src/core/evolve.ts";
import { apiOf } from "../api.ts";
import { needsOf } from "./needs.ts";
import type { Elsewhere } from "./now-page.tsx";

export function useElsewhere(
  token: string,
  projects: readonly SeenProject[],
  project: string,
): readonly Elsewhere[] {
  const [found, setFound] = useState<readonly Elsewhere[]>([]);
  // Where something was asked that is settled now, that is to be seen too.
  const isKnown = (key: string): boolean => found.some((each) => each.key === key);
  const others = projects.filter(
    ({ key, needs, trouble }) =>
      key !== project && trouble === undefined && (needs > 0 || isKnown(key)),
  );
  const since = useMemo(
    () => others.map(({ key, at, needs }) => `${key} ${at} ${needs}`).join("\n"),
    [projects, project],
  );
  useEffect(() => {
    let isWanted = true;
    const read = others.map(async ({ key, name }): Promise<Elsewhere> => {
      const api = apiOf(token, key);
      const answer = await api.board();
      if (!answer.ok) return { key, name, api, needs: [], decisions: [] };
      const board = unpackBoard(answer.value.board);
      const { answers = {} } = answer.value;
      const state = withAnswers(board.state, () => new Map(Object.entries(answers)));
      const needs = needsOf({ ...board, state });
      return { key, name, api, needs, decisions: Object.values(state.decisions) };
    });
    void Promise.all(read).then((all) => {
      if (isWanted) setFound(all);
    });
    return () => {
      isWanted = false;
    };
  }, [token, since]);
  return found;
}
