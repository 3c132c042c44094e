/**
 * Messages to the holder of the lock, a file each: `inbox/<when>-<whose>.json`. A file that is gone
 * was taken up; one that still lies there when the holder is gone was not, and is for its sender to
 * take back. What was meant for an earlier holder never reaches a later one.
 */
import * as path from "node:path";
import { type Result, succeed } from "../../core/failure.ts";
import { Message } from "../../core/message.ts";
import type { Holder, Sent } from "../../store.ts";
import { createDurably, type Disk } from "./disk.ts";
import { diskFailure, type Place } from "./journal.ts";

export const inboxIn = ({ folder }: Pick<Place, "folder">): string => path.join(folder, "inbox");

/** A process id alone comes again. */
const addressOf = ({ pid, host, since }: Holder): string => `${pid} ${host} ${since}`;

export async function send(
  place: Place,
  to: Holder,
  message: Message,
  unique: string,
): Promise<Result<string>> {
  const folder = inboxIn(place);
  const id = `${message.at.replace(/[^0-9A-Za-z]/g, "")}-${unique}`;
  const bytes = Buffer.from(`${JSON.stringify({ to: addressOf(to), message })}\n`);
  try {
    await place.disk.makeFolder(folder);
    await place.disk.syncFolder(place.folder);
    await createDurably(place.disk, fileOf(place, id), bytes, unique);
    return succeed(id);
  } catch (error) {
    return diskFailure(place, error);
  }
}

const fileOf = (place: Place, id: string): string => path.join(inboxIn(place), `${id}.json`);

export const isWaiting = (place: Place, id: string): boolean =>
  place.disk.exists(fileOf(place, id));

export const remove = (place: Place, id: string): Promise<void> =>
  place.disk.remove(fileOf(place, id)).catch(() => {});

/** In the order in which they were sent; what is not for this holder goes. */
export async function received(place: Place, holder: Holder): Promise<Sent[]> {
  const messages: Sent[] = [];
  for (const name of [...place.disk.list(inboxIn(place))].sort()) {
    const id = /^([0-9A-Za-z-]+)\.json$/.exec(name)?.[1];
    if (id === undefined) continue;
    const sent = parsed(place.disk, fileOf(place, id));
    if (sent?.to === addressOf(holder)) messages.push({ id, message: sent.message });
    else await remove(place, id);
  }
  return messages;
}

function parsed(disk: Disk, file: string): { to: string; message: Message } | undefined {
  try {
    const { to, message } = JSON.parse(disk.read(file)?.toString("utf8") ?? "") as {
      to?: unknown;
      message?: unknown;
    };
    const known = Message.safeParse(message);
    return typeof to === "string" && known.success ? { to, message: known.data } : undefined;
  } catch {
    return undefined;
  }
}
