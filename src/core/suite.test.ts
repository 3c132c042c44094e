import { describe, expect, it } from "vitest";
import { readRepoConfig } from "../formats/repo-config.ts";
import { newMembers, reportGaps, type Suite, suiteGaps, suiteLines } from "./suite.ts";

const members = [
  { path: "api", by: "submodule", checkedOut: true },
  { path: "tools/lint", by: "workspace", checkedOut: true },
  { path: "web", by: "submodule", checkedOut: false },
] as const;
const text = `version: 1
confirmed_by_user: false
components:
  - { name: api, path: api }
  - { name: lint, path: ./tools/lint/ }
  - { name: web, path: web }
`;
const suiteWith = (config: string, more: Partial<Suite> = {}): Suite => ({
  members,
  config: readRepoConfig(config),
  commits: {},
  there: { api: true, "tools/lint": true, web: true },
  ...more,
});

describe("a suite's configuration", () => {
  it("that has every part has no gaps", () => {
    expect(suiteGaps(suiteWith(text))).toEqual([]);
  });
  it.each([
    [
      "without a part",
      text.replace("  - { name: web, path: web }\n", ""),
      "_docs/_repo-config.yaml has no component for web, which is a submodule here",
    ],
    [
      "with the same name twice",
      text.replace("name: web", "name: api"),
      "_docs/_repo-config.yaml: two components are called api",
    ],
    [
      "with a part that leads elsewhere",
      text.replace("path: web", "path: ../web"),
      "_docs/_repo-config.yaml:6: the path of web leads out of the repository",
    ],
    [
      "with a part without a path",
      text.replace(", path: web", ""),
      "_docs/_repo-config.yaml:6: a component has a name and a path",
    ],
    [
      "without a list",
      "confirmed_by_user: false\ncomponents: none\n",
      "_docs/_repo-config.yaml:2: components is to be a list",
    ],
    [
      "that is no YAML",
      'components: [ "a\n',
      "_docs/_repo-config.yaml:2: this is not YAML (MISSING_CHAR)",
    ],
  ])("%s is told so", (_, config, sentence) => {
    expect(suiteGaps(suiteWith(config))).toContain(sentence);
  });
  it("names what is not there", () => {
    expect(suiteGaps(suiteWith(text, { there: { web: false } }))).toEqual([
      "_docs/_repo-config.yaml: the path of web, web, is not there",
    ]);
  });
  it("is confirmed by exactly that", () => {
    expect(readRepoConfig(text).confirmed).toBe(false);
    expect(readRepoConfig(text.replace("false", "true")).confirmed).toBe(true);
    expect(readRepoConfig(text.replace("false", '"true"')).confirmed).toBe(false);
  });
});

describe("a suite", () => {
  it("tells of each part, and of those that nobody has taken in", () => {
    const suite = suiteWith(text.replace("  - { name: web, path: web }\n", ""), {
      commits: { api: 3, "tools/lint": 0 },
    });
    expect(newMembers(suite).map(({ path }) => path)).toEqual(["web"]);
    expect(suiteLines(suite)).toEqual([
      "api · submodule api · 3 commits since the last sync",
      "lint · workspace tools/lint · nothing new since the last sync",
      "web · submodule web · not checked out · not in the configuration: for a person to take in",
    ]);
  });
  it("knows whose drift is reported", () => {
    expect(reportGaps(["document-drift: api", "cicd-drift"], suiteWith(text))).toEqual([]);
    expect(reportGaps(["document-drift: apo"], suiteWith(text))).toEqual([
      "it reports document-drift of apo, which is no component of _docs/_repo-config.yaml",
    ]);
  });
});
