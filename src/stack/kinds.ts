/**
 * What projects are built with. The first kind in this order that has a test is a project's stack;
 * of the others, only the tests are added. To know one more language is to add one more row.
 */
import { c, dotnet, go, jvm, rust } from "./compiled.ts";
import type { Kind } from "./kind.ts";
import { node } from "./node.ts";
import { python } from "./python.ts";
import { php, ruby } from "./scripted.ts";

export const kinds: readonly Kind[] = [node, python, go, rust, jvm, dotnet, ruby, php, c];

/** Where only a Makefile or its like tells: the language is that of most files. */
export const endings: readonly (readonly [ending: string, language: string])[] = [
  ["ts", "typescript"],
  ["tsx", "typescript"],
  ["js", "javascript"],
  ["mjs", "javascript"],
  ["cjs", "javascript"],
  ["py", "python"],
  ["go", "go"],
  ["rs", "rust"],
  ["java", "java"],
  ["kt", "kotlin"],
  ["cs", "csharp"],
  ["rb", "ruby"],
  ["php", "php"],
  ["c", "c"],
  ["cc", "cpp"],
  ["cpp", "cpp"],
  ["cxx", "cpp"],
  ["swift", "swift"],
  ["scala", "scala"],
  ["ex", "elixir"],
  ["exs", "elixir"],
  ["hs", "haskell"],
  ["zig", "zig"],
  ["lua", "lua"],
  ["pl", "perl"],
  ["sh", "shell"],
];
