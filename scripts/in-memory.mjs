/** Where thousands of small repositories are made and thrown away. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A folder in memory, until this process ends, where we may mount one and there is plenty of it;
 * else the usual one. What has to survive a disk makes itself one.
 */
export function inMemory() {
  if (process.getuid?.() !== 0 || freemem() < 12 * 1024 ** 3) return tmpdir();
  const place = mkdtempSync(join(tmpdir(), "autodev-memory-"));
  const mounting = ["-t", "tmpfs", "-o", "size=8g,mode=1777", "autodev-check", place];
  const { status } = spawnSync("mount", mounting);
  process.on("exit", () => {
    if (status === 0) spawnSync("umount", ["--lazy", place]);
    rmSync(place, { recursive: true, force: true });
  });
  return status === 0 ? place : tmpdir();
}
