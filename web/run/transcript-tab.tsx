/** What an attempt's agent and gates said, as a conversation, and on as it is said. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Api, Trouble, Which } from "../api.ts";
import { type Conversation, heard, nothingSaid } from "./conversation.ts";
import { Loading, Quiet, Unavailable } from "./quiet.tsx";
import { SaidPart } from "./said-part.tsx";

/** Of a long day, the last part: who wants all of it has a command for that. */
const firstBytes = -200_000;
const everyMs = 1000;
/** Drawn at once: more on request. */
const atOnce = 400;

export interface TranscriptTabProps {
  readonly api: Api;
  readonly which: Which;
  /** Somebody is at work on it. */
  readonly live: boolean;
}

export function TranscriptTab({ api, which, live }: TranscriptTabProps) {
  const { said, trouble, again } = useTranscript(api, which, live);
  const end = useStickToEnd(said);
  const [shown, setShown] = useState(atOnce);
  if (!said) {
    return trouble ? (
      <Unavailable what="the transcript" trouble={trouble} onAgain={again} />
    ) : (
      <Loading what="the transcript" />
    );
  }
  if (said.parts.length === 0) {
    return <Quiet>{live ? "Nothing was said yet." : "Nothing was kept of what it said."}</Quiet>;
  }
  return (
    <div class="run-talk" role="log" aria-live="off" aria-label="Transcript">
      {said.parts.length > shown ? (
        <button type="button" class="btn" onClick={() => setShown(shown * 2)}>
          Show earlier parts
        </button>
      ) : (
        said.isCut && (
          <p class="run-note">
            Earlier parts: <code>autodev log {which.phase}</code>
          </p>
        )
      )}
      {said.parts.slice(-shown).map((part) => (
        <SaidPart key={part.key} part={part} />
      ))}
      {trouble && <p class="run-note">It does not go on here: {trouble.message}.</p>}
      <div ref={end} class="run-talk-end">
        {live && (
          <>
            <span class="run-dot" aria-hidden="true" /> live
          </>
        )}
      </div>
    </div>
  );
}

interface Transcript {
  readonly said?: Conversation;
  readonly trouble?: Trouble;
  again(): void;
}

function useTranscript(api: Api, which: Which, live: boolean): Transcript {
  const [state, setState] = useState<Omit<Transcript, "again">>({});
  const [round, setRound] = useState(0);
  const next = useRef<number | undefined>(undefined);
  const goesOn = useRef(live);
  goesOn.current = live;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isWanted = true;
    const look = async (): Promise<void> => {
      const first = next.current === undefined;
      // What nobody sees is not asked for; what was said meanwhile comes all at once.
      if (first || document.visibilityState === "visible") {
        const got = await api.transcript(which, next.current ?? firstBytes);
        if (!isWanted) return;
        if (got.ok) {
          const { entries, from, next: to } = got.value;
          next.current = to;
          setState(({ said = nothingSaid }) => {
            const more = heard(said, entries);
            return { said: first && from > 0 ? { ...more, isCut: true } : more };
          });
        } else setState(({ said }) => ({ ...(said && { said }), trouble: got.trouble }));
        if (!got.ok && first) return;
      }
      if (goesOn.current) timer = setTimeout(() => void look(), everyMs);
    };
    void look();
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
    // When it has ended, what was said last is asked for once more.
  }, [round, live]);
  return { ...state, again: () => setRound(round + 1) };
}

/** At the end, unless somebody has scrolled up to read. */
function useStickToEnd(said: Conversation | undefined) {
  const end = useRef<HTMLDivElement>(null);
  const sticks = useRef(true);
  useEffect(() => {
    const place = scrollerOf(end.current);
    if (!place) return undefined;
    const look = (): void => {
      sticks.current = place.scrollHeight - place.scrollTop - place.clientHeight < 48;
    };
    place.addEventListener("scroll", look, { passive: true });
    return () => place.removeEventListener("scroll", look);
  }, [said !== undefined]);
  useLayoutEffect(() => {
    const place = scrollerOf(end.current);
    if (place && sticks.current) place.scrollTop = place.scrollHeight;
  }, [said]);
  return end;
}

/** Where there is little room, the whole phase scrolls, and begins with what state it is in. */
const scrollerOf = (inside: Element | null): Element | null => inside?.closest(".run-tab") ?? null;
