/**
 * The MCP servers that are configured for a project: in its own files, and in the settings of the user's
 * agents. Read, never run; a file that is not there or not understood names none.
 */
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { readToml } from "../core/toml.ts";
import {
  type FoundTracker,
  type McpServer,
  serversIn,
  trackersAmong,
} from "../core/tracker/servers.ts";
import { fieldsOf } from "../core/tracker/tools.ts";
import { contains } from "../trust.ts";

export function findTrackers(root: string, env: NodeJS.ProcessEnv = process.env): FoundTracker[] {
  const home = env["HOME"] ?? os.homedir();
  const own = (file: string, key: string): McpServer[] =>
    serversIn(fieldsOf(parsed(path.join(root, file)))[key], { from: file, repository: true });
  const user = (file: string, table: (value: Record<string, unknown>) => unknown): McpServer[] => {
    const full = path.join(home, file);
    const servers = serversIn(table(fieldsOf(parsed(full))), {
      from: `~/${file}`,
      repository: isWithin(root, full),
    });
    // Whoever names it: what lies in the repository is the repository's.
    return servers.map((each) =>
      startsWhatIsIn(root, each) ? { ...each, repository: true } : each,
    );
  };
  return trackersAmong([
    ...own(".mcp.json", "mcpServers"),
    ...own(".cursor/mcp.json", "mcpServers"),
    ...own(".codex/config.toml", "mcp_servers"),
    ...user(".claude.json", ({ projects }) => fieldsOf(fieldsOf(projects)[root])["mcpServers"]),
    ...user(".claude.json", ({ mcpServers }) => mcpServers),
    ...user(".cursor/mcp.json", ({ mcpServers }) => mcpServers),
    ...user(".codex/config.toml", (value) => value["mcp_servers"]),
  ]);
}

const mostBytes = 8_000_000;

function parsed(file: string): unknown {
  try {
    if (!fs.statSync(file).isFile() || fs.statSync(file).size > mostBytes) return undefined;
    const text = fs.readFileSync(file, "utf8");
    return file.endsWith(".toml") ? readToml(text) : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

function isWithin(root: string, file: string): boolean {
  try {
    return contains(fs.realpathSync(root), path.dirname(fs.realpathSync(file)));
  } catch {
    return false;
  }
}

const startsWhatIsIn = (root: string, { is }: McpServer): boolean =>
  "command" in is &&
  [is.command, ...is.args].some((word) => {
    const full = path.resolve(root, word);
    return /[\\/.]/.test(word) && fs.existsSync(full) && isWithin(root, full);
  });
