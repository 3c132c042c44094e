/** What a project's own Makefile, justfile, Taskfile or Rakefile offers, by the usual names. */
import { type Command, type Commands, type GateName, standardGates } from "./kind.ts";
import type { Tree } from "./tree.ts";

/** In the order of preference. `format` and `fmt` alone are left out: they write. */
const names: Readonly<Record<GateName, readonly string[]>> = {
  lint: ["lint", "check-lint", "lint-check", "vet"],
  format: ["format-check", "fmt-check", "check-format", "check-fmt", "formatcheck", "fmtcheck"],
  typecheck: ["typecheck", "type-check", "check-types", "types", "mypy"],
  test: ["test", "tests", "check", "unit", "test-unit", "unit-test", "unittest"],
};

interface Offer {
  /** The first of them that is there. */
  readonly files: readonly string[];
  readonly program: string;
  readonly targets: RegExp;
}

const offers: readonly Offer[] = [
  {
    files: ["GNUmakefile", "makefile", "Makefile"],
    program: "make",
    targets: /^([A-Za-z][\w.\- ]*?)\s*::?(?![=:])/gm,
  },
  {
    files: ["justfile", "Justfile", ".justfile"],
    program: "just",
    // Recipes that cannot run without an argument have parameters before the colon.
    targets: /^@?([A-Za-z_][\w-]*)(?:\s+[*+]?\w+=\S+)*\s*:(?!=)/gm,
  },
  {
    files: ["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml"],
    program: "task",
    targets: /^ {2}(['"]?[A-Za-z][\w:.-]*['"]?)\s*:/gm,
  },
];

export function targetCommands(tree: Tree): Commands {
  const commands: Commands = {};
  for (const { files, program, targets } of offers) {
    const file = files.find((each) => tree.has(each));
    const text = file === undefined ? undefined : tree.text(file);
    if (file === undefined || text === undefined) continue;
    const offered = new Set(
      [...text.matchAll(targets)].flatMap(([, said = ""]) =>
        said.replace(/['"]/g, "").split(/\s+/),
      ),
    );
    for (const gate of standardGates) {
      const found = spellings(gate).find((name) => offered.has(name));
      if (found !== undefined) commands[gate] ??= command(program, found, file);
    }
  }
  return commands;
}

const spellings = (gate: GateName): string[] =>
  names[gate].flatMap((name) => [
    name,
    ...(name.includes("-") ? [name.replaceAll("-", "_"), name.replaceAll("-", ":")] : []),
  ]);

const command = (program: string, target: string, file: string): Command => ({
  text: `${program} ${target}`,
  why: `target ${target} of ${file}`,
  file,
});
