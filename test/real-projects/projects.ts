/**
 * Small projects as data: each passes its tests, and has one edit that makes a test fail. What is
 * expected of them is written by hand, from the runners' own words.
 */
import type { Stack } from "../../src/core/plan/run-event.ts";

export interface RealProject {
  readonly name: string;
  /** Programs without which it cannot be tried. */
  readonly programs: readonly string[];
  /** From npm, found above the project as if they were installed there. */
  readonly packages?: readonly ("vitest" | "typescript" | "jest" | "mocha" | "pnpm")[];
  readonly files: Readonly<Record<string, string>>;
  readonly stack: Partial<Stack>;
  readonly commands: Readonly<Record<string, string | null>>;
  readonly setup?: string;
  /** The set-up command needs no network here. */
  readonly setsUp?: true;
  readonly passing: Counts;
  /** What makes a test fail. */
  readonly broken: Readonly<Record<string, string>>;
  readonly failing: Counts & { readonly names: readonly string[]; readonly file?: string };
  /** What makes another gate fail, which otherwise passes. */
  readonly spoilt?: { readonly gate: string; readonly files: Readonly<Record<string, string>> };
}

interface Counts {
  readonly runner: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

const sum = "export const sum = (a, b) => a + b;\n";
const wrongSum = "export const sum = (a, b) => a - b;\n";
const commonSum = "exports.sum = (a, b) => a + b;\n";
const wrongCommonSum = "exports.sum = (a, b) => a - b;\n";

/** For jest and mocha, whose tests are written alike. */
const commonTest = (
  assertion: string,
  head = "",
): string => `${head}const { sum } = require("./sum.js");
describe("sum", () => {
  it("adds", () => {
    ${assertion.replace("SUM", "sum(1, 2)").replace("WANTED", "3")};
  });
  it("adds nothing", () => {
    ${assertion.replace("SUM", "sum(0, 0)").replace("WANTED", "0")};
  });
  it.skip("adds much", () => {});
});
`;

const vitestTest = (path: string): string => `import { expect, it } from "vitest";
import { sum } from "${path}";
it("adds", () => {
  expect(sum(1, 2)).toBe(3);
});
it("adds nothing", () => {
  expect(sum(0, 0)).toBe(0);
});
`;

const typedSum = "export const sum = (a: number, b: number): number => a + b;\n";
const wrongTypedSum = "export const sum = (a: number, b: number): number => a - b;\n";

const tsconfig = json({
  compilerOptions: {
    strict: true,
    noEmit: true,
    module: "esnext",
    moduleResolution: "bundler",
    target: "es2022",
    types: [],
    skipLibCheck: true,
  },
  include: ["packages/*/src"],
});

/** `double` of one workspace is made of `sum` of the other. */
const workspaces = {
  "packages/sum/package.json": json({
    name: "@pair/sum",
    version: "1.0.0",
    type: "module",
    exports: "./src/index.ts",
    scripts: { test: "vitest run" },
  }),
  "packages/sum/src/index.ts": typedSum,
  "packages/sum/src/index.test.ts": vitestTest("./index.ts").replace('"./index.ts"', '"./index"'),
  "packages/double/src/index.ts":
    'import { sum } from "@pair/sum";\nexport const double = (a: number): number => sum(a, a);\n',
  "packages/double/src/index.test.ts": `import { expect, it } from "vitest";
import { double } from "./index";
it("doubles", () => {
  expect(double(2)).toBe(4);
});
`,
};

const double = (needs: string): string =>
  json({
    name: "@pair/double",
    version: "1.0.0",
    type: "module",
    scripts: { test: "vitest run" },
    dependencies: { "@pair/sum": needs },
  });

const pythonTest = `from calc import add


def test_adds():
    assert add(1, 2) == 3


def test_adds_nothing():
    assert add(0, 0) == 0
`;

const junitJars =
  "junit-jupiter-api junit-jupiter-engine junit-platform-console junit-platform-commons junit-platform-engine junit-platform-launcher junit-platform-reporting opentest4j apiguardian-api picocli opentest4j-reporting-events opentest4j-reporting-schema"
    .split(" ")
    .map((jar) => `$(J)/${jar}.jar`)
    .join(":");

export const realProjects: readonly RealProject[] = [
  {
    name: "JavaScript with node:test",
    programs: ["node", "npm"],
    files: {
      "package.json": json({ type: "module", scripts: { test: "node --test" } }),
      "sum.js": sum,
      "sum.test.js": `import assert from "node:assert/strict";
import { it } from "node:test";
import { sum } from "./sum.js";
it("adds", () => assert.equal(sum(1, 2), 3));
it("adds nothing", () => assert.equal(sum(0, 0), 0));
it("adds much", { skip: true }, () => assert.equal(sum(1e9, 1), 1));
`,
    },
    stack: { language: "javascript", package_manager: "npm", test_framework: "node:test" },
    commands: { lint: null, format: null, typecheck: null, test: "npm run test" },
    passing: { runner: "node:test", passed: 2, failed: 0, skipped: 1 },
    broken: { "sum.js": wrongSum },
    failing: {
      runner: "node:test",
      passed: 1,
      failed: 1,
      skipped: 1,
      names: ["adds"],
      file: "sum.test.js",
    },
  },
  {
    name: "JavaScript with jest, whose script watches",
    programs: ["node", "npm"],
    packages: ["jest"],
    files: {
      "package.json": json({
        scripts: { test: "jest --watchAll" },
        devDependencies: { jest: "*" },
      }),
      "sum.js": commonSum,
      "sum.test.js": commonTest("expect(SUM).toBe(WANTED)"),
    },
    stack: { language: "javascript", test_framework: "jest" },
    commands: { test: "npx --no-install jest" },
    setup: "npm install --no-package-lock",
    passing: { runner: "jest", passed: 2, failed: 0, skipped: 1 },
    broken: { "sum.js": wrongCommonSum },
    failing: {
      runner: "jest",
      passed: 1,
      failed: 1,
      skipped: 1,
      names: ["sum › adds"],
      file: "sum.test.js",
    },
  },
  {
    name: "JavaScript with mocha, whose script watches",
    programs: ["node", "npm"],
    packages: ["mocha"],
    files: {
      "package.json": json({
        scripts: { test: "mocha --watch sum.test.js" },
        devDependencies: { mocha: "*" },
      }),
      "package-lock.json": "{}",
      "sum.js": commonSum,
      "sum.test.js": commonTest(
        "assert.equal(SUM, WANTED)",
        'const assert = require("node:assert/strict");\n',
      ),
    },
    stack: { language: "javascript", test_framework: "mocha" },
    commands: { test: "npx --no-install mocha sum.test.js" },
    setup: "npm ci",
    passing: { runner: "mocha", passed: 2, failed: 0, skipped: 1 },
    broken: { "sum.js": wrongCommonSum },
    failing: { runner: "mocha", passed: 1, failed: 1, skipped: 1, names: ["sum > adds"] },
  },
  {
    name: "TypeScript with vitest, whose script watches",
    programs: ["node", "npm"],
    packages: ["vitest", "typescript"],
    files: {
      "package.json": json({
        type: "module",
        scripts: { test: "vitest" },
        devDependencies: { vitest: "*", typescript: "*" },
      }),
      "tsconfig.json": tsconfig.replace("packages/*/src", "src"),
      "src/sum.ts": typedSum,
      "src/sum.test.ts": vitestTest("./sum"),
    },
    stack: { language: "typescript", test_framework: "vitest" },
    commands: { typecheck: "npx --no-install tsc --noEmit", test: "npm run test -- --run" },
    setup: "npm install --no-package-lock",
    passing: { runner: "vitest", passed: 2, failed: 0, skipped: 0 },
    broken: { "src/sum.ts": wrongTypedSum },
    failing: {
      runner: "vitest",
      passed: 1,
      failed: 1,
      skipped: 0,
      names: ["adds"],
      file: "src/sum.test.ts",
    },
    spoilt: { gate: "typecheck", files: { "src/sum.ts": typedSum.replace("a + b", '"a"') } },
  },
  {
    name: "TypeScript in workspaces of npm",
    programs: ["node", "npm"],
    packages: ["vitest", "typescript"],
    files: {
      "package.json": json({ private: true, workspaces: ["packages/*"] }),
      "package-lock.json": json({
        lockfileVersion: 3,
        requires: true,
        packages: {
          "": { workspaces: ["packages/*"] },
          "node_modules/@pair/double": { resolved: "packages/double", link: true },
          "node_modules/@pair/sum": { resolved: "packages/sum", link: true },
          "packages/double": {
            name: "@pair/double",
            version: "1.0.0",
            dependencies: { "@pair/sum": "^1.0.0" },
          },
          "packages/sum": { name: "@pair/sum", version: "1.0.0" },
        },
      }),
      "tsconfig.json": tsconfig,
      ...workspaces,
      "packages/double/package.json": double("^1.0.0"),
    },
    stack: { language: "typescript", package_manager: "npm", test_framework: "vitest" },
    commands: { typecheck: null, test: "npm run test --workspaces --if-present" },
    setup: "npm ci",
    setsUp: true,
    passing: { runner: "vitest", passed: 3, failed: 0, skipped: 0 },
    broken: { "packages/sum/src/index.ts": wrongTypedSum },
    failing: { runner: "vitest", passed: 1, failed: 2, skipped: 0, names: ["doubles", "adds"] },
  },
  {
    name: "TypeScript in workspaces of pnpm",
    programs: ["node"],
    packages: ["vitest", "typescript", "pnpm"],
    files: {
      "package.json": json({ private: true, scripts: { typecheck: "tsc --noEmit" } }),
      "pnpm-workspace.yaml": "packages:\n  - packages/*\n",
      "pnpm-lock.yaml": `lockfileVersion: '9.0'

settings:
  autoInstallPeers: true
  excludeLinksFromLockfile: false

importers:

  .: {}

  packages/double:
    dependencies:
      '@pair/sum':
        specifier: workspace:*
        version: link:../sum

  packages/sum: {}
`,
      "tsconfig.json": tsconfig,
      ...workspaces,
      "packages/double/package.json": double("workspace:*"),
    },
    stack: { language: "typescript", package_manager: "pnpm", test_framework: "vitest" },
    commands: { typecheck: "pnpm run typecheck", test: "pnpm -r --if-present run test" },
    setup: "pnpm install --frozen-lockfile",
    setsUp: true,
    passing: { runner: "vitest", passed: 3, failed: 0, skipped: 0 },
    // It stops at the first workspace that fails.
    broken: { "packages/sum/src/index.ts": wrongTypedSum },
    failing: { runner: "vitest", passed: 1, failed: 1, skipped: 0, names: ["adds"] },
  },
  {
    name: "Python with pytest",
    programs: ["python3", "python3:pytest"],
    files: {
      "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
      "calc.py": "def add(a, b):\n    return a + b\n",
      "tests/test_calc.py": pythonTest,
    },
    stack: { language: "python", package_manager: "pip", test_framework: "pytest" },
    commands: { lint: null, format: null, typecheck: null, test: "python3 -m pytest" },
    passing: { runner: "pytest", passed: 2, failed: 0, skipped: 0 },
    broken: { "calc.py": "def add(a, b):\n    return a - b\n" },
    failing: {
      runner: "pytest",
      passed: 1,
      failed: 1,
      skipped: 0,
      names: ["test_adds"],
      file: "tests/test_calc.py",
    },
  },
  {
    name: "Python with unittest",
    programs: ["python3"],
    files: {
      "calc.py": "def add(a, b):\n    return a + b\n",
      "tests/test_calc.py": `import unittest

from calc import add


class Adding(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(add(1, 2), 3)

    @unittest.skip("later")
    def test_adds_much(self):
        self.assertEqual(add(1, 2), 3)
`,
      "tests/__init__.py": "",
    },
    stack: { language: "python", test_framework: "unittest" },
    commands: { test: "python3 -m unittest discover -t . -s tests" },
    passing: { runner: "unittest", passed: 1, failed: 0, skipped: 1 },
    broken: { "calc.py": "def add(a, b):\n    return a - b\n" },
    failing: {
      runner: "unittest",
      passed: 0,
      failed: 1,
      skipped: 1,
      names: ["tests.test_calc.Adding.test_adds"],
      file: "tests/test_calc.py",
    },
  },
  {
    name: "Go",
    programs: ["go", "gofmt"],
    files: {
      "go.mod": "module example.com/sum\n\ngo 1.19\n",
      "sum.go": "package sum\n\nfunc Sum(a, b int) int { return a + b }\n",
      "sum_test.go": `package sum

import "testing"

func TestAdds(t *testing.T) {
	if got := Sum(1, 2); got != 3 {
		t.Errorf("got %d", got)
	}
}
`,
    },
    stack: { language: "go", test_framework: "go test", formatter: "gofmt" },
    commands: {
      lint: "go vet ./...",
      format: 'out="$(gofmt -l .)" && echo "$out" && test -z "$out"',
      typecheck: "go build ./...",
      test: "go test -count=1 ./...",
    },
    passing: { runner: "go test", passed: 1, failed: 0, skipped: 0 },
    broken: { "sum.go": "package sum\n\nfunc Sum(a, b int) int { return a - b }\n" },
    failing: { runner: "go test", passed: 0, failed: 1, skipped: 0, names: ["TestAdds"] },
    spoilt: {
      gate: "format",
      files: { "sum.go": "package sum\n\nfunc Sum(a,b int) int {return a+b}\n" },
    },
  },
  {
    name: "Rust",
    programs: ["cargo", "cargo-clippy", "rustfmt"],
    files: {
      "Cargo.toml": '[package]\nname = "sum"\nversion = "0.1.0"\nedition = "2021"\n',
      "src/lib.rs": `pub fn sum(a: i32, b: i32) -> i32 {
    a + b
}

#[cfg(test)]
mod tests {
    use super::sum;

    #[test]
    fn adds() {
        assert_eq!(sum(1, 2), 3);
    }

    #[test]
    #[ignore]
    fn adds_much() {
        assert_eq!(sum(1, 2), 3);
    }
}
`,
    },
    stack: { language: "rust", package_manager: "cargo", linter: "clippy" },
    commands: {
      lint: "cargo clippy -- -D warnings",
      format: "cargo fmt --check",
      typecheck: "cargo check --all-targets",
      test: "cargo test",
    },
    passing: { runner: "cargo test", passed: 1, failed: 0, skipped: 1 },
    broken: {
      "src/lib.rs": `pub fn sum(a: i32, b: i32) -> i32 {
    a - b
}

#[cfg(test)]
mod tests {
    #[test]
    fn adds() {
        assert_eq!(super::sum(1, 2), 3);
    }
}
`,
    },
    failing: {
      runner: "cargo test",
      passed: 0,
      failed: 1,
      skipped: 0,
      names: ["tests::adds"],
      file: "src/lib.rs",
    },
    spoilt: { gate: "format", files: { "src/lib.rs": "pub fn sum( a:i32 )->i32{a}\n" } },
  },
  {
    name: "C with make",
    programs: ["make", "cc"],
    files: {
      Makefile:
        "test: check-sum\n\t./check-sum\n\ncheck-sum: sum.c check.c\n\tcc -o $@ sum.c check.c\n",
      "sum.c": "int sum(int a, int b) { return a + b; }\n",
      "check.c": `#include <stdio.h>
int sum(int, int);
int main(void) {
  int failed = (sum(1, 2) != 3) + (sum(0, 0) != 0);
  printf("%d passed, %d failed\\n", 2 - failed, failed);
  return failed;
}
`,
    },
    stack: { language: "c", package_manager: null },
    commands: { lint: null, test: "make test" },
    passing: { runner: "plain", passed: 2, failed: 0, skipped: 0 },
    broken: { "sum.c": "int sum(int a, int b) { return a - b; }\n" },
    failing: { runner: "plain", passed: 1, failed: 1, skipped: 0, names: [] },
  },
  {
    name: "C with CMake",
    programs: ["cmake", "ctest", "cc", "make"],
    files: {
      "CMakeLists.txt": `cmake_minimum_required(VERSION 3.20)
project(sum C)
enable_testing()
add_executable(adds adds.c sum.c)
add_test(NAME adds COMMAND adds)
add_executable(nothing nothing.c sum.c)
add_test(NAME nothing COMMAND nothing)
`,
      "sum.c": "int sum(int a, int b) { return a + b; }\n",
      "adds.c": "int sum(int, int);\nint main(void) { return sum(1, 2) != 3; }\n",
      "nothing.c": "int sum(int, int);\nint main(void) { return sum(0, 0) != 0; }\n",
    },
    stack: { language: "c", test_framework: "ctest" },
    commands: {
      test: "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure",
    },
    passing: { runner: "ctest", passed: 2, failed: 0, skipped: 0 },
    broken: { "sum.c": "int sum(int a, int b) { return a - b; }\n" },
    failing: { runner: "ctest", passed: 1, failed: 1, skipped: 0, names: ["adds"] },
  },
  {
    name: "Java with make and JUnit's console",
    programs: ["make", "javac", "java", "file:/usr/share/java/junit-platform-console.jar"],
    files: {
      Makefile: `J = /usr/share/java
CP = ${junitJars}

.PHONY: test
test:
	javac -d out -cp $(CP) Sum.java SumTest.java
	java -cp out:$(CP) org.junit.platform.console.ConsoleLauncher --scan-classpath out --disable-banner
`,
      "Sum.java": "class Sum { static int of(int a, int b) { return a + b; } }\n",
      "SumTest.java": `import static org.junit.jupiter.api.Assertions.assertEquals;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;

class SumTest {
  @Test void adds() { assertEquals(3, Sum.of(1, 2)); }
  @Test void addsNothing() { assertEquals(0, Sum.of(0, 0)); }
  @Disabled @Test void addsMuch() { assertEquals(0, Sum.of(1, 2)); }
}
`,
    },
    stack: { language: "java", package_manager: null },
    commands: { test: "make test" },
    passing: { runner: "junit", passed: 2, failed: 0, skipped: 1 },
    broken: { "Sum.java": "class Sum { static int of(int a, int b) { return a - b; } }\n" },
    failing: {
      runner: "junit",
      passed: 1,
      failed: 1,
      skipped: 1,
      names: ["SumTest > adds()"],
      file: "SumTest.java",
    },
  },
  {
    name: "Ruby with rspec",
    programs: ["ruby", "rspec"],
    files: {
      ".rspec": "--format progress\n",
      "lib/sum.rb": "def sum(a, b) = a + b\n",
      "spec/sum_spec.rb": `require_relative "../lib/sum"

RSpec.describe "sum" do
  it("adds") { expect(sum(1, 2)).to eq(3) }
  it("adds nothing") { expect(sum(0, 0)).to eq(0) }
  xit("adds much") { expect(sum(1, 2)).to eq(0) }
end
`,
    },
    stack: { language: "ruby", test_framework: "rspec" },
    commands: { test: "rspec" },
    passing: { runner: "rspec", passed: 2, failed: 0, skipped: 1 },
    broken: { "lib/sum.rb": "def sum(a, b) = a - b\n" },
    failing: {
      runner: "rspec",
      passed: 1,
      failed: 1,
      skipped: 1,
      names: ["sum adds"],
      file: "spec/sum_spec.rb",
    },
  },
  {
    name: "PHP with phpunit",
    programs: ["php", "phpunit"],
    files: {
      "phpunit.xml":
        '<phpunit bootstrap="sum.php"><testsuites><testsuite name="all"><directory>tests</directory></testsuite></testsuites></phpunit>\n',
      "sum.php": "<?php\nfunction sum(int $a, int $b): int { return $a + $b; }\n",
      "tests/SumTest.php": `<?php
use PHPUnit\\Framework\\TestCase;

final class SumTest extends TestCase
{
    public function testAdds(): void
    {
        $this->assertSame(3, sum(1, 2));
    }

    public function testAddsNothing(): void
    {
        $this->assertSame(0, sum(0, 0));
    }
}
`,
    },
    stack: { language: "php", test_framework: "phpunit" },
    commands: { test: "phpunit" },
    passing: { runner: "phpunit", passed: 2, failed: 0, skipped: 0 },
    broken: { "sum.php": "<?php\nfunction sum(int $a, int $b): int { return $a - $b; }\n" },
    failing: {
      runner: "phpunit",
      passed: 1,
      failed: 1,
      skipped: 0,
      names: ["SumTest::testAdds"],
      file: "tests/SumTest.php",
    },
  },
];
