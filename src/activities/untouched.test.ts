import * as fs from "node:fs";
import * as path from "node:path";
import { expect, it } from "vitest";
import { makeFolder } from "../../test/rig.ts";
import { writtenBetween } from "../core/flow/contract.ts";
import { documentAt } from "./docs-tree.ts";
import { docsMarks } from "./untouched.ts";

function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const root = makeFolder("docs");
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), content);
  }
  return root;
}

it("sees what became of files below _docs/, and not what we write there", () => {
  const root = folderWith({
    "_docs/a.md": "a",
    "_docs/b/c.md": "c",
    "_docs/d.md": "d",
    "e.md": "e",
  });
  const before = docsMarks(root);
  expect([...before.keys()].sort()).toEqual(["a.md", "b/c.md", "d.md"]);
  fs.writeFileSync(path.join(root, "_docs/a.md"), "A");
  fs.rmSync(path.join(root, "_docs/d.md"));
  fs.symlinkSync("../e.md", path.join(root, "_docs/b/f.md"));
  fs.writeFileSync(path.join(root, "_docs/_autodev_state.md"), "x");
  fs.writeFileSync(path.join(root, "_docs/.autodev-tmp-1-x"), "x");
  expect(writtenBetween(before, docsMarks(root)).map(({ message }) => message)).toEqual([
    "a.md was changed, and this skill writes nothing",
    "b/f.md was added, and this skill writes nothing",
    "d.md was removed, and this skill writes nothing",
  ]);
});

it("has nothing to say of a project without documents", () => {
  expect(docsMarks(folderWith({ "a.md": "a" }))).toEqual(new Map());
});

it("reads documents that are UTF-8, with a mark before them or not, and no others", () => {
  const latin = Uint8Array.of(0x43, 0xe9);
  const root = folderWith({ "_docs/a.md": "Cé", "_docs/b.md": "\uFEFFC", "_docs/c.md": latin });
  expect(documentAt(root, "a.md")).toBe("Cé");
  expect(documentAt(root, "b.md")).toBe("\uFEFFC");
  expect(documentAt(root, "c.md")).toBeUndefined();
  expect(documentAt(root, "c.md", { forgiven: true })).toBe("C\uFFFD");
  expect(documentAt(root, "gone.md")).toBeUndefined();
});
