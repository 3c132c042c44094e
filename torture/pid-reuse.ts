/**
 * A process's number is given to others in time. In a namespace of its own, where the kernel lets one say
 * which number comes next, a process that had to do with us dies, and a stranger gets its very number at
 * once. Nowhere is the stranger taken for the one who is dead, and nobody does anything to him:
 *
 *   lock       a holder who was killed: the store is free, and whoever is refused is not sent to the stranger
 *   temporary  a file that was being written is cleared away all the same
 *   lease      what somebody came for is nobody's any more
 *   shell      a work tree that somebody was in is empty
 *   cache      dependencies that were being filled in are half an entry, and may go
 *   group      what is left of a command is killed, and not the stranger in whose name it now would be
 */

import type { ReuseReport } from "./pid-reuse-inside.ts";
import {
  again,
  bundle,
  type Context,
  ending,
  freshFolder,
  judged,
  type Outcome,
  type Plant,
  type Row,
  run,
  skipped,
} from "./rig.ts";

export const pidReuse: Row = {
  name: "pid-reuse",
  promise: "a stranger who gets a dead process's number is neither taken for it nor harmed",
  budgetSeconds: { ci: 2, full: 60 },
  run: (context) => reuseNumbers(context),
};

const reuses = { ci: 12, full: 204 };

export async function reuseNumbers(
  context: Context,
  options: { readonly plant?: Plant } = {},
): Promise<Outcome> {
  const program = await bundle(
    "torture/pid-reuse-inside.ts",
    options.plant && { plant: options.plant },
  );
  const scratch = freshFolder(context.scratch, "reuse");
  const alone = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
  const inside = ["unshare", ...alone, "--pid", "--fork", "--kill-child", "--mount-proc"];
  const tried = await run([...inside, "sh", "-c", "echo 300 > /proc/sys/kernel/ns_last_pid"]);
  if (tried.missing) return skipped("unshare is not on this machine");
  if (tried.code !== 0)
    return skipped(`the kernel lets nobody say which number is next: ${ending(tried)}`);
  const count = options.plant ? reuses.ci : reuses[context.tier];
  const ran = await run(
    [...inside, process.execPath, program, "judge", scratch, String(count), context.onlyCase ?? ""],
    { timeoutMs: 600_000 },
  );
  if (ran.code !== 0) return judged({}, [`nobody has judged it: ${ending(ran)}`]);
  const report = JSON.parse(ran.stdout) as ReuseReport;
  return judged(
    {
      "numbers given again": report.reused,
      "taken for alive": report.alive.length,
      "strangers harmed": report.harmed.length,
      ...report.kinds,
    },
    [...report.alive, ...report.harmed].map(
      ({ kind, what }) => `${kind}: ${what}; ${again(context, pidReuse.name, kind)}`,
    ),
  );
}
