import { describe, expect, it } from "vitest";
import { covers, isPattern, mentions, plainPath } from "./paths.ts";

describe("a path as somebody writes it", () => {
  it.each([
    ["src/a.ts", "src/a.ts"],
    ["  src/a.ts\n", "src/a.ts"],
    ["./src/a.ts", "src/a.ts"],
    ["././src/a.ts", "src/a.ts"],
    ["src\\deep\\a.ts", "src/deep/a.ts"],
    [".\\src\\a.ts", "src/a.ts"],
    ["src/", "src"],
    ["src//", "src"],
    ["/home/user/project/.autodev/var/work-1/src/a.ts", "src/a.ts"],
    ["C:\\project\\.autodev\\var\\work-1\\src\\a.ts", "src/a.ts"],
    [".autodev/config.yaml", ".autodev/config.yaml"],
    [".env", ".env"],
    ["../a.ts", "../a.ts"],
    ["/etc/passwd", "/etc/passwd"],
    ["./", ""],
    ["", ""],
  ])("%j is %j in the tree", (written, path) => {
    expect(plainPath(written)).toBe(path);
  });
});

describe("a declared path", () => {
  it.each([
    ["src/a.ts", "src/a.ts"],
    ["./src/a.ts", "src/a.ts"],
    ["src/api/", "src/api/a.ts"],
    ["src/api/ ", "src/api/deep/a.ts"],
    ["src/*.ts", "src/a.ts"],
    ["src/**", "src/deep/a.ts"],
    ["src/**/*.test.ts", "src/deep/er/a.test.ts"],
    ["src/**/*.test.ts", "src/a.test.ts"],
    ["src/**/a.ts", "src/a.ts"],
    ["**/a.ts", "src/deep/a.ts"],
    ["src/?.ts", "src/a.ts"],
    ["app/[id]/page.tsx", "app/[id]/page.tsx"],
    ["app/[id]/*.tsx", "app/[id]/page.tsx"],
    ["a+b(c)/*", "a+b(c)/d"],
  ])("%j covers %s", (declared, path) => {
    expect(covers(declared, path)).toBe(true);
  });

  it.each([
    ["src/a.ts", "src/a.tsx"],
    ["src/a.ts", "lib/src/a.ts"],
    ["src/api", "src/api/a.ts"],
    ["src/api/", "src/apis/a.ts"],
    ["src/*.ts", "src/deep/a.ts"],
    ["src/*.ts", "src/a_ts"],
    ["src/?.ts", "src/ab.ts"],
    ["src/?.ts", "src//.ts"],
    ["src/*.ts", "other/src/a.ts"],
    ["src/**/a.ts", "src/data.ts"],
    ["app/[id]/*.tsx", "app/i/page.tsx"],
  ])("%j does not cover %s", (declared, path) => {
    expect(covers(declared, path)).toBe(false);
  });

  it.each([
    ["src/*.ts", true],
    ["src/a?.ts", true],
    ["src/api/", true],
    ["src/api/ ", true],
    ["src/a.ts", false],
    ["app/[id]/page.tsx", false],
  ])("%j stands for more than one file: %s", (declared, is) => {
    expect(isPattern(declared)).toBe(is);
  });
});

describe("a text speaks of a file", () => {
  it.each([
    ["Change src/cart.ts.", "src/cart.ts"],
    ["Change `src/cart.ts`, and more", "src/cart.ts"],
    ["cart.ts", "src/cart.ts"],
    ["(cart.ts)", "src/cart.ts"],
    ["./src/cart.ts was right", "src/cart.ts"],
    ["see src/a", "src/a"],
    ["mycart.ts is not cart.ts", "src/cart.ts"],
    ["LICENSE", "LICENSE"],
  ])("%j speaks of %s", (text, path) => {
    expect(mentions(text, path)).toBe(true);
  });

  it.each([
    ["", "src/cart.ts"],
    ["a cart", "src/cart.ts"],
    ["mycart.ts", "src/cart.ts"],
    ["my-cart.ts", "src/cart.ts"],
    ["cart.tsx", "src/cart.ts"],
    ["cart.ts-old", "src/cart.ts"],
    ["is a.b meant?", "src/a.b"],
    ["Cart.ts", "src/cart.ts"],
    ["src/old/cart.ts", "src/cart.ts"],
  ])("%j does not speak of %s", (text, path) => {
    expect(mentions(text, path)).toBe(false);
  });
});
