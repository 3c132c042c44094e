/** The moment that is looked at: asked for as the slider moves, the last wish first. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Api, Trouble } from "../api.ts";
import { type Mark, type Moment, marksOf, type Past, pastOf } from "./past.ts";

export interface Looked {
  /** The last that could be shown: it stays until the next one is there. */
  readonly moment?: Moment;
  readonly trouble?: Trouble;
  readonly marks: readonly Mark[];
}

/** More than that is not searched for what is worth seeing. */
const mostSearched = 100_000;

const strange: Trouble = {
  is: "failed",
  code: "strange",
  message: "this page does not understand what was recorded there",
};

/** `generation`: another one is another history, of which nothing is known yet. */
export function usePast(
  api: Api,
  wanted: number | undefined,
  head: number,
  generation: number,
): Looked {
  // As long as nobody knows how far history goes, no moment of it can be found.
  const at = head > 0 ? wanted : undefined;
  const latest = useRef(head);
  latest.current = head;
  const past = useMemo(
    () => ({ ...pastOf(api, () => latest.current), isAsked: false }),
    [api, generation],
  );
  const wish = useRef({ past, at });
  wish.current = { past, at };
  const [looked, setLooked] = useState<Omit<Looked, "marks"> & { readonly of?: Past }>({});
  const [marks, setMarks] = useState<readonly Mark[]>([]);

  useEffect(() => {
    const wishNow = (): number | undefined =>
      wish.current.past === past ? wish.current.at : undefined;
    const answer = async (): Promise<void> => {
      past.isAsked = true;
      for (let done: number | undefined, next = wishNow(); next !== undefined && next !== done; ) {
        const moment = await past
          .at(Math.min(next, latest.current))
          .catch(() => ({ ok: false, trouble: strange }) as const);
        [done, next] = [next, wishNow()];
        if (next !== undefined)
          setLooked({
            of: past,
            ...(moment.ok ? { moment: moment.value } : { trouble: moment.trouble }),
          });
      }
      past.isAsked = false;
    };
    if (at === undefined) setLooked({});
    else if (!past.isAsked) void answer();
  }, [past, at]);

  const isOn = at !== undefined;
  useEffect(() => {
    if (!isOn) return;
    let isWanted = true;
    setMarks([]);
    void past.read(Math.min(latest.current, mostSearched), (events) => {
      if (isWanted) setMarks((before) => [...before, ...marksOf(events)]);
      return isWanted;
    });
    return () => {
      isWanted = false;
    };
  }, [past, isOn]);
  // What was seen of another history is not shown as this one's, not even for a moment.
  const { of, ...shown } = looked;
  return { ...(of === past && shown), marks };
}
