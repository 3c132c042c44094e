/**
 * Words that are good once, for two minutes: what is passed to a browser on its command line, which
 * everybody on the machine can list, must be worth nothing to whoever reads it later.
 */
import { randomBytes } from "node:crypto";
import { isSame } from "./guard.ts";

export interface Tickets {
  issue(): string;
  /** Whether it was one; it is none any more. */
  use(ticket: string): boolean;
}

const goodForMs = 2 * 60_000;
const most = 32;

export function createTickets(now: () => number = () => performance.now()): Tickets {
  let issued: { readonly ticket: string; readonly until: number }[] = [];
  return {
    issue() {
      const ticket = randomBytes(24).toString("base64url");
      issued = [...issued.slice(1 - most), { ticket, until: now() + goodForMs }];
      return ticket;
    },
    use(ticket) {
      issued = issued.filter(({ until }) => until > now());
      const found = issued.find((each) => isSame(ticket, each.ticket));
      issued = issued.filter((each) => each !== found);
      return found !== undefined;
    },
  };
}
