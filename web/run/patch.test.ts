import { describe, expect, it } from "vitest";
import { filesIn } from "./patch.ts";

const patch = `diff --git a/src/a.ts b/src/a.ts
index 1111111..2222222 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -10,3 +10,3 @@ function a() {
 same
-old
+new
--- a line that begins with dashes
+++ and one with plus signs
\\ No newline at end of file
diff --git a/logo.png b/logo.png
new file mode 100644
Binary files /dev/null and b/logo.png differ
diff --git a/with space.ts b/with space.ts
deleted file mode 100644
--- a/with space.ts
+++ /dev/null
@@ -1 +0,0 @@
-gone
`;

describe("a patch", () => {
  it("is read file by file, line by line, with its numbers", () => {
    const [file] = filesIn(patch);
    expect(file?.path).toBe("src/a.ts");
    expect(file?.lines).toEqual([
      { is: "hunk", text: "@@ -10,3 +10,3 @@ function a() {" },
      { is: "same", text: "same", number: 10 },
      { is: "removed", text: "old", number: 11 },
      { is: "added", text: "new", number: 11 },
      { is: "removed", text: "-- a line that begins with dashes", number: 12 },
      { is: "added", text: "++ and one with plus signs", number: 12 },
      { is: "note", text: "No newline at end of file" },
    ]);
  });

  it("tells of files that are new, gone or no text", () => {
    const [, picture, gone] = filesIn(patch);
    expect(picture?.lines.map(({ text }) => text)).toEqual([
      "new file mode 100644",
      "Binary files /dev/null and b/logo.png differ",
    ]);
    expect([gone?.path, gone?.lines.at(-1)]).toEqual([
      "with space.ts",
      { is: "removed", text: "gone", number: 1 },
    ]);
  });

  it("of nothing has no files", () => {
    expect(filesIn("")).toEqual([]);
  });
});
