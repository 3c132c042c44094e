import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import * as fs from "node:fs";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import * as os from "node:os";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ObjectStore, openObjectStore, type RequestPatience } from "./object-store.ts";

const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "autodev-objects-")));
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }));

let count = 0;
const newPlace = (): string => path.join(scratch, `${count++}`);

function newFile(content: string | Buffer): string {
  const file = newPlace();
  fs.writeFileSync(file, content);
  return file;
}

/** Zeros with a mark at both ends: it takes no room and no memory. */
function largeFile(bytes: number): string {
  const file = newFile("begin");
  fs.truncateSync(file, bytes - 3);
  fs.appendFileSync(file, "end");
  return file;
}

function opened(address: string, env = {}, patience?: RequestPatience): ObjectStore {
  const store = openObjectStore(address, env, patience);
  if (!store.ok) throw new Error(store.failure.message);
  return store.value;
}

async function kept(store: ObjectStore, key: string, content: string | Buffer): Promise<string> {
  const put = await store.put(key, newFile(content));
  if (!put.ok) throw new Error(put.failure.message);
  return put.value;
}

async function got(store: ObjectStore, reference: string, most?: number): Promise<string> {
  const bytes = await store.get(reference, most === undefined ? {} : { most });
  return bytes.ok ? bytes.value.toString("utf8") : bytes.failure.code;
}

const failed = (code: string, message?: RegExp, hint?: RegExp): unknown => ({
  ok: false,
  failure: expect.objectContaining({
    code,
    ...(message && { message: expect.stringMatching(message) }),
    ...(hint && { hint: expect.stringMatching(hint) }),
  }),
});

const oddKeys = [
  "r123/2a-1.log",
  "one",
  "a b/c+d/e%2Fe/%2e%2e/f",
  "ä/語/😀.log",
  "!'()*~/$&,:;=@/#?[]^|`{}<>\"",
  "..a/b../...",
];

const hostileKeys = [
  "",
  ".",
  "..",
  "../outside",
  "r1/../../outside",
  "r1/..",
  "r1/./x",
  "/etc/passwd",
  "r1//x",
  "r1/",
  "r1\\..\\x",
  "r1/x\0.log",
  "r1/\nx",
  "r1/\ud800",
  ".autodev-tmp-x",
];

describe("a folder of objects", () => {
  it("keeps a file, and gives it back by its reference", async () => {
    const root = path.join(newPlace(), "of", "ours");
    const reference = await kept(opened(root), "r123/2a-1.log", "said\n");
    expect(reference).toBe(pathToFileURL(path.join(root, "r123", "2a-1.log")).href);
    for (const address of [root, `${root}/`, pathToFileURL(root).href])
      expect(await got(opened(address), reference)).toBe("said\n");
    expect(fs.statSync(path.join(root, "r123")).mode & 0o777).toBe(0o700);
    expect(fs.statSync(path.join(root, "r123", "2a-1.log")).mode & 0o777).toBe(0o600);
    expect(fs.readdirSync(path.join(root, "r123"))).toEqual(["2a-1.log"]);
  });

  it.each(oddKeys)("finds again what has the odd name %s", async (key) => {
    const root = path.join(newPlace(), "a b%20ä~[]");
    const store = opened(root);
    const reference = await kept(store, key, key);
    expect(await got(store, reference)).toBe(key);
    expect(fs.readFileSync(path.join(root, key), "utf8")).toBe(key);
  });

  it("gives the last bytes alone", async () => {
    const store = opened(newPlace());
    const reference = await kept(store, "x", "0123456789");
    expect(await got(store, reference, 3)).toBe("789");
    expect(await got(store, reference, 2.5)).toBe("89");
    expect(await got(store, reference, 100)).toBe("0123456789");
    expect(await got(store, reference, 0)).toBe("");
    expect(await got(store, await kept(store, "empty", ""), 3)).toBe("");
    const large = await store.put("large", largeFile(300_000));
    expect(large.ok && (await got(store, large.value, 200_000))).toMatch(/^\0{199997}end$/);
  });

  it("is never a mixture of two that are put at once", async () => {
    const root = newPlace();
    const contents = Array.from({ length: 8 }, (_, at) => `${at}`.repeat(500_000 + at));
    const files = contents.map(newFile);
    const reference = await kept(opened(root), "r1/x.log", contents[0] ?? "");
    const puts = { areOver: false };
    const read = (async () => {
      const seen = new Set<string>();
      while (!puts.areOver) seen.add(await got(opened(root), reference));
      return seen;
    })();
    const put = await Promise.all(files.map((file) => opened(root).put("r1/x.log", file)));
    puts.areOver = true;
    expect(put).toEqual(files.map(() => ({ ok: true, value: reference })));
    for (const content of await read) expect(contents.includes(content)).toBe(true);
    expect(contents).toContain(await got(opened(root), reference));
    expect(fs.readdirSync(path.join(root, "r1"))).toEqual(["x.log"]);
  });

  it("says that there is none, and that the folder is not there", async () => {
    const root = newPlace();
    const store = opened(root);
    const reference = await kept(store, "r1/x.log", "x");
    fs.rmSync(path.join(root, "r1", "x.log"));
    expect(await store.get(reference)).toEqual(failed("no-object", /x\.log/));
    fs.rmSync(path.join(root, "r1"), { recursive: true });
    expect(await store.get(reference)).toEqual(failed("no-object"));
    fs.rmSync(root, { recursive: true });
    expect(await store.get(reference)).toEqual(failed("disk", /is not there/, /mount/));
  });

  it.each(hostileKeys)("refuses the key %j", async (key) => {
    const above = newPlace();
    fs.mkdirSync(above);
    const store = opened(path.join(above, "root"));
    expect(await store.put(key, newFile("x"))).toEqual(failed("object-store"));
    expect(fs.readdirSync(above)).toEqual([]);
  });

  it("refuses a key that no bucket would take", async () => {
    expect(await opened(newPlace()).put("long".repeat(257), newFile("x"))).toEqual(
      failed("object-store"),
    );
  });

  it("refuses references that lead anywhere else", async () => {
    const above = newPlace();
    const root = path.join(above, "root");
    const store = opened(root);
    const href = await kept(store, "r1/x", "x");
    const home = href.slice(0, -"/r1/x".length);
    fs.writeFileSync(path.join(above, "secret"), "secret");
    fs.mkdirSync(`${root}-other`);
    fs.writeFileSync(path.join(`${root}-other`, "x"), "secret");
    for (const reference of [
      "",
      home,
      `${home}/`,
      `${home}/../secret`,
      `${home}/%2e%2e/secret`,
      `${home}/..%2Fsecret`,
      `${home}/r1/../r1/x`,
      `${home}/r1//x`,
      `${home}//r1/x`,
      `${home}/r1%5Cx`,
      `${home}/r1/x%00`,
      `${home}/r1/x?a`,
      `${home}/r1/x#a`,
      `${home}/r1/%78`,
      `${home}/r1/%zz`,
      `${home}-other/x`,
      href.replace("file:///", "file://host/"),
      href.replace("file:///", "file:/"),
      path.join(root, "r1", "x"),
      pathToFileURL(path.join(above, "secret")).href,
      "s3://bucket/r1/x",
    ])
      expect([reference, await store.get(reference)]).toEqual([reference, failed("object-store")]);
    expect(await got(store, href)).toBe("x");
  });

  it("follows no link below it, and may itself be one", async () => {
    const above = newPlace();
    const elsewhere = path.join(above, "elsewhere");
    fs.mkdirSync(elsewhere, { recursive: true });
    fs.writeFileSync(path.join(elsewhere, "x"), "theirs");
    fs.mkdirSync(path.join(above, "real"));
    const root = path.join(above, "link");
    fs.symlinkSync("real", root);
    const store = opened(root);
    const [inFolder, asFile] = [await kept(store, "r1/x", "1"), await kept(store, "r2/x", "2")];
    expect(await got(store, inFolder)).toBe("1");

    fs.rmSync(path.join(root, "r1"), { recursive: true });
    fs.symlinkSync(elsewhere, path.join(root, "r1"));
    expect(await store.get(inFolder)).toEqual(failed("disk", /link/, /^mv /));
    expect(await store.put("r1/x", newFile("ours"))).toEqual(failed("disk", /link/, /^mv /));

    fs.rmSync(path.join(root, "r2", "x"));
    fs.symlinkSync(path.join(elsewhere, "x"), path.join(root, "r2", "x"));
    expect(await store.get(asFile)).toEqual(failed("disk", /link/));
    expect(await kept(store, "r2/x", "ours")).toBe(asFile);
    expect(await got(store, asFile)).toBe("ours");
    expect(fs.readdirSync(elsewhere)).toEqual(["x"]);
    expect(fs.readFileSync(path.join(elsewhere, "x"), "utf8")).toBe("theirs");
  });

  it("takes files alone, and leaves nothing behind where it cannot", async () => {
    const root = newPlace();
    const store = opened(root);
    const reference = await kept(store, "r1/x", "x");
    const link = newPlace();
    fs.symlinkSync(newFile("theirs"), link);
    for (const file of [newPlace(), scratch, link, "/dev/zero"])
      expect(await store.put("r1/y", file)).toEqual(failed("disk"));
    // A file where a folder has to be, and a folder where the file has to be.
    expect(await store.put("r1/x/y", newFile("y"))).toEqual(failed("disk"));
    expect(await store.put("r1", newFile("y"))).toEqual(failed("disk"));
    expect(fs.readdirSync(root, { recursive: true })).toEqual(["r1", path.join("r1", "x")]);
    expect(await got(store, reference)).toBe("x");
  });
});

// ── a bucket ───────────────────────────────────────────────────────────────────────────────────

let server: S3Server;
beforeEach(async () => {
  server = await startS3();
});
afterEach(() => server.close());

const owner = { id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" };
const env = { AWS_ACCESS_KEY_ID: owner.id, AWS_SECRET_ACCESS_KEY: owner.secret };
const quick: RequestPatience = { callMs: 5000, pauses: [1, 1] };
const addressOf = (more = ""): string => `s3://bucket/pre/fix?endpoint=${server.endpoint}${more}`;
const bucket = (more: Record<string, string> = {}, patience = quick): ObjectStore =>
  opened(addressOf(), { ...env, ...more }, patience);

describe("a bucket of objects", () => {
  it("keeps a file, and gives it back by a reference without address or secret", async () => {
    const reference = await kept(bucket(), "r123/2a-1.log", "said\n");
    expect(reference).toBe("s3://bucket/pre/fix/r123/2a-1.log");
    expect(await got(bucket(), reference)).toBe("said\n");
    expect([...server.objects.keys()]).toEqual(["/bucket/pre/fix/r123/2a-1.log"]);
    const whole = opened(`s3://bucket?endpoint=${server.endpoint}/`, env);
    expect(await kept(whole, "x", "")).toBe("s3://bucket/x");
    expect(await got(whole, "s3://bucket/x")).toBe("");
    expect(await got(whole, reference)).toBe("said\n");
  });

  it.each(oddKeys)("finds again what has the odd name %s", async (key) => {
    const reference = await kept(bucket(), key, key);
    expect(await got(bucket(), reference)).toBe(key);
    expect([...server.objects.keys()]).toEqual([`/bucket/pre/fix/${key}`]);
  });

  it("is reached below a path, in a region of its own, with a session's token", async () => {
    server.expected = { ...server.expected, region: "eu-west-1", token: "token/of+a=session" };
    const there = { ...env, AWS_SESSION_TOKEN: "token/of+a=session", AWS_REGION: "eu-west-1" };
    const address = `s3://bucket/?endpoint=${server.endpoint}/storage/v1/s3/`;
    expect(await kept(opened(address, there, quick), "x", "x")).toBe("s3://bucket/x");
    expect([...server.objects.keys()]).toEqual(["/storage/v1/s3/bucket/x"]);
    const named = opened(`${address}&region=eu-west-1`, { ...there, AWS_REGION: "us-west-2" });
    expect(await got(named, "s3://bucket/x")).toBe("x");
  });

  it("gives the last bytes alone, also where the server knows no ranges", async () => {
    const reference = await kept(bucket(), "x", "0123456789");
    const empty = await kept(bucket(), "empty", "");
    for (const ignoresRange of [false, true]) {
      server.ignoresRange = ignoresRange;
      expect(await got(bucket(), reference, 3)).toBe("789");
      expect(await got(bucket(), reference, 100)).toBe("0123456789");
      expect(await got(bucket(), reference, 0)).toBe("");
      expect(await got(bucket(), empty, 3)).toBe("");
    }
    expect(server.calls.filter(({ headers }) => headers.range === "bytes=-3")).toHaveLength(4);
  });

  it("says that there is none", async () => {
    expect(await bucket().get("s3://bucket/pre/fix/x")).toEqual(failed("no-object", /pre\/fix\/x/));
  });

  it("is never a mixture of two that are put at once", async () => {
    const contents = Array.from({ length: 6 }, (_, at) => `${at}`.repeat(300_000));
    const references = await Promise.all(contents.map((each) => kept(bucket(), "x", each)));
    expect(new Set(references).size).toBe(1);
    expect(contents).toContain(await got(bucket(), references[0] ?? ""));
  });

  it.each([
    ["another secret", { AWS_SECRET_ACCESS_KEY: "not/the+secret" }, /SECRET_ACCESS_KEY/],
    ["another key", { AWS_ACCESS_KEY_ID: "AKIANOBODYKNOWSTHIS1" }, /ACCESS_KEY_ID is not known/],
    ["a token that is not its own", { AWS_SESSION_TOKEN: "somebody-else's" }, /SESSION_TOKEN/],
    ["another region", { AWS_REGION: "eu-west-1" }, /region=us-east-1/],
  ])("is closed to whoever has %s, at once and with a way out", async (_, wrong, hint) => {
    const refused = await bucket(wrong).put("x", newFile("x"));
    expect(refused).toEqual(failed("object-store", undefined, hint));
    expect(await bucket(wrong).get("s3://bucket/pre/fix/x")).toEqual(refused);
    for (const secret of Object.values({ ...env, ...wrong }).filter((it) => it !== "eu-west-1"))
      expect(JSON.stringify(refused)).not.toContain(secret);
    expect(server.calls).toHaveLength(2);
    expect(server.objects.size).toBe(0);
  });

  it("has to be there", async () => {
    const store = opened(addressOf().replace("bucket", "no-such-bucket"), env, quick);
    const refused = failed("object-store", /NoSuchBucket.*no-such-bucket/, /make the bucket/);
    expect(await store.put("x", newFile("x"))).toEqual(refused);
    expect(await store.get("s3://no-such-bucket/pre/fix/x")).toEqual(refused);
  });

  it("tells a clock that is wrong, and permissions that are missing", async () => {
    server.expected = { ...server.expected, now: () => Date.now() + 3_600_000 };
    expect(await bucket().put("x", newFile("x"))).toEqual(
      failed("object-store", /RequestTimeTooSkewed/, /clock/),
    );
    server.faults.push({ status: 403, code: "AccessDenied", message: `${owner.secret}\u001b[2J` });
    const refused = await bucket().get("s3://bucket/pre/fix/x");
    expect(refused).toEqual(failed("object-store", /AccessDenied.*: \[masked\]$/, /s3:PutObject/));
  });

  it("is believed nothing but what it may say", async () => {
    const more = "x".repeat(1_000_000);
    server.faults.push({ status: 403, code: "AccessDenied", more });
    expect(await bucket().put("x", newFile("x"))).toEqual(failed("object-store", /AccessDenied/));
    server.faults.push({ status: 400, code: "constructor", message: "\u001b]0;x\u0007&lt;b>" });
    expect(await bucket().put("x", newFile("x"))).toEqual(
      failed("object-store", /\(400 constructor, bucket bucket\): &lt;b>$/, /^mend the/),
    );
  });

  it.each(hostileKeys)("refuses the key %j", async (key) => {
    expect(await bucket().put(key, newFile("x"))).toEqual(failed("object-store"));
    expect(server.calls).toEqual([]);
  });

  it.each([
    "",
    "s3://bucket",
    "s3://bucket/",
    "s3://bucket/pre/fix",
    "s3://bucket/pre/fix/",
    "s3://bucket/pre/fixed/x",
    "s3://bucket/other/x",
    "s3://bucket/pre/fix/../../other/x",
    "s3://bucket/pre/fix//x",
    "s3://bucket/pre/fix/x\0",
    "s3://bucket/pre/fix\\x",
    "s3://bucket/pre/fix/\ud800",
    "s3://bucket2/pre/fix/x",
    "S3://bucket/pre/fix/x",
    "http://127.0.0.1/bucket/pre/fix/x",
    "file:///bucket/pre/fix/x",
  ])("refuses the reference %j", async (reference) => {
    expect(await bucket().get(reference)).toEqual(failed("object-store"));
    expect(server.calls).toEqual([]);
  });

  const unavailable = { status: 503, code: "SlowDown", message: "reduce your rate" };
  it.each([
    ["is too busy", unavailable],
    ["asks to come later", { status: 429 }],
    ["fails without a word", { status: 500 }],
    ["cuts the connection", "cut" as const],
    ["breaks off", "half" as const],
  ])("is tried again when it %s, twice", async (_, fault) => {
    server.faults.push(fault, fault);
    const reference = await kept(bucket(), "x", "0123456789");
    expect(server.calls).toHaveLength(3);
    server.faults.push(fault, fault);
    expect(await got(bucket(), reference)).toBe("0123456789");
    expect(server.calls).toHaveLength(6);
    server.faults.push(fault, fault, fault);
    expect(await bucket().get(reference)).toEqual(failed("object-store"));
    expect(server.calls).toHaveLength(9);
  });

  it.each(["hang", "drip"] as const)("has only so much time: %s", async (fault) => {
    const store = bucket({}, { callMs: 500, pauses: [1, 1] });
    server.faults.push(fault, fault, fault, fault, fault, fault);
    for (const answer of [
      await store.put("x", largeFile(2 * 1024 ** 2)),
      await store.get("s3://bucket/pre/fix/x"),
    ])
      expect(answer).toEqual(failed("object-store", /cannot be reached: no end of it after/));
    expect(server.calls).toHaveLength(6);
  });

  it("cannot be had where nobody answers", async () => {
    await server.close();
    const refused = failed("object-store", /cannot be reached: ECONNREFUSED/, /endpoint=/);
    expect(await bucket().put("x", newFile("x"))).toEqual(refused);
    expect(await bucket().get("s3://bucket/pre/fix/x")).toEqual(refused);
  });

  it("is not looked for elsewhere", async () => {
    const other = await startS3();
    const location = `${other.endpoint}/bucket/pre/fix/x`;
    server.faults.push({ status: 307, headers: { location } });
    expect(await bucket().get("s3://bucket/pre/fix/x")).toEqual(failed("object-store", /307/));
    const headers = { location, "x-amz-bucket-region": "eu-west-1" };
    server.faults.push({ status: 301, code: "PermanentRedirect", headers });
    expect(await bucket().put("x", newFile("x"))).toEqual(
      failed("object-store", /another region/, /region=eu-west-1/),
    );
    expect(other.calls).toEqual([]);
    await other.close();
  });

  it.each([200, 204, 404])("is no web server that says %d to everything", async (status) => {
    server.faults.push({ status }, { status });
    const refused = failed("object-store", /does not answer as S3 does/, /S3 API/);
    expect(await bucket().put("x", newFile("x"))).toEqual(refused);
    expect(await bucket().get("s3://bucket/pre/fix/x")).toEqual(refused);
  });

  it("is not sent a large file that it does not want", async () => {
    const wrong = bucket({ AWS_SECRET_ACCESS_KEY: "not/the+secret" });
    expect(await wrong.put("x", largeFile(20 * 1024 ** 2))).toEqual(
      failed("object-store", /SignatureDoesNotMatch/),
    );
    expect(server.calls).toMatchObject([{ headers: { expect: "100-continue" } }]);
    expect(server.received).toBe(0);
  });

  it("is sent a large file also if it does not say that it wants it", async () => {
    server.goesAhead = false;
    expect(await bucket().put("x", largeFile(2 * 1024 ** 2))).toMatchObject({ ok: true });
    expect(server.received).toBe(2 * 1024 ** 2);
  });

  it("takes 20 MB without holding them", async () => {
    const size = 20 * 1024 ** 2;
    const file = largeFile(size);
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    // What one collection finds is freed when the next begins.
    const held = (): number => {
      collect();
      collect();
      return process.memoryUsage().arrayBuffers;
    };
    server.keeps = false;
    let [most, next] = [0, 0];
    server.seesBody = () => {
      if (server.received < next) return;
      next += 1024 ** 2;
      most = Math.max(most, held());
    };
    const before = held();
    expect(await bucket().put("x", file)).toMatchObject({ ok: true });
    expect(server.received).toBe(size);
    expect(next).toBeGreaterThan(size - 1024 ** 2);
    expect(most - before).toBeLessThan(2 * 1024 ** 2);
  });

  it("gives 20 MB back as they were", async () => {
    const file = largeFile(20 * 1024 ** 2);
    const put = await bucket().put("x", file);
    const bytes = await bucket().get("s3://bucket/pre/fix/x");
    expect(put.ok && bytes.ok && bytes.value.equals(fs.readFileSync(file))).toBe(true);
  });

  it("takes a file as it was, though it grows; not if it becomes shorter", async () => {
    const file = largeFile(2 * 1024 ** 2 + 5);
    const was = fs.readFileSync(file);
    server.sees = () => fs.appendFileSync(file, "more");
    expect(await bucket().put("x", file)).toMatchObject({ ok: true });
    expect(server.objects.get("/bucket/pre/fix/x")?.equals(was)).toBe(true);
    server.sees = () => fs.truncateSync(file, 100);
    expect(await bucket().put("y", file)).toEqual(failed("disk", /became shorter/));
    expect(server.calls).toHaveLength(2);
    const other = largeFile(2 * 1024 ** 2);
    server.sees = () => fs.copyFileSync(newFile("changed".repeat(2 ** 20)), other);
    expect(await bucket().put("y", other)).toEqual(
      failed("object-store", /SHA256Mismatch/, /changed while it was sent/),
    );
    expect([...server.objects.keys()]).toEqual(["/bucket/pre/fix/x"]);
  });

  it("takes files alone", async () => {
    for (const file of [newPlace(), scratch])
      expect(await bucket().put("x", file)).toEqual(failed("disk"));
    expect(server.calls).toEqual([]);
  });
});

describe("the address of an object store", () => {
  it.each([
    ["", /neither/],
    ["relative/folder", /neither/],
    ["/", /no folder/],
    ["/a\0b", /control/],
    ["file:relative", /neither/],
    ["file://host/folder", /neither/],
    ["file:///a%2Fb", /no folder/],
    ["file:///a%00b", /no folder/],
    ["file:///a?b", /no \?/],
    ["ftp://bucket/x", /neither/],
    ["https://bucket.s3.amazonaws.com/x", /neither/],
    ["s3:bucket", /bucket/],
    ["s3:///prefix", /bucket/],
    ["s3://b", /bucket/],
    ["s3://a..b/x", /bucket/],
    ["s3://key:secret@bucket/x", /bucket and nothing else/],
    ["s3://bucket:9000/x", /bucket and nothing else/],
    ["s3://bucket/a//b", /prefix/],
    ["s3://bucket/a%5Cb", /prefix/],
    ["s3://bucket/%2e%2e%2Fb", /prefix/],
    ["s3://bucket/%zz", /prefix/],
    ["s3://bucket/x?secret=hush", /nothing else/],
    ["s3://bucket/x?region=a.evil.example%2F", /region/],
    ["s3://bucket/x?region=", /region/],
    ["s3://bucket/x?endpoint=host:9000", /https/],
    ["s3://bucket/x?endpoint=", /https/],
    ["s3://bucket/x?endpoint=http://minio.example:9000", /without https/],
    ["s3://bucket/x?endpoint=http://127.0.0.1.example", /without https/],
    ["s3://bucket/x?endpoint=http://localhost.example", /without https/],
    ["s3://bucket/x?endpoint=http://10.0.0.1", /without https/],
    ["s3://bucket/x?endpoint=https://a:hush@host", /more than/],
    ["s3://bucket/x?endpoint=https://host/%3Fa?b", /more than/],
  ])("is not %j", (address, why) => {
    const refused = openObjectStore(address, env);
    expect(refused).toEqual(failed("usage", why, /s3:\/\/bucket/));
    expect(JSON.stringify(refused)).not.toMatch(/hush|key:secret/);
  });

  it.each([
    "/mnt/shared/autodev",
    "file:///mnt/shared/autodev",
    "s3://bucket",
    "s3://my.bucket-1/a/b/",
    "s3://bucket/a%20b?region=auto&endpoint=https://account.r2.example",
    "s3://bucket?endpoint=https://minio.example:9000",
    "s3://bucket?endpoint=http://localhost:9000",
    "s3://bucket?endpoint=http://[::1]:9000",
  ])("is %s", (address) => {
    expect(openObjectStore(address, env)).toMatchObject({ ok: true });
  });

  it.each([
    [{}, /there is none/],
    [{ AWS_ACCESS_KEY_ID: owner.id }, /there is none/],
    [{ AWS_SECRET_ACCESS_KEY: owner.secret }, /there is none/],
    [{ ...env, AWS_SECRET_ACCESS_KEY: `${owner.secret}\n` }, /SECRET_ACCESS_KEY holds/],
    [{ ...env, AWS_ACCESS_KEY_ID: "a\r\nx-evil: 1" }, /ACCESS_KEY_ID holds/],
    [{ ...env, AWS_SESSION_TOKEN: "a b" }, /SESSION_TOKEN holds/],
  ])("of a bucket needs a key that can be used (%#)", (wrong, why) => {
    const refused = openObjectStore("s3://bucket", wrong);
    expect(refused).toEqual(failed("object-store", why, /^set AWS_/));
    expect(JSON.stringify(refused)).not.toContain(owner.secret);
  });
});

// ── the server ─────────────────────────────────────────────────────────────────────────────────

describe("the server of these tests", () => {
  const at = { date: "20130524", region: "us-east-1" };
  const host = ["Host", "examplebucket.s3.amazonaws.com"] as const;
  const date = ["x-amz-date", "20130524T000000Z"] as const;

  it("signs as the published example of a GET does", () => {
    const payload = sha256("");
    const seen: Seen = {
      method: "GET",
      target: "/test.txt",
      headers: [host, ["Range", "bytes=0-9"], ["x-amz-content-sha256", payload], date],
    };
    const signed = ["host", "range", "x-amz-content-sha256", "x-amz-date"];
    expect(signatureOf(seen, { ...at, signed, payload }, owner.secret)).toBe(
      "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    );
  });

  it("signs as the published example of a PUT does", () => {
    const payload = sha256("Welcome to Amazon S3.");
    const seen: Seen = {
      method: "PUT",
      target: "/test$file.text",
      headers: [
        host,
        ["Date", "Fri, 24 May 2013 00:00:00 GMT"],
        ["x-amz-content-sha256", payload],
        date,
        ["x-amz-storage-class", "REDUCED_REDUNDANCY"],
      ],
    };
    const names = "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class";
    expect(signatureOf(seen, { ...at, signed: names.split(";"), payload }, owner.secret)).toBe(
      "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
    );
  });

  it("takes no request but the one that was signed", async () => {
    await kept(bucket(), "x", "x");
    await got(bucket(), "s3://bucket/pre/fix/x", 5);
    const [put, get] = server.calls;
    if (!put || !get) throw new Error("two calls were made");
    const again = async (what: Partial<Call>, like: Call, body?: string): Promise<string> => {
      const { method, target, headers } = { ...like, ...what };
      const url = `${server.endpoint}${target}`;
      return new Promise((resolve, reject) => {
        const request = http.request(url, { method, headers }, (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
          response.on("end", () => resolve(/<Code>(\w+)/.exec(text)?.[1] ?? text));
        });
        request.on("error", reject).end(body);
      });
    };
    expect(await again({}, get)).toBe("x");
    expect(await again({}, put, "x")).toBe("");
    const { authorization: _, ...unsigned } = get.headers;
    expect(await again({ headers: unsigned }, get)).toBe("AccessDenied");
    expect(await again({ target: get.target.replace("/x", "/y") }, get)).toBe(
      "SignatureDoesNotMatch",
    );
    expect(await again({ headers: { ...get.headers, range: "bytes=-6" } }, get)).toBe(
      "SignatureDoesNotMatch",
    );
    expect(await again({ headers: { ...get.headers, "x-amz-acl": "public-read" } }, get)).toBe(
      "AccessDenied",
    );
    expect(await again({}, put, "y")).toBe("XAmzContentSHA256Mismatch");
    expect(server.objects.get("/bucket/pre/fix/x")?.toString()).toBe("x");
  });
});

/** A request as it came over the wire. */
interface Seen {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

interface Claim {
  readonly date: string;
  readonly region: string;
  readonly signed: readonly string[];
  readonly payload: string;
}

const sha256 = (bytes: string | Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** AWS Signature Version 4 of a request to S3. */
function signatureOf(
  { method, target, headers }: Seen,
  { date, region, signed, payload }: Claim,
  secret: string,
): string {
  const valueOf = (name: string): string =>
    headers
      .filter(([each]) => each.toLowerCase() === name)
      .map(([, value]) => value.trim().replace(/ +/g, " "))
      .join(",");
  const [uri = "", query = ""] = target.split("?");
  const request = [
    method,
    uri.split("/").map(strictly).join("/"),
    query.split("&").sort().join("&"),
    ...signed.map((name) => `${name}:${valueOf(name)}`),
    "",
    signed.join(";"),
    payload,
  ].join("\n");
  const scope = [date, region, "s3", "aws4_request"];
  const text = ["AWS4-HMAC-SHA256", valueOf("x-amz-date"), scope.join("/"), sha256(request)];
  let key: string | Buffer = `AWS4${secret}`;
  for (const part of scope) key = createHmac("sha256", key).update(part).digest();
  return createHmac("sha256", key).update(text.join("\n")).digest("hex");
}

/** Whatever way it was escaped, escaped as it is signed: byte by byte. */
const strictly = (part: string): string =>
  [...Buffer.from(decodeURIComponent(part))]
    .map((byte) => {
      const letter = String.fromCharCode(byte);
      const hex = byte.toString(16).toUpperCase().padStart(2, "0");
      return /[\w.~-]/.test(letter) ? letter : `%${hex}`;
    })
    .join("");

interface Refusal {
  readonly status: number;
  readonly code?: string;
  readonly message?: string;
  readonly headers?: Record<string, string>;
  /** More of the answer. */
  readonly more?: string;
}

/** `half`: the answer breaks off. `drip`: it has no end. Each takes the place of one answer. */
type Fault = "cut" | "hang" | "half" | "drip" | Refusal;

interface Call {
  readonly method: string;
  readonly target: string;
  readonly headers: http.IncomingHttpHeaders;
}

interface S3Server {
  readonly endpoint: string;
  /** By path. */
  readonly objects: Map<string, Buffer>;
  readonly calls: Call[];
  readonly faults: Fault[];
  expected: { readonly region: string; readonly token?: string; now(): number };
  ignoresRange: boolean;
  goesAhead: boolean;
  keeps: boolean;
  /** Bytes of files. */
  received: number;
  /** A request has come, and nothing is done yet. */
  sees: () => void;
  seesBody: () => void;
  close(): Promise<void>;
}

/** As much of S3 as is needed, and strict: what is not signed, or signed for something else, is refused. */
async function startS3(): Promise<S3Server> {
  const state: Omit<S3Server, "endpoint" | "close"> = {
    objects: new Map(),
    calls: [],
    faults: [],
    expected: { region: "us-east-1", now: () => Date.now() },
    ignoresRange: false,
    goesAhead: true,
    keeps: true,
    received: 0,
    sees: () => {},
    seesBody: () => {},
  };

  const answer = async (
    request: http.IncomingMessage,
    response: http.ServerResponse,
    isAsked: boolean,
  ): Promise<void> => {
    const { method = "", url: target = "", headers } = request;
    state.calls.push({ method, target, headers });
    state.sees();
    const fault = state.faults.shift();
    if (typeof fault === "object") return refuse(response, fault);
    if (fault === "cut") return void request.socket.destroy();
    if (fault === "hang") return;
    if (fault === "half" || fault === "drip") {
      response.writeHead(200, { etag: '"x"', "content-length": "1000000" });
      if (fault === "half") return void response.write("half", () => request.socket.destroy());
      const timer = setInterval(() => response.write("x"), 5);
      return void response.on("close", () => clearInterval(timer));
    }
    const refusal = refusalOf(request, state.expected);
    if (refusal) return refuse(response, refusal);
    const name = decodeURIComponent(target);
    if (!/(?:^|\/s3)\/bucket\//.test(name))
      return refuse(response, { status: 404, code: "NoSuchBucket" });
    if (method === "GET") return give(request, response, name);
    if (isAsked && state.goesAhead) response.writeContinue();
    await take(request, response, name);
  };

  const take = async (
    request: http.IncomingMessage,
    response: http.ServerResponse,
    name: string,
  ): Promise<void> => {
    const { "content-length": length, "x-amz-content-sha256": promised } = request.headers;
    if (length === undefined)
      return refuse(response, { status: 411, code: "MissingContentLength" });
    const hash = createHash("sha256");
    const pieces: Buffer[] = [];
    for await (const piece of request as AsyncIterable<Buffer>) {
      hash.update(piece);
      if (state.keeps) pieces.push(piece);
      state.received += piece.length;
      state.seesBody();
    }
    const found = hash.digest("hex");
    if (found !== promised)
      return refuse(response, { status: 400, code: "XAmzContentSHA256Mismatch" });
    if (state.keeps) state.objects.set(name, Buffer.concat(pieces));
    response.writeHead(200, { etag: `"${found}"` }).end();
  };

  const give = (
    request: http.IncomingMessage,
    response: http.ServerResponse,
    name: string,
  ): void => {
    const bytes = state.objects.get(name);
    if (!bytes) return refuse(response, { status: 404, code: "NoSuchKey" });
    const last = Number(/^bytes=-([1-9]\d*)$/.exec(request.headers.range ?? "")?.[1] ?? 0);
    if (last === 0 || state.ignoresRange)
      return void response.writeHead(200, { etag: '"x"' }).end(bytes);
    if (bytes.length === 0) return refuse(response, { status: 416, code: "InvalidRange" });
    const from = Math.max(0, bytes.length - last);
    const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
    response.writeHead(206, { etag: '"x"', "content-range": range }).end(bytes.subarray(from));
  };

  const server = http.createServer();
  for (const [event, isAsked] of [
    ["request", false],
    ["checkContinue", true],
  ] as const)
    server.on(event, (request: http.IncomingMessage, response: http.ServerResponse) => {
      // Whoever goes away in the middle is no fault of the server's.
      answer(request, response, isAsked).catch(() => response.destroy());
    });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    endpoint: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

/** Undefined: signed by the owner, for exactly this, now. */
function refusalOf(
  { method = "", url: target = "", headers, rawHeaders }: http.IncomingMessage,
  expected: S3Server["expected"],
): Refusal | undefined {
  const denied = (code: string, status = 403, more = ""): Refusal => ({ code, status, more });
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? "",
    );
  if (!parts) return denied("AccessDenied");
  const [id = "", date = "", region = "", names = "", signature = ""] = parts.slice(1);
  const signed = names.split(";");
  const isOpen = (name: string): boolean => /^(?:host|x-amz-.*)$/.test(name);
  if (Object.keys(headers).some((name) => isOpen(name) && !signed.includes(name)))
    return denied("AccessDenied");
  if (region !== expected.region)
    return denied("AuthorizationHeaderMalformed", 400, `<Region>${expected.region}</Region>`);
  if (id !== owner.id) return denied("InvalidAccessKeyId", 403, `<AWSAccessKeyId>${id}`);
  if (headers["x-amz-security-token"] !== expected.token) return denied("InvalidToken", 400);
  const time = String(headers["x-amz-date"]);
  const [, ...numbers] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(time) ?? [];
  const [year = 0, month = 0, ...rest] = numbers.map(Number);
  const skew = Date.UTC(year, month - 1, ...rest) - expected.now();
  if (!time.startsWith(date) || !(Math.abs(skew) < 900_000)) return denied("RequestTimeTooSkewed");
  const payload = String(headers["x-amz-content-sha256"]);
  if (!/^[0-9a-f]{64}$/.test(payload)) return denied("InvalidRequest", 400);
  const seen: Seen = {
    method,
    target,
    headers: rawHeaders.flatMap((name, at) =>
      at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ""] as const] : [],
    ),
  };
  const right = signatureOf(seen, { date, region, signed, payload }, owner.secret);
  if (!timingSafeEqual(Buffer.from(right), Buffer.from(signature)))
    return denied("SignatureDoesNotMatch", 403, `<StringToSign>${owner.secret}</StringToSign>`);
  return undefined;
}

function refuse(response: http.ServerResponse, refusal: Refusal): void {
  const { status, code, message = "", headers, more = "" } = refusal;
  response.writeHead(status, { connection: "close", ...headers });
  if (status === 204) return void response.end();
  response.end(
    code === undefined
      ? "<html>It works!</html>"
      : `<?xml version="1.0"?>\n<Error><Code>${code}</Code><Message>${message}</Message>${more}</Error>`,
  );
}
