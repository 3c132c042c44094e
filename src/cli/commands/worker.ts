/** `autodev worker`: takes work of the fleet's until it is told to end. */
import { runWorker } from "../../project/fleet.ts";
import { printError, printJsonLine } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";

interface Options {
  name?: string;
  jobs?: number;
  label?: string[];
  leaseSeconds?: number;
  transcripts?: string;
  json?: boolean;
}

export async function run(options: Options): Promise<number> {
  const json = options.json === true;
  const { name, jobs = 2, label = [], leaseSeconds = 15 } = options;
  if (jobs < 1 || jobs > 64) {
    return reportFailure({ code: "usage", message: "--jobs is from 1 to 64" }, json);
  }
  // A folder is called so: neither it nor its parent, nor one that nobody sees.
  if (name !== undefined && !/^[\w-][\w.-]{0,63}$/.test(name)) {
    const message = `--name: "${name}" is not up to 64 letters, digits, ".", "_" and "-", with no "." first`;
    return reportFailure({ code: "usage", message }, json);
  }
  // What the packages below us are warned of is nothing that people here could mend.
  process.noDeprecation = true;
  const [drain, kill] = [new AbortController(), new AbortController()];
  const onSignal = (): void => {
    if (drain.signal.aborted) kill.abort();
    drain.abort();
  };
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.on(signal, onSignal);
  const transcripts = options.transcripts ?? process.env["AUTODEV_TRANSCRIPTS"];
  const served = await runWorker({
    ...(name !== undefined && { name }),
    jobs,
    labels: label,
    leaseMs: leaseSeconds * 1000,
    ...(transcripts !== undefined && { transcripts }),
    signal: drain.signal,
    killNow: kill.signal,
    told: (line) => {
      if (json) printJsonLine({ version: 1, type: "worker", line });
      else printError(line);
    },
  });
  for (const signal of signals) process.off(signal, onSignal);
  return served.ok ? exitCodes.finished : reportFailure(served.failure, json, { oneLine: true });
}
