/**
 * Where browsers keep what people have opened and been given: addresses with words in them, sessions,
 * cookies. Who works for a person has no business there, and with a word out of an address he could
 * answer in that person's name.
 */
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

const chromiumLike = [
  "chromium",
  "google-chrome",
  "google-chrome-beta",
  "google-chrome-unstable",
  "BraveSoftware",
  "microsoft-edge",
  "vivaldi",
  "opera",
];
const inHome = [
  ".mozilla",
  ".librewolf",
  "snap/chromium",
  "snap/firefox",
  ".var/app/org.chromium.Chromium",
  ".var/app/com.google.Chrome",
  ".var/app/com.brave.Browser",
  ".var/app/com.microsoft.Edge",
  ".var/app/org.mozilla.firefox",
  "Library/Application Support/Google/Chrome",
  "Library/Application Support/Chromium",
  "Library/Application Support/BraveSoftware",
  "Library/Application Support/Microsoft Edge",
  "Library/Application Support/Firefox",
  "Library/Safari",
];

/** Those that are there. */
export function browserProfiles(env: NodeJS.ProcessEnv = process.env): string[] {
  const home = env["HOME"] || os.homedir();
  const given = env["XDG_CONFIG_HOME"];
  const configs = new Set([path.join(home, ".config"), ...(given ? [given] : [])]);
  return [
    ...[...configs].flatMap((folder) => chromiumLike.map((name) => path.join(folder, name))),
    ...inHome.map((name) => path.join(home, name)),
  ].filter(isFolder);
}

function isFolder(place: string): boolean {
  try {
    return path.isAbsolute(place) && fs.statSync(place).isDirectory();
  } catch {
    return false;
  }
}
