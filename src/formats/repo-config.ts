/** `_docs/_repo-config.yaml`: only what the engine itself has to know of it. */
import { isMap, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import type { SuiteComponent, SuiteConfig } from "../core/suite.ts";

const mostBytes = 1024 * 1024;

export function readRepoConfig(text: string): SuiteConfig {
  const nothing = { confirmed: false, components: [] };
  if (text.length > mostBytes) return { ...nothing, faults: ["1: it is larger than 1 MB"] };
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, logLevel: "silent" });
  const lineOf = (node: unknown): number => {
    const { range } = (node ?? {}) as { range?: readonly number[] };
    return range ? lines.linePos(range[0] ?? 0).line : 1;
  };
  const [error] = document.errors;
  if (error) {
    const { line } = lines.linePos(error.pos[0]);
    return { ...nothing, faults: [`${line}: this is not YAML (${error.code})`] };
  }
  const top = document.contents;
  if (!isMap(top)) return { ...nothing, faults: ["1: it holds no keys"] };
  const listed = top.get("components", true);
  const faults: string[] = [];
  const components: SuiteComponent[] = [];
  if (!isSeq(listed)) faults.push(`${lineOf(listed)}: components is to be a list`);
  for (const item of isSeq(listed) ? listed.items : []) {
    const [name, path] = ["name", "path"].map((key) => {
      const value: unknown = isMap(item) ? item.get(key, true) : undefined;
      return isScalar(value) && typeof value.value === "string" ? value.value.trim() : "";
    });
    if (!name || !path) faults.push(`${lineOf(item)}: a component has a name and a path`);
    else if (/^\/|(?:^|\/)\.\.(?:\/|$)/.test(path))
      faults.push(`${lineOf(item)}: the path of ${name} leads out of the repository`);
    else components.push({ name, path });
  }
  return { confirmed: top.toJSON().confirmed_by_user === true, components, faults };
}
