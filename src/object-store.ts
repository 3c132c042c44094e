/**
 * Transcripts and logs of attempts, where workers on many machines find them: in a folder that all
 * of them see, or in a bucket behind an S3-compatible address. A database holds references only.
 *
 *  1. A key or a reference leads to something below the store's own folder or prefix, or is refused;
 *     links below that folder are not followed.
 *  2. An object is whole or absent. Of two that are put under one key, the last one stands.
 *  3. A file goes out as it was when `put` began, in pieces: never is all of it in memory.
 *  4. Secrets sign requests and go nowhere else: into no reference and into no message.
 *  5. Every request ends, nothing is tried more than a few times, and no redirect is followed.
 */
import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, rename, rm, stat } from "node:fs/promises";
import * as http from "node:http";
import * as https from "node:https";
import * as path from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { AwsV4Signer } from "aws4fetch";
import { fail, type Result, succeed } from "./core/failure.ts";
import { maskSecrets, secretsIn, shown } from "./safe-text.ts";

/** Where bytes are kept that many machines read: a folder that all of them see, or an S3-compatible address. */
export interface ObjectStore {
  /** Takes a file as it is now, under a key of ours (`r123/2a-1.log`); resolves with the reference by which anybody finds it again. */
  put(key: string, file: string): Promise<Result<string>>;
  /** The bytes; the failure `no-object`: there is none. `most`: only its last so many bytes. */
  get(reference: string, options?: { readonly most?: number }): Promise<Result<Buffer>>;
}

export interface RequestPatience {
  /** For one request; what moves 64 KB has a second more. */
  readonly callMs: number;
  /** Between one try and the next, more or less; there are no more tries than these and one. */
  readonly pauses: readonly number[];
}

const usual: RequestPatience = { callMs: 30_000, pauses: [500, 2000] };

type Env = Readonly<Record<string, string | undefined>>;

/** `address`: an absolute folder, `file:///…`, or `s3://bucket/prefix?endpoint=https://host:port&region=…`. */
export function openObjectStore(
  address: string,
  env: Env,
  patience: RequestPatience = usual,
): Result<ObjectStore> {
  if (/[\0-\x1f\x7f]/.test(address)) return unusable("it holds a control character");
  if (path.isAbsolute(address)) return openFolder(address);
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url && /^file:\/\/\//i.test(address)) return openFolderAt(url);
  if (url?.protocol !== "s3:")
    return unusable("it is neither an absolute folder nor file:///… nor s3://…");
  const place = placeAt(url, env);
  return place.ok ? succeed(bucketStore(place.value, patience)) : place;
}

/** Never with the address itself: who knows what somebody has written into it. */
const unusable = (why: string): ReturnType<typeof fail> =>
  fail("usage", `the address of the object store cannot be used: ${why}`, {
    hint: "an absolute folder that all machines see, or s3://bucket/prefix?endpoint=https://host:port&region=us-east-1",
  });

// ── keys and references ────────────────────────────────────────────────────────────────────────

/** As long as S3 takes them. */
const longestKey = 1024;

const isKey = (key: string): boolean =>
  Buffer.byteLength(key) <= longestKey &&
  !/[\0-\x1f\x7f\\]|\p{Surrogate}/u.test(key) &&
  key.split("/").every((part) => !/^\.{0,2}$/.test(part) && !part.startsWith(temporaryMark));

const notOurs = (what: string): ReturnType<typeof fail> =>
  fail("object-store", `${named(what)} does not lead into this object store`, {
    hint: "if the address of the object store has changed, what was put before is found at the old one",
  });

const named = (what: string): string => maskSecrets(shown(what.slice(0, 300)), []);

const absent = (reference: string): ReturnType<typeof fail> =>
  fail("no-object", `there is nothing at ${shown(reference)}`, {
    hint: "it was never put there, or has been removed since",
  });

/** By ourselves: what Node escapes in the address of a file changes from one version to the next. */
const escaped = (name: string): string =>
  name
    .split("/")
    .map((part) => encodeURIComponent(part))
    .join("/");

/** Undefined: that is not how anything is escaped. */
function unescaped(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

// ── files ──────────────────────────────────────────────────────────────────────────────────────

/** What a disk does to us: a failure, whoever it happens to. */
class DiskTrouble extends Error {
  readonly hint: string;
  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

async function onDisk<T>(act: () => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error instanceof DiskTrouble)
      return fail("disk", shown(error.message), { hint: shown(error.hint) });
    if (codeOf(error) === "") throw error;
    return fail("disk", shown(error.message), { hint: "make room, or mend the permissions there" });
  }
}

/** The system's word; empty: it was not the system, so it is a bug. */
const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

interface OpenFile {
  readonly file: string;
  readonly handle: FileHandle;
  readonly size: number;
}

/** No link, and nothing that would keep us waiting. */
async function openFile(file: string): Promise<OpenFile> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  // On Windows the last two are undefined, which adds nothing.
  const handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    throw codeOf(error) === "ELOOP" ? inTheWay(file, "file") : error;
  });
  const found = await handle.stat();
  if (found.isFile()) return { file, handle, size: found.size };
  await handle.close();
  throw inTheWay(file, "file");
}

const inTheWay = (what: string, wanted: "file" | "folder"): DiskTrouble =>
  new DiskTrouble(
    `${what} is a link, or no ${wanted}`,
    wanted === "file" ? "put the file itself there" : `mv ${what} ${what}.aside`,
  );

const pieceBytes = 64 * 1024;

/** Up to the size that it had when it was opened, however it grows. */
async function* piecesOf({ file, handle, size }: OpenFile, from = 0): AsyncGenerator<Buffer> {
  for (let at = from; at < size; ) {
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, size - at));
    const { bytesRead } = await handle.read(piece, 0, piece.length, at).catch((error: unknown) => {
      throw new DiskTrouble(`${file} cannot be read (${codeOf(error)})`, "see what its disk says");
    });
    if (bytesRead === 0)
      throw new DiskTrouble(`${file} became shorter while it was read`, "take it once more");
    at += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}

// ── a folder ───────────────────────────────────────────────────────────────────────────────────

const temporaryMark = ".autodev-tmp-";

function openFolderAt(url: URL): Result<ObjectStore> {
  if (url.search !== "" || url.hash !== "") return unusable("a folder has no ? and no #");
  try {
    return openFolder(fileURLToPath(url));
  } catch {
    return unusable("it names no folder");
  }
}

function openFolder(folder: string): Result<ObjectStore> {
  const root = path.resolve(folder);
  if (folder.includes("\0") || root === path.dirname(root)) return unusable("it names no folder");
  return succeed(folderStore(root));
}

function folderStore(root: string): ObjectStore {
  const names = root.split(path.sep).join("/");
  const home = `file://${names.startsWith("/") ? "" : "/"}${escaped(names)}/`;
  return {
    async put(key, file) {
      if (!isKey(key)) return notOurs(key);
      return onDisk(async () => {
        const source = await openFile(file);
        try {
          const folders = await makeFolders(root, key);
          await copyInto(source, folders, path.basename(key));
        } finally {
          await source.handle.close();
        }
        return succeed(`${home}${escaped(key)}`);
      });
    },

    async get(reference, { most = Number.POSITIVE_INFINITY } = {}) {
      const key = reference.startsWith(home) && unescaped(reference.slice(home.length));
      if (!key || !isKey(key) || `${home}${escaped(key)}` !== reference) return notOurs(reference);
      return onDisk(async () => {
        const kept = await findFile(root, key);
        if (kept === undefined) return absent(reference);
        try {
          return succeed(
            await lastOf(piecesOf(kept, Math.max(0, kept.size - Math.floor(most))), most),
          );
        } finally {
          await kept.handle.close();
        }
      });
    },
  };
}

/** The root and what leads from there to the key, the innermost last. */
function foldersTo(root: string, key: string): string[] {
  const parts = key.split("/").slice(0, -1);
  return [root, ...parts.map((_, at) => path.join(root, ...parts.slice(0, at + 1)))];
}

async function makeFolders(root: string, key: string): Promise<string[]> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  const [, ...below] = foldersTo(root, key);
  for (const folder of below) {
    await mkdir(folder, 0o700).catch((error: unknown) => {
      if (codeOf(error) !== "EEXIST") throw error;
    });
    if (!(await lstat(folder)).isDirectory()) throw inTheWay(folder, "folder");
  }
  return [root, ...below];
}

async function copyInto(source: OpenFile, folders: readonly string[], name: string): Promise<void> {
  const folder = folders.at(-1) ?? "";
  const temporary = path.join(folder, `${temporaryMark}${randomUUID()}`);
  try {
    const copy = await open(temporary, "wx", 0o600);
    try {
      for await (const piece of piecesOf(source)) await copy.writeFile(piece);
      await copy.sync();
    } finally {
      await copy.close();
    }
    await rename(temporary, path.join(folder, name));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
  for (const each of folders.toReversed()) await syncFolder(each);
}

/** A reference outlives a power cut, and so has what it leads to. Not every system can do this. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // The bytes are there; only their name may be lost with the power.
  }
}

/** Undefined: there is none. */
async function findFile(root: string, key: string): Promise<OpenFile | undefined> {
  const [, ...below] = foldersTo(root, key);
  const ifMissing = (error: unknown): undefined => {
    if (codeOf(error) !== "ENOENT") throw error;
  };
  // Of a share that is not mounted nobody knows what it holds.
  if ((await stat(root).catch(ifMissing)) === undefined)
    throw new DiskTrouble(`${root} is not there`, "mount it, or mend the object store's address");
  for (const folder of below) {
    const found = await lstat(folder).catch(ifMissing);
    if (found === undefined) return undefined;
    if (!found.isDirectory()) throw inTheWay(folder, "folder");
  }
  return openFile(path.join(root, key)).catch(ifMissing);
}

// ── a bucket ───────────────────────────────────────────────────────────────────────────────────

interface Place {
  /** Without a slash at its end. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Empty, or with a slash at its end. */
  readonly prefix: string;
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  /** What others say, as it may be shown. */
  safe(text: string): string;
}

function placeAt(url: URL, env: Env): Result<Place> {
  if ([...url.searchParams.keys()].some((name) => name !== "endpoint" && name !== "region"))
    return unusable("after the ? there is endpoint= and region= and nothing else");
  if (url.username !== "" || url.password !== "" || url.port !== "" || url.hash !== "")
    return unusable("before the path there is the bucket and nothing else");
  const bucket = url.hostname;
  if (!/^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){1,61}[A-Za-z0-9]$/.test(bucket))
    return unusable("that is no name of a bucket");
  const prefix = unescaped(url.pathname)?.replace(/^\/|\/$/g, "");
  if (prefix === undefined || (prefix !== "" && !isKey(prefix)))
    return unusable("that is no prefix");
  const region = url.searchParams.get("region") ?? (env["AWS_REGION"] || "us-east-1");
  // It becomes a part of a host's name.
  if (!/^[a-z0-9-]{1,63}$/.test(region)) return unusable("that is no region");
  const endpoint = endpointOf(
    url.searchParams.get("endpoint") ?? `https://s3.${region}.amazonaws.com`,
  );
  if (!endpoint.ok) return endpoint;
  const credentials = credentialsIn(env);
  if (!credentials.ok) return credentials;
  const { secretAccessKey, sessionToken } = credentials.value;
  const secrets = [...secretsIn(env), secretAccessKey, sessionToken ?? secretAccessKey];
  return succeed({
    endpoint: endpoint.value,
    region,
    bucket,
    prefix: prefix === "" ? "" : `${prefix}/`,
    credentials: credentials.value,
    safe: (text) => maskSecrets(shown(text), secrets).slice(0, 500),
  });
}

function endpointOf(text: string): Result<string> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return unusable("endpoint= is no https address");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    return unusable("endpoint= has more than a host, a port and a path");
  const isLoopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === "http:" && !isLoopback)
    return unusable("without https, endpoint= may only be an address of this machine");
  return succeed(`${url.origin}${url.pathname}`.replace(/\/+$/, ""));
}

function credentialsIn(env: Env): Result<Place["credentials"]> {
  const names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"] as const;
  const [accessKeyId = "", secretAccessKey = "", sessionToken = ""] = names.map((it) => env[it]);
  if (accessKeyId === "" || secretAccessKey === "")
    return fail("object-store", "an s3:// address needs a key, and there is none", {
      hint: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    });
  const odd = names.find((name) => /[^\x21-\x7e]/.test(env[name] ?? ""));
  if (odd)
    return fail("object-store", `${odd} holds a space or a line break`, {
      hint: `set ${odd} to the key and nothing else`,
    });
  return succeed({ accessKeyId, secretAccessKey, ...(sessionToken !== "" && { sessionToken }) });
}

function bucketStore(place: Place, patience: RequestPatience): ObjectStore {
  const { bucket, prefix } = place;
  const home = `s3://${bucket}/`;
  return {
    async put(key, file) {
      const name = `${prefix}${key}`;
      if (!isKey(key) || !isKey(name)) return notOurs(key);
      return onDisk(async () => {
        const source = await openFile(file);
        try {
          const hash = createHash("sha256");
          for await (const piece of piecesOf(source)) hash.update(piece);
          const sha256 = hash.digest("hex");
          const answer = await patiently(place, patience, { method: "PUT", name, sha256, source });
          const isTaken = answer.status === 200 && answer.isS3;
          return isTaken ? succeed(`${home}${name}`) : refused(place, answer);
        } finally {
          await source.handle.close();
        }
      });
    },

    async get(reference, { most = Number.POSITIVE_INFINITY } = {}) {
      const name = reference.slice(home.length);
      if (!reference.startsWith(`${home}${prefix}`) || !isKey(name)) return notOurs(reference);
      const answer = await patiently(place, patience, {
        method: "GET",
        name,
        sha256: ofNone,
        most,
      });
      const { status, code, isS3, body } = answer;
      if ((status === 200 || status === 206) && isS3) return succeed(body);
      // Of nothing there is no last byte.
      if (status === 416 && code === "InvalidRange") return succeed(Buffer.alloc(0));
      return status === 404 && code === "NoSuchKey" ? absent(reference) : refused(place, answer);
    },
  };
}

const ofNone = createHash("sha256").digest("hex");

// ── one request ────────────────────────────────────────────────────────────────────────────────

interface Call {
  readonly method: "GET" | "PUT";
  /** The key with its prefix. */
  readonly name: string;
  /** Of what is sent. */
  readonly sha256: string;
  readonly source?: OpenFile;
  readonly most?: number;
}

interface Answer {
  /** 0: there was none. */
  readonly status: number;
  /** S3's word for what is wrong. */
  readonly code: string;
  readonly message: string;
  /** Where the bucket is, if it says so. */
  readonly region: string | undefined;
  /** Other servers say 200 too. */
  readonly isS3: boolean;
  readonly body: Buffer;
}

const nothing: Answer = {
  status: 0,
  code: "",
  message: "",
  region: undefined,
  isS3: false,
  body: Buffer.alloc(0),
};

async function patiently(place: Place, patience: RequestPatience, call: Call): Promise<Answer> {
  for (let tried = 0; ; tried++) {
    const answer = await ask(place, patience, call);
    const { status, code } = answer;
    const mayPass = status === 0 || status === 429 || status >= 500 || code === "RequestTimeout";
    const pause = patience.pauses[tried];
    if (!mayPass || pause === undefined) return answer;
    // Many machines have seen it fail in the same moment.
    await sleep(pause * (0.5 + Math.random()));
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const slowestBytesPerMs = 64;

async function ask(place: Place, { callMs }: RequestPatience, call: Call): Promise<Answer> {
  const url = new URL(`${place.endpoint}/${place.bucket}/${inRequest(call.name)}`);
  const stop = new AbortController();
  const began = performance.now();
  let moved = 0;
  const clock = setInterval(
    () => {
      if (performance.now() - began > callMs + moved / slowestBytesPerMs) stop.abort();
    },
    Math.min(250, callMs / 4),
  );
  const counted = async function* (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      moved += piece.length;
      yield piece;
    }
  };
  let request: http.ClientRequest | undefined;
  let sent: Promise<void> | undefined;
  try {
    const { request: send } = url.protocol === "http:" ? http : https;
    request = send(url, {
      method: call.method,
      headers: await headersFor(place, url, call),
      signal: stop.signal,
    });
    const answered = answerTo(request);
    sent = sendBody(request, call.source, counted);
    // Whoever refuses need not have read to the end.
    const response = await Promise.race([answered, sent.then(() => answered)]);
    return await readAnswer(place, response, counted(response), call.most);
  } catch (error) {
    if (error instanceof DiskTrouble) throw error;
    const late = `no end of it after ${Math.round((performance.now() - began) / 1000)} s`;
    const said = codeOf(error) || (error instanceof Error ? error.message : String(error));
    return { ...nothing, message: stop.signal.aborted ? late : place.safe(said) };
  } finally {
    clearInterval(clock);
    request?.destroy();
    await sent?.catch(() => {});
  }
}

/** These too are escaped where it is signed, and what is sent has to be what is signed. */
const inRequest = (name: string): string =>
  escaped(name).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

async function headersFor(
  { region, credentials }: Place,
  url: URL,
  { method, sha256, source, most }: Call,
): Promise<Record<string, string>> {
  const signer = new AwsV4Signer({
    ...credentials,
    method,
    url: url.href,
    service: "s3",
    region,
    allHeaders: true,
    headers: {
      "x-amz-content-sha256": sha256,
      // There is no range of no bytes.
      ...(most !== undefined &&
        Number.isFinite(most) && { range: `bytes=-${Math.max(1, Math.floor(most))}` }),
    },
  });
  const { headers } = await signer.sign();
  return {
    ...Object.fromEntries(headers),
    "user-agent": "autodev",
    ...(source && { "content-length": String(source.size) }),
    ...(source && source.size >= askedFirst && { expect: "100-continue" }),
  };
}

/** From this size on we ask whether it is wanted: a refusal comes before all of it is sent. */
const askedFirst = 1024 ** 2;
/** Not every server answers that. */
const goAheadMs = 1000;

const answerTo = (request: http.ClientRequest): Promise<http.IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.once("response", resolve).on("error", reject);
  });

async function sendBody(
  request: http.ClientRequest,
  source: OpenFile | undefined,
  counted: (pieces: AsyncIterable<Buffer>) => AsyncIterable<Buffer>,
): Promise<void> {
  if (source && source.size >= askedFirst && !(await isWanted(request))) return;
  if (source) await pipeline(counted(piecesOf(source)), request);
  else request.end();
}

const isWanted = (request: http.ClientRequest): Promise<boolean> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), goAheadMs);
    const decide = (wanted: boolean) => () => {
      clearTimeout(timer);
      resolve(wanted);
    };
    request.once("continue", decide(true));
    request.once("response", decide(false)).once("close", decide(false));
    request.flushHeaders();
  });

async function readAnswer(
  { safe }: Place,
  { statusCode: status = 0, headers }: http.IncomingMessage,
  pieces: AsyncIterable<Buffer>,
  most = Number.POSITIVE_INFINITY,
): Promise<Answer> {
  const isS3 = headers.etag !== undefined;
  if (status === 200 || status === 206)
    return { ...nothing, status, isS3, body: await lastOf(pieces, most) };
  const text = (await firstOf(pieces)).toString("utf8");
  const part = (name: string): string =>
    new RegExp(`<${name}>([^<]{1,1000})</${name}>`).exec(text)?.[1] ?? "";
  const region = String(headers["x-amz-bucket-region"] ?? part("Region"));
  return {
    ...nothing,
    status,
    code: /^\w+$/.test(part("Code")) ? safe(part("Code")) : "",
    message: safe(part("Message")),
    region: /^[a-z0-9-]{1,63}$/.test(region) ? region : undefined,
  };
}

const mostOfRefusal = 64 * 1024;

async function firstOf(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const held: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    held.push(piece);
    bytes += piece.length;
    if (bytes >= mostOfRefusal) break;
  }
  return Buffer.concat(held);
}

/** Not every server knows ranges: of what comes, no more is held than is wanted. */
async function lastOf(pieces: AsyncIterable<Buffer>, most: number): Promise<Buffer> {
  const held: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    held.push(piece);
    bytes += piece.length;
    for (let [first] = held; first && bytes - first.length >= most; [first] = held) {
      held.shift();
      bytes -= first.length;
    }
  }
  return Buffer.concat(held).subarray(Math.max(0, bytes - Math.floor(most)));
}

// ── what to say ────────────────────────────────────────────────────────────────────────────────

function refused(place: Place, answer: Answer): ReturnType<typeof fail> {
  const { endpoint, bucket } = place;
  const { status, code, message, region } = answer;
  const why = message === "" ? "" : `: ${message}`;
  if (status === 0)
    return fail("object-store", `${endpoint} cannot be reached${why}`, {
      hint: /CERT|SIGNED|ISSUER/.test(message)
        ? "NODE_EXTRA_CA_CERTS names a file with an authority of your own"
        : "see that endpoint= in the object store's address is right, and that it can be reached from here",
    });
  const said = [status, code].filter((each) => each !== "").join(" ");
  if (status >= 500)
    return fail("object-store", `${endpoint} fails (${said})${why}`, {
      hint: "try again in a while",
    });
  if (region !== undefined && region !== place.region)
    return fail("object-store", `${bucket} is in another region than ${place.region} (${said})`, {
      hint: `put region=${region} into the object store's address`,
    });
  if (code === "")
    return fail("object-store", `${endpoint} does not answer as S3 does (${said})`, {
      hint: "endpoint= in the object store's address is that of its S3 API",
    });
  return fail("object-store", `${endpoint} refuses (${said}, bucket ${bucket})${why}`, {
    hint: hints.get(code) ?? "mend the object store's address, or what its key may do",
  });
}

const hints = new Map(
  Object.entries({
    InvalidAccessKeyId: "AWS_ACCESS_KEY_ID is not known there",
    SignatureDoesNotMatch: "AWS_SECRET_ACCESS_KEY does not belong to AWS_ACCESS_KEY_ID",
    InvalidToken: "AWS_SESSION_TOKEN does not belong to AWS_ACCESS_KEY_ID",
    ExpiredToken: "AWS_SESSION_TOKEN is no longer valid: get another one",
    NoSuchBucket: "make the bucket, or mend its name in the object store's address",
    RequestTimeTooSkewed: "this machine's clock is wrong: set it",
    XAmzContentSHA256Mismatch: "the file was changed while it was sent: put it again",
    AccessDenied:
      "the key needs s3:PutObject and s3:GetObject; without s3:ListBucket, what is not there is refused too",
  }),
);
