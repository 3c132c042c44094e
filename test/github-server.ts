/**
 * As much of GitHub's REST API as pull requests need, on loopback; what it does wrong is scripted, one
 * call after the other. Like the real one it has at most one open pull request for a branch.
 */
import * as http from "node:http";
import type { AddressInfo } from "node:net";

/** `lost`: it is done, and the answer is not sent. `hidden`: an empty list, as long as it is not in step. */
export type Fault =
  | "lost"
  | "cut"
  | "hidden"
  | {
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly message?: string;
    };

export interface StoredPull {
  readonly number: number;
  title: string;
  body: string;
  state: "open" | "closed";
  readonly head: { readonly ref: string; sha: string };
  readonly base: { readonly ref: string };
}

export interface GitHubServer {
  readonly api: string;
  readonly pulls: StoredPull[];
  /** Method and path of every call, and who came. */
  readonly calls: { readonly what: string; readonly authorization: string | undefined }[];
  /** By method; each is used up by one call. */
  readonly faults: { method: string; fault: Fault }[];
  /** What the branch holds, as far as the server knows. */
  tip: (branch: string) => string;
  /** Before a call has done anything, and when it has done all but answer. */
  seen: (what: string, when: "before" | "after") => void;
  close(): Promise<void>;
}

export async function startGitHub(): Promise<GitHubServer> {
  const state: Omit<GitHubServer, "api" | "close"> = {
    pulls: [],
    calls: [],
    faults: [],
    tip: () => "",
    seen: () => {},
  };
  const server = http.createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      const url = new URL(request.url ?? "/", "http://localhost");
      const method = request.method ?? "";
      const what = `${method} ${url.pathname}`;
      state.seen(what, "before");
      state.calls.push({
        what,
        authorization: request.headers.authorization,
      });
      const at = state.faults.findIndex((each) => each.method === method);
      const fault = at < 0 ? undefined : state.faults.splice(at, 1)[0]?.fault;
      if (fault === "cut") return void request.socket.destroy();
      if (typeof fault === "object") {
        response.writeHead(fault.status, fault.headers);
        return void response.end(JSON.stringify({ message: fault.message ?? "scripted" }));
      }
      const [status, body] = answer(state, method, url, text);
      state.seen(what, "after");
      if (fault === "lost") return void request.socket.destroy();
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(fault === "hidden" ? [] : body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    api: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

function answer(
  state: Pick<GitHubServer, "pulls" | "tip">,
  method: string,
  url: URL,
  text: string,
): [number, unknown] {
  const { pulls } = state;
  const shown = (pull: StoredPull): unknown => ({
    ...pull,
    head: { ...pull.head, sha: pull.state === "open" ? state.tip(pull.head.ref) : pull.head.sha },
    html_url: `https://github.example/o/r/pull/${pull.number}`,
  });
  if (method === "GET" && url.pathname === "/repos/o/r") return [200, { default_branch: "main" }];
  if (method === "GET" && url.pathname === "/repos/o/r/pulls") {
    const [head, base] = [url.searchParams.get("head"), url.searchParams.get("base")];
    const found = pulls.filter((pull) => `o:${pull.head.ref}` === head && pull.base.ref === base);
    return [200, found.map(shown)];
  }
  if (method === "POST" && url.pathname === "/repos/o/r/pulls") {
    const { title, head, base, body } = JSON.parse(text) as Record<string, string>;
    if (pulls.some((pull) => pull.head.ref === head && pull.state === "open")) {
      const message = `A pull request already exists for o:${head}.`;
      return [422, { message: "Validation Failed", errors: [{ message }] }];
    }
    const pull: StoredPull = {
      number: pulls.length + 1,
      title: title ?? "",
      body: body ?? "",
      state: "open",
      head: { ref: head ?? "", sha: state.tip(head ?? "") },
      base: { ref: base ?? "" },
    };
    pulls.push(pull);
    return [201, shown(pull)];
  }
  const number = Number(/^\/repos\/o\/r\/pulls\/(\d+)$/.exec(url.pathname)?.[1]);
  const pull = pulls.find((each) => each.number === number);
  if (method !== "PATCH" || !pull) return [404, { message: "Not Found" }];
  Object.assign(pull, JSON.parse(text));
  return [200, shown(pull)];
}
