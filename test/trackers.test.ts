/**
 * Trackers behind real MCP servers of ours, whose tools are those of the real ones: the contract, and
 * each fault by itself. What all of them come to together is torture's (`tracker-effects`).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { trackerContract } from "../src/testing/index.ts";
import type { Tracker } from "../src/tracker.ts";
import { localTracker } from "../src/trackers/local.ts";
import { createMcpTracker } from "../src/trackers/mcp.ts";
import {
  createFaults,
  findFaults,
  itemsByKey,
  makeProject,
  makeServer,
  shapes,
  trackingOf,
  trackOnce,
  wrongWith,
} from "../torture/tracker-world.ts";
import { makeFolder } from "./rig.ts";

const tools = join(import.meta.dirname, "tracker-servers", "tools");
const runner = { describe, it, expect };
const versions = [
  ...shapes.map((shape) => [shape, ""] as const),
  ...(["jira", "ado", "github"] as const).map((shape) => [shape, "renamed"] as const),
];

for (const [shape, mode] of versions) {
  trackerContract(
    `${shape}${mode === "" ? "" : `, ${mode},`} over MCP`,
    async () => makeServer(shape, serverFolder(mode), { callMs: 5000 }),
    runner,
  );
}
trackerContract("local", async () => localTracker, runner, { keeps: false });

function serverFolder(mode = "", faults: readonly string[] = []): string {
  const folder = makeFolder("server");
  makeServer("jira", folder);
  writeFileSync(join(folder, "mode"), mode);
  writeFileSync(join(folder, "faults"), faults.map((line) => `${line}\n`).join(""));
  return folder;
}

async function projectWith(tasks = 1): Promise<string> {
  const root = makeFolder("project");
  await makeProject(root, tasks);
  return root;
}

const faults = [
  ...createFaults.map((fault) => `create ${fault}`),
  ...findFaults.map((fault) => `find ${fault}`),
];

describe.concurrent.each(shapes)(
  "what happens to a call of %s leaves one item of each",
  (shape) => {
    it.each(faults)(
      "%s",
      async (fault) => {
        const [root, folder] = [await projectWith(), serverFolder("", [fault])];
        for (let life = 0; life < 3 && wrongWith(root, folder, 1).length > 0; life++)
          await trackOnce(root, makeServer(shape, folder));
        expect(wrongWith(root, folder, 1)).toEqual([]);
      },
      30_000,
    );
  },
);

describe.concurrent("a tracker", () => {
  it("that creates twice for one call has the oldest kept, the other named, and no third", async () => {
    const [root, folder] = [await projectWith(), serverFolder("", ["create twice"])];
    for (const _ of [1, 2]) await trackOnce(root, makeServer("github", folder));
    expect([...itemsByKey(folder).values()].sort((a, b) => a - b)).toEqual([1, 2]);
    const epic = Object.values(trackingOf(root).entries).find(({ of }) => of === "E1");
    expect(epic?.receipt).toMatchObject({ id: "GH-1", others: ["GH-2"] });
  });

  it("where nobody is logged in is asked to log in, once", async () => {
    const folder = serverFolder("auth");
    const tracker = makeServer("jira", folder);
    expect(await tracker.open()).toMatchObject({ is: "open" });
    await tracker.close();
    const again = makeServer("jira", folder);
    expect(await again.open()).toMatchObject({ is: "open" });
    await again.close();
  });

  it("where nobody can log in says so", async () => {
    const tracker = makeServer("jira", serverFolder("locked"));
    expect(await tracker.open()).toEqual({
      is: "auth",
      why: "401 Unauthorized: the token has expired",
    });
    await tracker.close();
  });

  it("that lets nobody in any more leaves all of it for later, after one call", async () => {
    const [root, folder] = [await projectWith(2), serverFolder("", ["create unauthorized"])];
    // Nothing is silent here: how long a busy machine takes to answer is not what is tried.
    const server = (): Tracker => makeServer("ado", folder, { callMs: 20_000 });
    await trackOnce(root, server());
    expect(itemsByKey(folder).size).toBe(0);
    const left = readFileSync(join(root, "_docs/_process_leftovers/tracker.md"), "utf8");
    expect(left).toContain("| epic | E1 | 401 Unauthorized |");
    await trackOnce(root, server());
    expect(wrongWith(root, folder, 2)).toEqual([]);
  });

  it("that does not start says why", async () => {
    const folder = serverFolder();
    writeFileSync(join(folder, "mode"), "renamed");
    const tracker = makeServer("linear", folder);
    expect(await tracker.open()).toMatchObject({ is: "unreachable" });
  });

  it("at an address is sent the headers that it is to have, and says where they are refused", async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.headers.authorization}`);
      if (request.headers.authorization !== "Bearer secret") return response.writeHead(401).end();
      if (request.method !== "POST") return response.writeHead(405).end();
      let body = "";
      request.on("data", (text) => (body += String(text)));
      request.on("end", () => {
        const { id, method, params } = JSON.parse(body) as {
          id?: number;
          method: string;
          params?: { protocolVersion?: string };
        };
        if (id === undefined) return response.writeHead(202).end();
        const { protocolVersion } = params ?? {};
        const serverInfo = { name: "linear", version: "1" };
        const result =
          method === "initialize"
            ? { protocolVersion, capabilities: { tools: {} }, serverInfo }
            : JSON.parse(readFileSync(join(tools, "linear.json"), "utf8"));
        response.writeHead(200, { "content-type": "application/json" });
        return response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const at = (token: string) =>
      createMcpTracker({
        kind: "linear",
        settings: { project: "Engineering" },
        place: {
          is: "address",
          url: `http://127.0.0.1:${port}/mcp`,
          headers: { Authorization: `Bearer ${token}` },
        },
      });
    const tracker = at("secret");
    expect(await tracker.open()).toMatchObject({ is: "open", how: { create: "create_issue" } });
    await tracker.close();
    const stranger = at("wrong");
    expect(await stranger.open()).toMatchObject({ is: "auth" });
    await stranger.close();
    expect(asked[0]).toBe("POST Bearer secret");
    server.closeAllConnections();
    server.close();
  });

  it("whose answers hold escape sequences and paths has none of them on record", async () => {
    const [root, folder] = [
      await projectWith(),
      serverFolder("", ["create garbage", "create path"]),
    ];
    for (const _ of [1, 2, 3]) await trackOnce(root, makeServer("jira", folder));
    expect(wrongWith(root, folder, 1)).toEqual([]);
    const told = JSON.stringify(trackingOf(root));
    expect(told).not.toMatch(/etc|reboot|\\u001b|\\u202e/);
  });
});
