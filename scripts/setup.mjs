/**
 * Installs what is missing and builds: npm packages as the lock file has them and, in CI as root,
 * the Debian packages that the harder tests use (they skip, and say so, where those are absent).
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const run = (command, args, options = {}) => {
  const { status } = spawnSync(command, args, { stdio: "inherit", ...options });
  if (status !== 0) process.exit(status ?? 1);
};
const has = (command) => spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;

const lock = createHash("sha256").update(readFileSync("package-lock.json")).digest("hex");
const stamp = "node_modules/.autodev-lock";
if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== lock) {
  // Not `npm ci`: it refuses where a mirror lacks the optional packages of other platforms.
  run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"]);
  writeFileSync(stamp, lock);
}

const wanted = {
  gcc: "gcc",
  "mkfs.ext4": "e2fsprogs",
  "mkfs.xfs": "xfsprogs",
  git: "git",
  flock: "util-linux",
  strace: "strace",
  bwrap: "bubblewrap",
  // Test runners whose words are read: small projects of each are run.
  "pytest-3": "python3-pytest",
  rspec: "ruby-rspec",
  phpunit: "phpunit",
  cmake: "cmake",
  // A fleet shares a real database, and its machines disagree about the time.
  pg_ctlcluster: "postgresql",
  faketime: "faketime",
  // The dashboard is looked at by a real browser.
  chromium: "chromium",
};
const missing = Object.keys(wanted).filter((command) => !has(command));
if (missing.length > 0 && process.env.CI && process.getuid?.() === 0 && has("apt-get")) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync("apt-get", ["update", "-qq"], { stdio: "inherit", env });
  spawnSync("apt-get", ["install", "-y", "-qq", ...missing.map((command) => wanted[command])], {
    stdio: ["ignore", "ignore", "inherit"],
    env,
  });
}

// The check that follows in `npm test` builds by itself.
if (!process.argv.includes("--no-build")) run(process.execPath, ["scripts/build.mjs"]);
