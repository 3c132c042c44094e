/** The dashboard's server as a process of its own, and whoever talks to it over HTTP. */
import { type ChildProcess, spawn } from "node:child_process";
import * as http from "node:http";
import { binary, eventually, plainEnvironment, type Repo } from "./rig.ts";

export interface Told {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

export interface Heard {
  readonly event: string;
  readonly id?: number;
  readonly data: unknown;
}

export interface Ear {
  readonly heard: readonly Heard[];
  seqs(): number[];
  hangUp(): void;
  /** Whoever serves has gone. */
  isOver(): boolean;
}

export interface Ui {
  readonly url: string;
  readonly port: number;
  readonly token: string;
  readonly pid: number;
  readonly child: ChildProcess;
  /** With the token; `path` below `/api`. */
  get(path: string): Promise<Told>;
  /** The same as JSON, of a request that is answered. */
  json<T>(path: string): Promise<T>;
  /** As the page does. */
  post(path: string, body: unknown): Promise<Told>;
  listen(after: number, lastId?: number): Promise<Ear>;
  said(): string;
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** `autodev ui --json` in this repository. */
export async function openUi(
  repo: Pick<Repo, "root">,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Ui> {
  const child = spawn(process.execPath, [binary(), "ui", "--json", ...args], {
    cwd: repo.root,
    env: { ...plainEnvironment, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let [out, err, over] = ["", "", false];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const ended = new Promise<number | null>((resolve) => {
    child.once("close", (code) => {
      over = true;
      resolve(code);
    });
  });
  await eventually("the address", () => out.includes("\n") || over, 20_000).catch(() => {});
  if (!out.startsWith('{"version":1,"url"')) {
    child.kill("SIGKILL");
    throw new Error(`no address, but:\n${out}${err}`);
  }
  const { url, port, pid } = JSON.parse(out) as { url: string; port: number; pid: number };
  const token = url.split("#token=")[1] ?? "";
  const host = `127.0.0.1:${port}`;
  const authorization = `Bearer ${token}`;
  const get = (path: string): Promise<Told> =>
    ask({ port, path: `/api/${path}`, headers: { authorization } });
  return {
    url,
    port,
    token,
    pid,
    child,
    get,
    async json<T>(path: string) {
      const told = await get(path);
      if (told.status !== 200) throw new Error(`${path}: ${told.status} ${told.text}`);
      return JSON.parse(told.text) as T;
    },
    post: (path, body) =>
      ask(
        {
          port,
          method: "POST",
          path: `/api/${path}`,
          headers: { authorization, origin: `http://${host}`, "content-type": "application/json" },
        },
        typeof body === "string" ? body : JSON.stringify(body),
      ),
    listen: (after, lastId) =>
      listenTo({
        port,
        path: `/api/stream?p=.&after=${after}`,
        headers: { authorization, ...(lastId !== undefined && { "last-event-id": `${lastId}` }) },
      }),
    said: () => out + err,
    end(signal = "SIGTERM") {
      child.kill(signal);
      return ended;
    },
  };
}

export const ask = (options: http.RequestOptions, body?: string): Promise<Told> =>
  new Promise((resolve, reject) => {
    const request = http.request({ host: "127.0.0.1", agent: false, ...options }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
      response.on("error", reject);
    });
    request.on("error", reject).end(body);
  });

function listenTo(options: http.RequestOptions): Promise<Ear> {
  return new Promise((resolve, reject) => {
    const heard: Heard[] = [];
    let over = false;
    const request = http.get({ host: "127.0.0.1", agent: false, ...options }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`${response.statusCode}`));
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
        const frames = text.split("\n\n");
        text = frames.pop() ?? "";
        for (const frame of frames) heard.push(frameOf(frame));
      });
      response.on("close", () => (over = true)).on("error", () => {});
      resolve({
        heard,
        seqs: () =>
          heard.flatMap(({ event, data }) =>
            event === "events" ? (data as { seq: number }[]).map(({ seq }) => seq) : [],
          ),
        hangUp: () => request.destroy(),
        isOver: () => over,
      });
    });
    request.on("error", reject);
  });
}

function frameOf(frame: string): Heard {
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}: (.*)$`, "m").exec(frame)?.[1];
  const id = field("id");
  return {
    event: field("event") ?? "",
    data: JSON.parse(field("data") ?? "null"),
    ...(id !== undefined && { id: Number(id) }),
  };
}
