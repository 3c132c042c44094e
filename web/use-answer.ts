/** An answer of the server's, asked for when what it depends on changes; the last one stays meanwhile. */
import { useEffect, useState } from "preact/hooks";
import type { Answered, Trouble } from "./api.ts";

export interface Asked<T> {
  readonly value?: T;
  readonly trouble?: Trouble;
  readonly loading: boolean;
}

/** `key`: what it depends on, in words; undefined: nothing is asked. */
export function useAnswer<T>(key: string | undefined, ask: () => Promise<Answered<T>>): Asked<T> {
  const [asked, setAsked] = useState<Asked<T>>({ loading: key !== undefined });
  useEffect(() => {
    if (key === undefined) return setAsked({ loading: false });
    let isWanted = true;
    setAsked((before) => ({ ...before, loading: true }));
    void ask().then((answer) => {
      if (!isWanted) return;
      if (answer.ok) setAsked({ value: answer.value, loading: false });
      else setAsked({ trouble: answer.trouble, loading: false });
    });
    return () => {
      isWanted = false;
    };
  }, [key]);
  return asked;
}
