/** Bugs planted in the dashboard's door: each lets somebody in, or lets a text do something. */
import type { Plant } from "./rig.ts";

const guard = "src/dashboard/guard.ts";

export const httpBugs: readonly {
  readonly name: string;
  readonly slow?: true;
  /** What it is told by; other failures are not it. */
  readonly seen: RegExp;
  readonly plant: Plant;
}[] = [
  {
    name: "origin-by-its-beginning",
    seen: /^knock-.*let in/,
    plant: {
      file: guard,
      find: 'one(told, "origin") === `http://${one(told, "host")}`',
      replace: '(one(told, "origin") ?? "").startsWith(`http://${one(told, "host")}`)',
    },
  },
  {
    name: "names-without-their-port",
    seen: /^knock-.*let in/,
    slow: true,
    plant: {
      file: guard,
      find: "hostsOf(house).includes(host)",
      replace: "hostsOf(house).some((own) => own.startsWith(host))",
    },
  },
  {
    name: "other-sites-welcome",
    seen: /^knock-.*let in/,
    slow: true,
    plant: { file: guard, find: "foreignSite(told, knock) ??", replace: "" },
  },
  {
    name: "changed-by-get",
    seen: /^knock-.*let in.*"GET"/,
    slow: true,
    plant: {
      file: guard,
      find: "if (method !== wanted) return",
      replace: 'if (method !== wanted && method !== "GET") return',
    },
  },
  {
    name: "forms-welcome",
    seen: /^knock-.*let in/,
    slow: true,
    plant: {
      file: guard,
      find: "/^application\\/json(?:\\s*;\\s*charset=utf-8)?$/i",
      replace: "/json|form|plain/i",
    },
  },
  {
    name: "types-guessed-at",
    seen: /^knock-.*its type is guessed at/,
    slow: true,
    plant: {
      file: "src/dashboard/server.ts",
      find: '  "x-content-type-options": "nosniff",\n',
      replace: "",
    },
  },
  {
    name: "links-that-run",
    seen: /^text-.*a link leads to javascript:/i,
    slow: true,
    plant: {
      file: "src/formats/markdown-tree.ts",
      find: "/^(?:https?:\\/\\/[^/]|mailto:[^/])/i",
      replace: "/^(?:https?:\\/\\/[^/]|mailto:[^/]|javascript:)/i",
    },
  },
];
