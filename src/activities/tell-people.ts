/** Who has left a run alone hears of it when it needs them, and when it is over. */

import { type Config, readConfig } from "../config.ts";
import type { RecordedEvent } from "../core/event.ts";
import type { Failure } from "../core/failure.ts";
import {
  decisionNotice,
  endNotice,
  type NotifySettings,
  parkNotice,
  refusalNotice,
} from "../core/notice.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import { createNotifier, type NotifierOptions } from "../notify.ts";
import { type Approval, changedSince } from "./approve.ts";
import type { Ask } from "./open-flow.ts";

/** How people are reached, beside the desktop and their own command. */
export type Reach = Pick<NotifierOptions, "terminal" | "say" | "killNow">;

export interface People {
  /** The same, and people hear of it once they are wanted. */
  asking(ask: Ask): Ask;
  /** What may be run is known: the repository's own command, too. */
  approved(approval: Approval): void;
  happened(event: RecordedEvent, run: PlanRun): void;
  /** The machine refuses, and the run has stopped. */
  refused(run: PlanRun, failure: Failure): void;
}

export function peopleOf(root: string, config: Config, reach: Reach): People {
  const { ownNotify, ownNotifyRefused } = config;
  const settings: NotifySettings = config.notify ?? {};
  const notifier = createNotifier({
    ...reach,
    settings,
    root,
    ...(ownNotify && { command: ownNotify }),
  });
  if (ownNotifyRefused !== undefined) reach.say(ownNotifyRefused);
  let current: PlanRun | undefined;
  let parked: string | undefined;
  return {
    asking: (ask) => async (decision, elsewhere) => {
      let waiting = true;
      const chosen = await ask(decision, elsewhere, () =>
        notifier.tell(
          decisionNotice(decision, { root, ...(current && { run: current }) }),
          () => waiting && elsewhere() === undefined,
        ),
      );
      // Nobody was there: it stays open while other phases go on.
      waiting = chosen.ok && chosen.value === undefined;
      return chosen;
    },
    approved(approval) {
      if (approval.notify) notifier.approve(approval.notify, () => changedSince(approval, root));
    },
    happened(event, run) {
      current = run;
      const until =
        event.type === "attempt-parked"
          ? event.until
          : event.type === "run-ended" && event.how === "parked"
            ? event.until
            : undefined;
      if (until !== undefined) {
        // Several phases may wait for the same moment, and the run may end for it.
        if (until !== parked) notifier.tell(parkNotice(run, until, root));
        parked = until;
      } else if (event.type === "run-ended") {
        const notice = endNotice(run, root);
        if (notice) notifier.tell(notice);
      }
    },
    refused(run, failure) {
      notifier.tell(refusalNotice(run, failure.message, root));
    },
  };
}

/** For a flow: what is wrong with the settings is said by whoever opens it. */
export function askingPeople(root: string, ask: Ask, reach: Reach): Ask {
  const config = readConfig(root);
  return config.ok ? peopleOf(root, config.value, reach).asking(ask) : ask;
}
