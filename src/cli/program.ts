/** The whole command line, for everything that the entry does not answer by itself. */
import tab from "@bomb.sh/tab/commander";
import { Command, CommanderError, Option } from "commander";
import { compiled } from "./compiled.ts";
import { print, printError } from "./output.ts";
import { exitCodes, reportFailure } from "./render/failure.ts";
import {
  type CommandRow,
  commandTable,
  environmentTable,
  exitCodeTable,
  givenEnvironmentTable,
} from "./table.ts";

declare const AUTODEV_VERSION: string;

type Run = (...args: unknown[]) => number | Promise<number>;

/** Each command stays a file of its own. */
const load = (bundle: string): { run: Run; keep(): void } => {
  const { exports, keep } = compiled(`${__dirname}/${bundle}.cjs`, require);
  return { ...(exports as { run: Run }), keep };
};

const groupTitles: Record<CommandRow["group"], string> = {
  flow: "The flow:",
  plans: "Plans:",
  decisions: "Decisions:",
  fleet: "A fleet:",
  care: "Care:",
};

export async function runProgram(argv: readonly string[]): Promise<void> {
  const program = createProgram((code) => {
    process.exitCode = code;
  });
  try {
    await program.parseAsync(withDefault(argv), { from: "user" });
  } catch (error) {
    process.exitCode = reportError(error, argv.includes("--json"));
  }
}

export function createProgram(finish: (code: number) => void): Command {
  const program = new Command("autodev")
    .description("Drives AI coding agents through long software work and never loses its place.")
    .version(AUTODEV_VERSION, "-V, --version", "print the version")
    .helpCommand(false)
    // `agents test x --json`: what is typed after a command is that command's, not its family's.
    .enablePositionalOptions()
    .showHelpAfterError("(autodev help lists the commands)")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => print(text.replace(/\n$/, "")),
      // Said once, by reportError, as words or as JSON.
      writeErr: () => {},
    });
  for (const row of commandTable) addCommand(program, row, finish);
  program
    .command("help")
    .description("help about a command, an error, errors, exit-codes or environment")
    .argument("[topic...]", "a command, the code of an error, errors, exit-codes or environment")
    .option("--json", "machine-readable output, of errors and exit codes")
    .helpGroup(groupTitles.care)
    .action((topic: readonly string[], { json }: { json?: boolean }) => {
      finish(help(program, topic, json === true));
    });
  tab(program, { completionCommandName: "completion" });
  return program;
}

function addCommand(program: Command, row: CommandRow, finish: (code: number) => void): void {
  const [family, own] = row.name.split(" ");
  const parent = own === undefined ? program : familyOf(program, family ?? "", row);
  const command = parent
    .command(own ?? row.name)
    .aliases([...(row.aliases ?? [])])
    .description(row.what)
    .helpGroup(own === undefined ? groupTitles[row.group] : "Commands:")
    .addHelpText("after", `\nExamples:\n${row.examples.map((line) => `  ${line}`).join("\n")}`);
  command.enablePositionalOptions();
  for (const { name, what } of row.arguments ?? []) command.argument(name, what);
  for (const { flags, what, choices, number, decimal } of row.options ?? []) {
    const option = new Option(flags, what);
    if (choices) option.choices([...choices]);
    const [flag = ""] = flags.split(" ").slice(-2);
    if (number) option.argParser((text) => wholeNumber(text, flag));
    if (decimal) option.argParser((text) => positiveNumber(text, flag));
    command.addOption(option);
  }
  command.action(async (...args: unknown[]) => {
    // Commander hands over the arguments, then the options, then itself.
    const given = args.slice(0, -1);
    const options = given.pop() as Record<string, unknown>;
    if (options["color"] === true) delete options["color"];
    const command = load(row.name.replace(" ", "-"));
    finish(await command.run(...given, options));
    command.keep();
  });
}

const families: Record<string, string> = {
  flow: "list, check and draw flows",
  plan: "read, check, draw, tick and write plans",
  engine: "what runs are carried by",
};

function familyOf(program: Command, name: string, row: CommandRow): Command {
  const known = program.commands.find((each) => each.name() === name);
  if (known) return known;
  const members = commandTable.flatMap((each) =>
    each.name.startsWith(`${name} `) ? [each.name.slice(name.length + 1)] : [],
  );
  return program
    .command(name)
    .description(families[name] ?? "")
    .usage("<command>")
    .argument("[command...]")
    .allowUnknownOption()
    .helpGroup(groupTitles[row.group])
    .helpCommand(false)
    .action((given: readonly string[]) => {
      const [first] = given;
      const what =
        first === undefined
          ? `autodev ${name} needs a command`
          : `there is no autodev ${name} ${first}`;
      throw new CommanderError(2, "autodev.family", `${what}: ${members.join(", ")}`);
    });
}

/** Bare `autodev`, with or without options, starts. */
function withDefault(argv: readonly string[]): string[] {
  const [first] = argv;
  const own = ["--help", "-h", "--version", "-V"];
  return first === undefined || (first.startsWith("-") && !own.includes(first))
    ? ["start", ...argv]
    : [...argv];
}

function wholeNumber(text: string, flag: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new CommanderError(2, "autodev.number", `${flag}: "${text}" is not a whole number`);
}

function positiveNumber(text: string, flag: string): number {
  const value = Number(text);
  if (/^\d/.test(text) && Number.isFinite(value) && value > 0) return value;
  throw new CommanderError(2, "autodev.number", `${flag}: "${text}" is not a number above 0`);
}

function help(program: Command, topics: readonly string[], json: boolean): number {
  const [topic = "", member] = topics;
  if (topic === "environment" && !json) {
    for (const [name, what] of environmentTable) print(`${name.padEnd(21)}  ${what}`);
    print("\nSet for agents, gates and a notify.command:");
    for (const [name, what] of givenEnvironmentTable) print(`${name.padEnd(21)}  ${what}`);
    return exitCodes.finished;
  }
  if (topic === "exit-codes" && !json) {
    for (const [code, what] of exitCodeTable) print(`${String(code).padStart(4)}  ${what}`);
    return exitCodes.finished;
  }
  const family = topic === "" ? program : commandIn(program, topic);
  const command = family && member !== undefined ? commandIn(family, member) : family;
  if (command && !json) {
    command.outputHelp();
    return exitCodes.finished;
  }
  // What is known of errors is long, and a bundle of its own.
  return load("help-errors").run(topics, { json }) as number;
}

const commandIn = (parent: Command, name: string): Command | undefined =>
  parent.commands.find((each) => each.name() === name || each.aliases().includes(name));

function reportError(error: unknown, json: boolean): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCodes.finished;
    const message = error.message.replace(/^error: /, "").replace(/\n\(autodev help.*$/s, "");
    return reportFailure({ code: "usage", message, hint: "autodev help" }, json);
  }
  printError("autodev: a bug of ours; nothing that was acknowledged is lost");
  printError(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return exitCodes.bug;
}
