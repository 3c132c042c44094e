/** One of the people of decision-races: answers once and says which answer stands. */
import { writeSync } from "node:fs";
import { join } from "node:path";
import { createFileStore } from "../src/stores/file.ts";

const [root = "", id = "", key = "", by = ""] = process.argv.slice(2);
const store = createFileStore({ folder: join(root, ".git", "autodev"), root });
void store.answer(id, { key, by, at: "now" }).then((answer) => {
  if (answer.ok) writeSync(1, `${answer.value.key} ${answer.value.by}\n`);
  else {
    writeSync(2, `${answer.failure.message}\n`);
    process.exitCode = 1;
  }
});
