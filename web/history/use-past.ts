/** The moment that is looked at: asked for as the slider moves, the last wish first. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Api, Trouble } from "../api.ts";
import { type Mark, type Moment, marksOf, pastOf } from "./past.ts";

export interface Looked {
  /** The last that could be shown: it stays until the next one is there. */
  readonly moment?: Moment;
  readonly trouble?: Trouble;
  readonly marks: readonly Mark[];
}

/** More than that is not searched for what is worth seeing. */
const mostSearched = 100_000;

export function usePast(api: Api, wanted: number | undefined, head: number): Looked {
  // As long as nobody knows how far history goes, no moment of it can be found.
  const at = head > 0 ? wanted : undefined;
  const latest = useRef(head);
  latest.current = head;
  const past = useMemo(() => pastOf(api, () => latest.current), [api]);
  const wish = useRef(at);
  const isAsking = useRef(false);
  const [looked, setLooked] = useState<Omit<Looked, "marks">>({});
  const [marks, setMarks] = useState<readonly Mark[]>([]);
  wish.current = at;

  useEffect(() => {
    const answer = async (): Promise<void> => {
      if (isAsking.current) return;
      isAsking.current = true;
      for (let done: number | undefined; wish.current !== undefined && wish.current !== done; ) {
        done = wish.current;
        const moment = await past.at(Math.min(done, latest.current));
        setLooked(moment.ok ? { moment: moment.value } : { trouble: moment.trouble });
      }
      isAsking.current = false;
    };
    if (at === undefined) setLooked({});
    else void answer();
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
  return { ...looked, marks };
}
