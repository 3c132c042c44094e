import { describe, expect, it } from "vitest";
import { maskLines, maskSecrets, secretsIn, shortened, shown } from "./safe-text.ts";

describe("text of others, on a terminal", () => {
  it.each([
    ["colours", "\u001b[31mred\u001b[0m", "red"],
    ["titles", "\u001b]0;owned\u0007after", "after"],
    ["strings that never end", "\u001bPdcs and more", ""],
    ["one-byte sequences", "\u009b31mred", "red"],
    ["bells, backspaces, carriage returns", "a\u0007b\u0008c\rd", "abc d"],
    ["direction overrides and zero widths", "a\u202eb\u200bc", "abc"],
    ["tag characters", "a\u{e0041}b", "ab"],
    ["line breaks", "a\nb\u2028c", "a b c"],
  ])("loses %s", (_, text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it("stays as it is when it is harmless", () => {
    for (const text of ["plain", "naïve — “quotes” 日本語 🎉", ""]) expect(shown(text)).toBe(text);
  });
});

/** Put together here, so that nobody's scanner takes this file for a leak. */
const made = (prefix: string, length: number): string =>
  prefix + "a1B2c3D4".repeat(64).slice(0, length);

const numberOf = (letter: string): string => `&#${letter.codePointAt(0)};`;
const hexNumberOf = (letter: string): string => `&#x${letter.codePointAt(0)?.toString(16)};`;

describe("a secret", () => {
  it.each([
    ["GitHub's", made("ghp_", 36)],
    ["GitHub's, of an app", made("gho_", 36)],
    ["GitHub's, fine-grained", made("github_pat_", 82)],
    ["GitLab's", made("glpat-", 20)],
    ["Anthropic's", made("sk-ant-api03-", 90)],
    ["OpenAI's", made("sk-proj-", 48)],
    ["Stripe's", made("sk_live_", 24)],
    ["Amazon's", `AKIA${"ABCD2345".repeat(2)}`],
    ["Google's", made("AIza", 35)],
    ["Slack's", made("xoxb-", 40)],
    ["npm's", made("npm_", 36)],
    ["Hugging Face's", made("hf_", 34)],
    ["a JSON Web Token", `${made("eyJ", 30)}.${made("eyJ", 60)}.${made("", 43)}`],
  ])("is known by its shape: %s", (_, secret) => {
    for (const around of [
      ["", ""],
      ["token=", " used"],
      ['{"a":"', '"}'],
      ["https://", "@host/"],
    ]) {
      const text = around.join(secret);
      expect(maskSecrets(text, [])).toBe(around.join("[masked]"));
    }
  });

  it("is known in JSON that writes its letters by numbers, or its slashes with another", () => {
    const secret = "Zq7/hush-hush+0123456789";
    const secrets = secretsIn({ MY_API_KEY: secret });
    const numbers = (text: string): string =>
      text
        .split("")
        .map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`)
        .join("");
    for (const form of [
      numbers(secret),
      secret.replaceAll("/", "\\/"),
      secret.slice(0, 4) + numbers(secret.slice(4)),
      secret.replace("+", "\\u002B"),
    ]) {
      // What else is written so stays the same JSON: quotes, backslashes, line ends, halves of pairs.
      const others = "\\u0022 \\u005c \\u000a \\u2028 \\ud83d \\\\u0041 \\n";
      const line = `{"a":"${others} ${form}","b":"c"}`;
      const safe = maskSecrets(line, secrets);
      const { a, b } = JSON.parse(safe) as { a: string; b: string };
      expect([a, b]).toEqual([`${JSON.parse(`"${others}"`)} [masked]`, "c"]);
    }
    const innocent = '{"a":"\\u0041\\/b"}';
    expect(maskSecrets(innocent, secrets)).toBe(innocent);
  });

  it("is known by what stands around it", () => {
    const key = (text: string): string =>
      `-----BEGIN RSA PRIVATE KEY-----${text}-----END RSA PRIVATE KEY-----`;
    expect(maskSecrets("Authorization: Bearer abcdef.0123456789-xyz", [])).toBe(
      "Authorization: Bearer [masked]",
    );
    expect(maskSecrets("authorization: basic dXNlcjpwYXNz", [])).toBe(
      "authorization: basic [masked]",
    );
    expect(maskSecrets("postgres://me:hunter2:x@db:5432/a https://b/c@d", [])).toBe(
      "postgres://me:[masked]@db:5432/a https://b/c@d",
    );
    expect(maskSecrets(`a ${key("\nMIIE+/=\nabc\n")} b`, [])).toBe(
      "a [masked]-----END RSA PRIVATE KEY----- b",
    );
    expect(maskSecrets(JSON.stringify({ key: key("\nMIIE\n"), b: 1 }), [])).toBe(
      '{"key":"[masked]-----END RSA PRIVATE KEY-----","b":1}',
    );
  });

  it("is masked over lines, up to the end of a private key and no further", () => {
    const mask = maskLines([]);
    const lines = [
      "x",
      "-----BEGIN PRIVATE KEY-----",
      "Proc-Type: 4,ENCRYPTED",
      "",
      "MIIEvQ+/",
      "abc=",
      "-----END PRIVATE KEY-----",
      "after",
    ];
    expect(lines.map(mask)).toEqual([
      "x",
      "[masked]",
      "[masked]",
      "",
      "[masked]",
      "[masked]",
      "-----END PRIVATE KEY-----",
      "after",
    ]);
    expect(["-----BEGIN PRIVATE KEY-----", "is missing, they say", "word"].map(mask)).toEqual([
      "[masked]",
      "is missing, they say",
      "word",
    ]);
  });

  it.each([
    ["in colours", (line: string) => `\u001b[32m${Array.from(line).join("\u001b[0m")}`],
    ["as a program prints a text of many lines", (line: string) => `      '${line}\\n' +`],
    ["in a list", (line: string) => `  "${line}\\n",`],
  ])("is masked over the lines of a private key %s", (_, form) => {
    const [begin, end] = ["-----BEGIN EC PRIVATE KEY-----", "-----END EC PRIVATE KEY-----"];
    const mask = maskLines([]);
    const [, first, second] = [begin, "MIIEvQ+/abc", "Zq7hush=", end].map(form).map(mask);
    expect([first, second]).toEqual(["[masked]", "[masked]"]);
  });

  it("is masked in a private key that is printed as a text of many lines, in one text", () => {
    const key = [
      "-----BEGIN RSA PRIVATE KEY-----",
      "MIIEvQ+/abc",
      "Zq7hush=",
      "-----END RSA PRIVATE KEY-----",
    ];
    const text = `{ key: ${key.map((line) => `'${line}\\n'`).join(" +\n    ")} }`;
    for (const each of [text, JSON.stringify({ said: text })])
      expect(maskSecrets(each, [])).not.toMatch(/MIIE|Zq7/);
  });

  it("is masked over the lines of a key that begins where another ends", () => {
    const [begin, end] = ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"];
    const lines = [begin, "MIIEvQ", `${end}, or ${begin}`, "MIIEvR", end, "after"];
    const text = lines.map(maskLines([])).join("\n");
    expect(text).not.toMatch(/MIIE/);
    expect(text).toMatch(/\nafter$/);
  });

  it("is masked whole where only a part of it is disguised", () => {
    const login = "Authorization: Basic aGVsbG8sIHRo\\/ZXJlIGFyZSBh";
    expect(maskSecrets(`"${login}"`, [])).toBe('"Authorization: Basic [masked]"');
    const secrets = secretsIn({ A_TOKEN: "Zq7hush8", B_TOKEN: "Zq7hush8/and-more" });
    expect(maskSecrets("is Zq7hush8\\/and-more", secrets)).toBe("is [masked]");
  });

  it("that holds what reads as an escape is masked among other escapes", () => {
    const secrets = secretsIn({ MY_AUTH: "u=Zq7hush&p=a%2Fb%41c\\n" });
    for (const text of ["u=Zq7hush&#38;p=a%2Fb%41c\\n", "u=\u001b[1mZq7hush&p=a%2Fb%41c\\n"])
      expect(maskSecrets(`is ${text}.`, secrets)).toBe("is [masked].");
  });

  it.each([
    ["with backslashes", (value: string) => value.replace(/[^\w]/g, "\\$&")],
    ["in single quotes", (value: string) => `'${value.replaceAll("'", "'\\''")}'`],
    [
      "in single quotes, as dash has them",
      (value: string) => `'${value.replaceAll("'", "'\"'\"'")}'`,
    ],
    ["in double quotes", (value: string) => `"${value.replace(/["$`\\]/g, "\\$&")}"`],
  ])("is masked as a shell quotes it %s", (_, form) => {
    const value = 'it\'s $1 `or` "no" !#;&*(a|b)~\\z';
    const text = maskSecrets(`K=${form(value)}`, secretsIn({ DB_PASSWORD: value }));
    expect(text).toMatch(/^K=["']?\[masked\]["']?$/);
  });

  it.each([
    ["as it is", (value: string) => value],
    ["in base64", (value: string) => Buffer.from(value).toString("base64")],
    ["in base64 for addresses", (value: string) => Buffer.from(value).toString("base64url")],
    ["in base64, after a name", (value: string) => Buffer.from(`u:${value}`).toString("base64")],
    [
      "in base64, after a longer name",
      (value: string) => Buffer.from(`me:${value}!`).toString("base64"),
    ],
    ["in an address", (value: string) => encodeURIComponent(value)],
    [
      "in an address, small",
      (value: string) => encodeURIComponent(value).replace(/%../g, (at) => at.toLowerCase()),
    ],
    ["in JSON", (value: string) => JSON.stringify({ value })],
    ["in JSON of PHP", (value: string) => JSON.stringify({ value }).replaceAll("/", "\\/")],
    ["in JSON of Go", (value: string) => JSON.stringify({ value }).replaceAll(">", "\\u003e")],
    ["in JSON of Python", (value: string) => JSON.stringify({ value }).replaceAll("ä", "\\u00e4")],
    ["in JSON in JSON", (value: string) => JSON.stringify(JSON.stringify({ value }))],
    ["in hex", (value: string) => Buffer.from(value).toString("hex")],
    ["in HEX", (value: string) => Buffer.from(value).toString("hex").toUpperCase()],
    [
      "in an address, byte by byte",
      (value: string) => Buffer.from(value).toString("hex").replace(/../g, "%$&"),
    ],
    [
      "in HTML",
      (value: string) =>
        value.replaceAll("&", "&amp;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
    ],
    ["in HTML, by numbers", (value: string) => value.replace(/./gu, numberOf)],
    ["in HTML, by hex numbers", (value: string) => value.replace(/./gu, hexNumberOf)],
    ["in a string of Python", (value: string) => value.replaceAll("ä", "\\xe4")],
    ["with colours between its letters", (value: string) => Array.from(value).join("\u001b[1;31m")],
    [
      "with marks between them that nobody sees",
      (value: string) => Array.from(value).join("\u200b"),
    ],
    [
      "with zero bytes between them, as UTF-16 has",
      (value: string) => Array.from(value).join("\0"),
    ],
    [
      "with colours between them, in JSON",
      (value: string) => JSON.stringify(Array.from(value).join("\u001b[0m")),
    ],
    ["folded", (value: string) => `${value.slice(0, 7)}\n  ${value.slice(7)}`],
    [
      "in base64, folded, in JSON",
      (value: string) =>
        JSON.stringify(Buffer.from(value).toString("base64").replace(/.{10}/g, "$&\n")),
    ],
  ])("of the environment is masked %s", (_, form) => {
    const value = 'pässw/"ord\\>>?? +1';
    const text = maskSecrets(`before ${form(value)} after`, secretsIn({ DB_PASSWORD: value }));
    expect(text).toMatch(/^before .*\[masked\].* after$/);
    expect(text.replace("[masked]", "").length).toBeLessThan("before {value} after".length + 14);
  });

  it("takes nothing with it of what is written around it, however that is written", () => {
    const secrets = secretsIn({ MY_API_KEY: "Zq7-hush-hush-0123456789" });
    const around = '%41&amp;\\u0041\\n\\"\u001b[31m\u200b\n C:\\new';
    const numbers = "Zq7-hush-hush-0123456789"
      .replace(/./g, "&#x$&;")
      .replace(/x(.)/g, (_, at) => `x${(at as string).charCodeAt(0).toString(16)}`);
    expect(maskSecrets(`${around}${numbers}${around}`, secrets)).toBe(`${around}[masked]${around}`);
    expect(maskSecrets(around, secrets)).toBe(around);
  });

  it("that is folded is masked in whichever line has most of it, or all of whose letters are its", () => {
    const key = made("sk_", 100);
    const text = Buffer.from(`me:${key}`).toString("base64");
    for (let width = 16; width <= text.length; width++) {
      const mask = maskLines(secretsIn({ MY_API_KEY: key }));
      const lines = text.match(new RegExp(`.{1,${width}}`, "g")) ?? [];
      const left = lines.map(mask).join("").replaceAll("[masked]", "");
      expect(left.length, `${width} letters a line`).toBeLessThan(text.length / 2);
    }
    const mask = maskLines(secretsIn({ MY_API_KEY: key, PASSWORD: "postgres-1" }));
    for (const line of ["it is about sk_a1B2c", "postgres", "", "a line"]) {
      expect(mask(line)).toBe(line);
    }
  });

  it("of many lines is masked in each of them", () => {
    const secrets = secretsIn({ DEPLOY_PRIVATE_KEY: "first-line-1\nsecond-line-2\r\n  end" });
    expect(maskSecrets("a first-line-1 b\nsecond-line-2\nend", secrets)).toBe(
      "a [masked] b\n[masked]\nend",
    );
  });

  it("is told by a variable's name and by what cannot be one", () => {
    const value = "Xy7-secret-value";
    for (const name of [
      "GITHUB_TOKEN",
      "my_secret",
      "PASSWORD",
      "OPENAI_API_KEY",
      "APIKEY",
      "AWS_ACCESS_KEY_ID",
      "AWS_SECRET_ACCESS_KEY",
      "SSH_PRIVATE_KEY",
      "GOOGLE_CREDENTIALS",
      "PGPASSWD",
    ]) {
      expect(secretsIn({ [name]: value })).toContain(value);
    }
    expect(
      secretsIn({ PATH: value, HOME: value, GIT_AUTHOR_NAME: value, KEYBOARD: value }),
    ).toEqual([]);
    for (const harmless of [
      "",
      "true",
      "disabled",
      "1234567",
      "100000",
      "/run/secrets/token",
      "~/.config/token",
      "C:\\keys\\a.pem",
      "https://login.example.com/oauth/token",
    ]) {
      expect(secretsIn({ A_TOKEN: harmless })).toEqual([]);
    }
    expect(secretsIn({ A_TOKEN: undefined })).toEqual([]);
    expect(secretsIn({ AWS_SECRET_ACCESS_KEY: "/Kx8sD+fA0/bPxRfiCYEXAMPLEKEY" })).not.toEqual([]);
    expect(secretsIn({ A_SECRET: "half \ud83d of a character" })).not.toEqual([]);
  });

  it("is not seen where there is none", () => {
    for (const text of [
      "task-runner-with-a-very-long-name-indeed",
      "npm_config_registry=https://packages.example/",
      "see http://localhost:3000/@vite/client?x=a@b",
      "risk-free",
      "basic authentication",
      "a@b.c: d",
      "sk-short",
    ]) {
      expect(maskSecrets(text, [])).toBe(text);
    }
  });

  it.each([
    ["a long word", "a"],
    ["beginnings of tokens", "eyJ"],
    ["tokens without an end", "eyJaaaaaaaaa."],
    ["dashes", "-"],
    ["beginnings of keys", "-----BEGIN PRIVATE KEY-----"],
    ["dashes in a key", "-----BEGIN PRIVATE KEY-----a-b-"],
    ["quotes in a key", "-----BEGIN PRIVATE KEY-----a' + 'b"],
    ["ends of a key", "-----END PRIVATE KEY-----"],
    ["quotes of a shell", "'\\''"],
    ["addresses", "://a:"],
    ["colons", ":"],
    ["an address of colons", "://:::::::::::::::::::::::::::::::::::"],
    ["bearers", "bearer   "],
    ["authorizations", "authorization: basic "],
    ["keys", "sk-"],
    ["spaces", " "],
    ["escapes", "\\u0041"],
    ["escapes of escapes", "\\\\"],
    ["beginnings of escapes", "\\u"],
    ["per cent", "%"],
    ["numbers of letters", "&#97;"],
    ["marks that begin", "\u001b["],
    ["marks that never end", "\u001b]"],
    ["lines", "\n"],
  ])("is looked for in no time in %s", (_, piece) => {
    const text = piece.repeat(Math.ceil(1e6 / piece.length));
    maskSecrets(text, secretsIn({ A_TOKEN: "aaaaaaaa-aaaaaaaa", B_TOKEN: made("x", 4000) }));
    maskLines([])(text);
  });
});

it("what is shortened is cut between two characters", () => {
  expect(shortened("abc\ud83d\ude00", 4)).toBe("abc");
  expect(shortened("abc\ud83d\ude00", 5)).toBe("abc\ud83d\ude00");
});
