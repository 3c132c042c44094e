/** The fleet as it was a moment ago, asked for again and again while somebody looks. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { FleetAnswer } from "../../src/core/board/wire.ts";
import type { Trouble } from "../api.ts";
import type { Link } from "../source.ts";
import type { FleetApi } from "./api.ts";

export interface SeenFleet {
  readonly link: Link;
  /** What was told last. */
  readonly fleet?: FleetAnswer;
  /** The server answers, and says why it cannot tell. */
  readonly trouble?: Trouble;
}

const often = 2000;
/** Nobody looks, or nothing is there to be seen. */
const seldom = 15_000;

/** And a look out of turn, for whoever has just changed something. */
export function useFleet(api: FleetApi): [SeenFleet, () => void] {
  const [seen, setSeen] = useState<SeenFleet>({ link: { is: "loading" } });
  const look = useRef(() => {});
  useEffect(() => {
    const wanted = { closed: false, again: false };
    let wake = (): void => {};
    const stay = async (): Promise<void> => {
      while (!wanted.closed) {
        wanted.again = false;
        const answer = await api.seen();
        if (wanted.closed) return;
        setSeen((before) => (answer.ok ? told(answer.value) : troubled(before, answer.trouble)));
        const isNowhere = !answer.ok && /^(?:not-found|unauthorized)$/.test(answer.trouble.code);
        const pause = document.hidden || isNowhere ? seldom : often;
        // What was asked before somebody wanted to see is not what he wants to see.
        if (!wanted.again)
          await new Promise<void>((resolve) => {
            wake = resolve;
            setTimeout(resolve, pause);
          });
      }
    };
    look.current = () => {
      wanted.again = true;
      wake();
    };
    const shown = (): void => {
      if (!document.hidden) wake();
    };
    document.addEventListener("visibilitychange", shown);
    window.addEventListener("online", shown);
    void stay();
    return () => {
      wanted.closed = true;
      wake();
      document.removeEventListener("visibilitychange", shown);
      window.removeEventListener("online", shown);
    };
  }, [api]);
  return [seen, () => look.current()];
}

const told = (fleet: FleetAnswer): SeenFleet => ({ link: { is: "live" }, fleet });

function troubled({ link, fleet }: SeenFleet, trouble: Trouble): SeenFleet {
  const known = fleet ? { fleet } : {};
  const why = trouble.message;
  if (trouble.is === "refused") return { link: { is: "refused", why } };
  if (trouble.is === "failed") return { link: { is: "live" }, trouble, ...known };
  const since = link.is === "lost" ? link.since : Date.now();
  return { link: { is: "lost", why, since }, ...known };
}
