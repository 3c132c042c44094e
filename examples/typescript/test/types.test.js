import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = (...args) => spawnSync("tsc", args, { cwd: root, encoding: "utf8" });
const version = Number(/^Version (\d+)/.exec(tsc("--version").stdout ?? "")?.[1] ?? 0);

test("the types hold", { skip: version < 5 && "no tsc of version 5 or later is installed" }, () => {
  const { status, stdout } = tsc("--project", ".");
  assert.equal(status, 0, stdout);
});
