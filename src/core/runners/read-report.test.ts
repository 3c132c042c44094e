import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { TestReport } from "../test-report.ts";
import { createReportReader } from "./read-report.ts";

interface Expected {
  readonly says: string | undefined;
  readonly failures: readonly string[];
  readonly in: readonly string[];
}

/** Printed by the real programs (see recorded/README.md). */
const recorded: readonly Expected[] = [
  {
    says: "ava: 0 passed, 1 failed, 0 skipped",
    failures: ["crash/price.test.js @ crash/price.test.js:?"],
    in: ["ava-7.0.0-crash"],
  },
  {
    says: "ava: 2 passed, 2 failed, 1 skipped",
    failures: [
      "price › of two is their sum @ fail/price.test.js:4",
      "price › throws @ fail/price.test.js:7",
    ],
    in: ["ava-7.0.0-failing-colour", "ava-7.0.0-failing"],
  },
  {
    says: "ava: 1 passed, 2 failed, 1 skipped",
    failures: ["of two is their sum @ fail/price.test.js:4", "throws @ fail/price.test.js:7"],
    in: ["ava-7.0.0-failing-one-file"],
  },
  {
    says: "TAP: 2 passed, 2 failed, 1 skipped",
    failures: ["price › of two is their sum @ ?:?", "price › throws @ fail/price.test.js:7"],
    in: ["ava-7.0.0-failing-tap"],
  },
  {
    says: "ava: 0 passed, 0 failed, 0 skipped",
    failures: [],
    in: ["ava-7.0.0-none", "ava-7.0.0-nothing-there"],
  },
  { says: "ava: 2 passed, 0 failed, 3 skipped", failures: [], in: ["ava-7.0.0-passing"] },
  {
    says: undefined,
    failures: [],
    in: [
      "cargo-1.95.0-crash",
      "deno-2.9.6-crash",
      "gradle-4.4.1-crash",
      "gradle-4.4.1-passing",
      "minitest-5.17.0-crash",
      "mocha-12.0.3-crash",
      "node-test-20.20.2-crash-dot",
      "node-test-20.20.2-failing-dot",
      "node-test-20.20.2-passing-dot",
      "phpunit-9.6.7-crash",
      "surefire-2.22.3-crash",
    ],
  },
  {
    says: "cargo test: 3 passed, 2 failed, 1 skipped",
    failures: ["tests::of_three @ ?:?", "tests::of_two @ src/lib.rs:26"],
    in: ["cargo-1.95.0-failing-all"],
  },
  {
    says: "cargo test: 1 passed, 2 failed, 1 skipped",
    failures: ["tests::of_three @ ?:?", "tests::of_two @ src/lib.rs:26"],
    in: ["cargo-1.95.0-failing-colour", "cargo-1.95.0-failing", "cargo-1.95.0-quiet"],
  },
  { says: "cargo test: 0 passed, 0 failed, 0 skipped", failures: [], in: ["cargo-1.95.0-none"] },
  {
    says: "cargo test: 3 passed, 0 failed, 1 skipped",
    failures: [],
    in: ["cargo-1.95.0-passing", "cargo-1.95.0-shown-output"],
  },
  {
    says: "ctest: 1 passed, 3 failed, 2 skipped",
    failures: ["sum @ ?:?", "aborts @ ?:?", "missing @ ?:?"],
    in: ["ctest-3.25.1-failing-shown-output", "ctest-3.25.1-failing"],
  },
  { says: "ctest: 0 passed, 0 failed, 0 skipped", failures: [], in: ["ctest-3.25.1-none"] },
  {
    says: "ctest: 1 passed, 0 failed, 2 skipped",
    failures: [],
    in: ["ctest-3.25.1-passing", "ctest-3.25.1-verbose"],
  },
  {
    says: "deno test: 3 passed, 0 failed, 1 skipped, 14.3% covered",
    failures: [],
    in: ["deno-2.9.6-coverage"],
  },
  {
    says: "deno test: 1 passed, 2 failed, 1 skipped",
    failures: [
      "of two is their sum @ fail/price_test.ts:3",
      "with steps ... is lower @ fail/price_test.ts:7",
    ],
    in: ["deno-2.9.6-dot", "deno-2.9.6-failing-colour", "deno-2.9.6-failing"],
  },
  { says: "deno test: 0 passed, 0 failed, 0 skipped", failures: [], in: ["deno-2.9.6-none"] },
  { says: "deno test: 3 passed, 0 failed, 1 skipped", failures: [], in: ["deno-2.9.6-passing"] },
  {
    says: "TAP: 1 passed, 2 failed, 1 skipped",
    failures: ["of two is their sum @ fail/price_test.ts:4", "is lower @ fail/price_test.ts:8"],
    in: ["deno-2.9.6-tap"],
  },
  {
    says: "go test: 6 passed, 4 failed, 2 skipped",
    failures: [
      "example.org/shop/crash @ ?:?",
      "TestSum @ price_test.go:14",
      "TestDiscount/200 @ price_test.go:22",
      "TestPanics @ panics/price_test.go:9",
    ],
    in: ["go-1.19.8-all-verbose"],
  },
  {
    says: "go test: 1 passed, 4 failed, 0 skipped",
    failures: [
      "example.org/shop/crash @ ?:?",
      "TestSum @ price_test.go:14",
      "TestDiscount/200 @ price_test.go:22",
      "TestPanics @ panics/price_test.go:9",
    ],
    in: ["go-1.19.8-all"],
  },
  {
    says: "go test: 1 passed, 0 failed, 0 skipped, 42.9% covered",
    failures: [],
    in: ["go-1.19.8-coverage"],
  },
  {
    says: "go test: 0 passed, 1 failed, 0 skipped",
    failures: ["example.org/shop/crash @ ?:?"],
    in: ["go-1.19.8-crash-json", "go-1.19.8-crash"],
  },
  {
    says: "go test: 2 passed, 2 failed, 1 skipped",
    failures: ["TestSum @ price_test.go:14", "TestDiscount/200 @ price_test.go:22"],
    in: ["go-1.19.8-failing-json", "go-1.19.8-failing-verbose"],
  },
  {
    says: "go test: 0 passed, 2 failed, 0 skipped",
    failures: ["TestSum @ price_test.go:14", "TestDiscount/200 @ price_test.go:22"],
    in: ["go-1.19.8-failing"],
  },
  {
    says: "go test: 0 passed, 0 failed, 0 skipped",
    failures: [],
    in: [
      "go-1.19.8-no-test-files-json",
      "go-1.19.8-no-test-files",
      "go-1.19.8-no-tests-json",
      "go-1.19.8-no-tests",
    ],
  },
  {
    says: "go test: 1 passed, 1 failed, 0 skipped",
    failures: ["TestPanics @ panics/price_test.go:9"],
    in: ["go-1.19.8-panics-json"],
  },
  {
    says: "go test: 0 passed, 1 failed, 0 skipped",
    failures: ["TestPanics @ panics/price_test.go:9"],
    in: ["go-1.19.8-panics"],
  },
  {
    says: "go test: 3 passed, 0 failed, 1 skipped",
    failures: [],
    in: ["go-1.19.8-passing-json", "go-1.19.8-passing-verbose"],
  },
  { says: "go test: 1 passed, 0 failed, 0 skipped", failures: [], in: ["go-1.19.8-passing"] },
  {
    says: "gradle: 1 passed, 2 failed, 1 skipped",
    failures: ["PriceTest > sum @ PriceTest.java:6", "PriceTest > error @ PriceTest.java:9"],
    in: ["gradle-4.4.1-failing-told", "gradle-4.4.1-failing"],
  },
  {
    says: "gradle: 3 passed, 0 failed, 1 skipped",
    failures: [],
    in: ["gradle-4.4.1-passing-told"],
  },
  {
    says: "jest: 1 passed, 2 failed, 0 skipped",
    failures: [
      "crash/broken.test.js @ crash/broken.test.js:1",
      "crash/syntax.test.js @ crash/syntax.test.js:?",
    ],
    in: ["jest-27.5.1-crash", "jest-30.5.2-crash"],
  },
  {
    says: "jest: 2 passed, 2 failed, 1 skipped",
    failures: [
      "the price › of two is their sum @ fail/price.test.js:5",
      "the price › with a discount › is lower @ fail/price.test.js:9",
    ],
    in: ["jest-27.5.1-failing", "jest-30.5.2-failing-colour", "jest-30.5.2-failing"],
  },
  {
    says: "jest: 3 passed, 0 failed, 2 skipped, 40% covered",
    failures: [],
    in: ["jest-30.5.2-coverage"],
  },
  {
    says: "jest: 1 passed, 2 failed, 1 skipped",
    failures: [
      "the price › of two is their sum @ fail/price.test.js:5",
      "the price › with a discount › is lower @ fail/price.test.js:9",
    ],
    in: ["jest-30.5.2-failing-verbose"],
  },
  {
    says: "jest: 0 passed, 0 failed, 0 skipped",
    failures: [],
    in: ["jest-30.5.2-none-allowed", "jest-30.5.2-none"],
  },
  { says: "jest: 3 passed, 0 failed, 2 skipped", failures: [], in: ["jest-30.5.2-passing"] },
  {
    says: "junit: 1 passed, 2 failed, 1 skipped",
    failures: [
      "PriceTest > sum() @ PriceTest.java:7",
      "PriceTest > Discount > lower() @ PriceTest.java:11",
    ],
    in: ["junit-console-1.9.1-failing-colour", "junit-console-1.9.1-failing"],
  },
  { says: "junit: 0 passed, 0 failed, 0 skipped", failures: [], in: ["junit-console-1.9.1-none"] },
  {
    says: "junit: 2 passed, 0 failed, 1 skipped",
    failures: [],
    in: ["junit-console-1.9.1-passing"],
  },
  {
    says: "minitest: 1 passed, 2 failed, 1 skipped",
    failures: [
      "PriceTest#test_sum @ fail/price_test.rb:5",
      "PriceTest#test_error @ fail/price_test.rb:8",
    ],
    in: ["minitest-5.17.0-failing-verbose", "minitest-5.17.0-failing"],
  },
  { says: "minitest: 0 passed, 0 failed, 0 skipped", failures: [], in: ["minitest-5.17.0-none"] },
  {
    says: "minitest: 2 passed, 0 failed, 1 skipped",
    failures: [],
    in: ["minitest-5.17.0-passing"],
  },
  {
    says: "mocha: 1 passed, 3 failed, 1 skipped",
    failures: [
      "the price > of two is their sum @ fail/price.js:6",
      "the price > with a discount > is lower @ fail/price.js:10",
      'the till > "before all" hook for "opens" @ fail/price.js:16',
    ],
    in: [
      "mocha-12.0.3-failing-dot",
      "mocha-12.0.3-failing-min",
      "mocha-12.0.3-failing-spec-colour",
      "mocha-12.0.3-failing-spec",
      "mocha-9.2.2-failing",
    ],
  },
  {
    says: "TAP: 1 passed, 3 failed, 1 skipped",
    failures: [
      "the price of two is their sum @ fail/price.js:6",
      "the price with a discount is lower @ fail/price.js:10",
      'the till "before all" hook for "opens" @ fail/price.js:16',
    ],
    in: ["mocha-12.0.3-failing-tap"],
  },
  { says: "mocha: 0 passed, 0 failed, 0 skipped", failures: [], in: ["mocha-12.0.3-none"] },
  {
    says: "mocha: 2 passed, 0 failed, 2 skipped",
    failures: [],
    in: ["mocha-12.0.3-passing-dot", "mocha-12.0.3-passing-spec"],
  },
  { says: "TAP: 2 passed, 0 failed, 2 skipped", failures: [], in: ["mocha-12.0.3-passing-tap"] },
  {
    says: "node:test: 2 passed, 0 failed, 2 skipped, 75% covered",
    failures: [],
    in: ["node-test-20.20.2-coverage-spec", "node-test-20.20.2-coverage-tap"],
  },
  {
    says: "node:test: 1 passed, 1 failed, 0 skipped",
    failures: ["crash/broken.test.js @ crash/broken.test.js:1"],
    in: [
      "node-test-20.20.2-crash-spec",
      "node-test-20.20.2-crash-tap",
      "node-test-24.21.0-crash-spec",
    ],
  },
  {
    says: "node:test: 0 passed, 0 failed, 0 skipped",
    failures: [],
    in: [
      "node-test-20.20.2-empty-file-spec",
      "node-test-20.20.2-empty-file-tap",
      "node-test-20.20.2-nothing-there-spec",
      "node-test-20.20.2-nothing-there",
      "node-test-24.21.0-empty-file-spec",
      "node-test-24.21.0-empty-file-tap",
    ],
  },
  {
    says: "node:test: 2 passed, 3 failed, 1 skipped",
    failures: [
      "of two is their sum @ fail/price.test.js:6",
      "is lower @ fail/price.test.js:10",
      "stands alone @ fail/price.test.js:16",
    ],
    in: [
      "node-test-20.20.2-failing-spec-colour",
      "node-test-20.20.2-failing-spec",
      "node-test-20.20.2-failing-tap",
      "node-test-24.21.0-failing-spec",
      "node-test-24.21.0-failing-tap",
    ],
  },
  {
    says: "node:test: 1 passed, 3 failed, 1 skipped",
    failures: [
      "of two is their sum @ fail/price.test.js:6",
      "is lower @ fail/price.test.js:10",
      "stands alone @ fail/price.test.js:16",
    ],
    in: ["node-test-20.20.2-file-alone"],
  },
  {
    says: "node:test: 2 passed, 0 failed, 2 skipped",
    failures: [],
    in: [
      "node-test-20.20.2-passing-spec",
      "node-test-20.20.2-passing-tap",
      "node-test-24.21.0-passing-spec",
    ],
  },
  {
    says: "node:test: 2 passed, 0 failed, 2 skipped, 42.86% covered",
    failures: [],
    in: ["node-test-24.21.0-coverage-spec"],
  },
  {
    says: "phpunit: 2 passed, 3 failed, 2 skipped",
    failures: [
      "PriceTest::testError @ fail/PriceTest.php:9",
      "PriceTest::testSum @ fail/PriceTest.php:6",
      'PriceTest::testEach with data set "two" @ fail/PriceTest.php:13',
    ],
    in: ["phpunit-9.6.7-failing-colour", "phpunit-9.6.7-failing"],
  },
  {
    says: "phpunit: 2 passed, 3 failed, 2 skipped",
    failures: [
      "Sum @ fail/PriceTest.php:6",
      "Error @ fail/PriceTest.php:9",
      'Each with data set "two" @ fail/PriceTest.php:13',
    ],
    in: ["phpunit-9.6.7-failing-testdox"],
  },
  { says: "phpunit: 0 passed, 0 failed, 0 skipped", failures: [], in: ["phpunit-9.6.7-none"] },
  {
    says: "phpunit: 2 passed, 0 failed, 0 skipped",
    failures: [],
    in: ["phpunit-9.6.7-passing-colour", "phpunit-9.6.7-passing"],
  },
  { says: "phpunit: 2 passed, 0 failed, 2 skipped", failures: [], in: ["phpunit-9.6.7-skips"] },
  {
    says: "playwright: 0 passed, 0 failed, 0 skipped",
    failures: [],
    in: ["playwright-1.65.0-crash", "playwright-1.65.0-none"],
  },
  {
    says: "playwright: 1 passed, 4 failed, 2 skipped",
    failures: [
      "the price › of two is their sum @ fail/price.spec.js:4",
      "the price › is lower @ fail/price.spec.js:7",
      "passes in the end @ fail/price.spec.js:12",
      "one after the other › first @ fail/price.spec.js:16",
    ],
    in: ["playwright-1.65.0-failing-colour", "playwright-1.65.0-failing"],
  },
  {
    says: "playwright: 2 passed, 3 failed, 2 skipped",
    failures: [
      "the price › of two is their sum @ fail/price.spec.js:4",
      "the price › is lower @ fail/price.spec.js:7",
      "one after the other › first @ fail/price.spec.js:16",
    ],
    in: ["playwright-1.65.0-flaky"],
  },
  {
    says: "playwright: 2 passed, 0 failed, 1 skipped",
    failures: [],
    in: ["playwright-1.65.0-passing"],
  },
  {
    says: "prove: 0 passed, 1 failed, 0 skipped",
    failures: ["crash/price.t @ crash/price.t:?"],
    in: ["prove-3.44-crash"],
  },
  {
    says: "prove: 2 passed, 2 failed, 1 skipped",
    failures: ["of two is their sum @ fail/price.t:3", "with a discount @ fail/price.t:8"],
    in: ["prove-3.44-failing-colour", "prove-3.44-failing-verbose", "prove-3.44-failing"],
  },
  { says: "prove: 0 passed, 0 failed, 0 skipped", failures: [], in: ["prove-3.44-none"] },
  { says: "prove: 4 passed, 0 failed, 0 skipped", failures: [], in: ["prove-3.44-passing"] },
  {
    says: "pytest: 3 passed, 0 failed, 2 skipped, 50% covered",
    failures: [],
    in: ["pytest-7.2.1-coverage"],
  },
  {
    says: "pytest: 0 passed, 1 failed, 0 skipped",
    failures: ["crash/test_broken.py @ crash/test_broken.py:1"],
    in: ["pytest-7.2.1-crash", "pytest-9.1.1-crash"],
  },
  {
    says: "pytest: 1 passed, 4 failed, 1 skipped",
    failures: [
      "test_sum @ failing/test_price.py:8",
      "TestDiscount::test_lower @ failing/test_price.py:12",
      "test_unexpected @ failing/test_price.py:?",
      "test_till @ failing/test_price.py:16",
    ],
    in: [
      "pytest-7.2.1-failing-colour",
      "pytest-7.2.1-failing-quiet",
      "pytest-7.2.1-failing-short-tb",
      "pytest-7.2.1-failing-verbose",
      "pytest-7.2.1-failing",
      "pytest-9.1.1-failing-quiet-colour",
      "pytest-9.1.1-failing",
    ],
  },
  {
    says: "pytest: 1 passed, 1 failed, 0 skipped",
    failures: ["test_sum @ failing/test_price.py:8"],
    in: ["pytest-7.2.1-failing-first"],
  },
  {
    says: "pytest: 1 passed, 4 failed, 1 skipped",
    failures: [
      "test_sum @ failing/test_price.py:?",
      "TestDiscount::test_lower @ failing/test_price.py:?",
      "test_unexpected @ failing/test_price.py:?",
      "test_till @ failing/test_price.py:?",
    ],
    in: ["pytest-7.2.1-failing-no-tb"],
  },
  {
    says: "pytest: 0 passed, 0 failed, 0 skipped",
    failures: [],
    in: ["pytest-7.2.1-none-quiet", "pytest-7.2.1-none", "pytest-9.1.1-none"],
  },
  {
    says: "pytest: 3 passed, 0 failed, 2 skipped",
    failures: [],
    in: [
      "pytest-7.2.1-passing-quiet",
      "pytest-7.2.1-passing-shown-output",
      "pytest-7.2.1-passing",
      "pytest-9.1.1-passing",
    ],
  },
  {
    says: "pytest: 3 passed, 0 failed, 2 skipped, 38% covered",
    failures: [],
    in: ["pytest-9.1.1-coverage"],
  },
  {
    says: "rspec: 0 passed, 1 failed, 0 skipped",
    failures: ["crash/price_spec.rb @ crash/price_spec.rb:?"],
    in: ["rspec-3.12.0-crash"],
  },
  {
    says: "rspec: 1 passed, 2 failed, 1 skipped",
    failures: [
      "the price of two is their sum @ fail/price_spec.rb:3",
      "the price with a discount is lower @ fail/price_spec.rb:7",
    ],
    in: [
      "rspec-3.12.0-failing-colour",
      "rspec-3.12.0-failing-documentation",
      "rspec-3.12.0-failing",
    ],
  },
  { says: "rspec: 0 passed, 0 failed, 0 skipped", failures: [], in: ["rspec-3.12.0-none"] },
  { says: "rspec: 2 passed, 0 failed, 2 skipped", failures: [], in: ["rspec-3.12.0-passing"] },
  {
    says: "surefire: 1 passed, 2 failed, 1 skipped",
    failures: ["PriceTest.sum @ PriceTest.java:8", "PriceTest$Discount.lower @ PriceTest.java:12"],
    in: ["surefire-2.22.3-failing"],
  },
  { says: "surefire: 0 passed, 0 failed, 0 skipped", failures: [], in: ["surefire-2.22.3-none"] },
  {
    says: "surefire: 2 passed, 0 failed, 1 skipped",
    failures: [],
    in: ["surefire-2.22.3-passing"],
  },
  {
    says: "tap: 2 passed, 0 failed, 2 skipped",
    failures: [],
    in: ["tap-21.8.0-coverage", "tap-21.8.0-passing"],
  },
  { says: "tap: 1 passed, 2 failed, 1 skipped", failures: [], in: ["tap-21.8.0-failing-terse"] },
  {
    says: "tap: 1 passed, 2 failed, 1 skipped",
    failures: ["of two is their sum @ fail/price.js:4", "is lower @ fail/price.js:6"],
    in: ["tap-21.8.0-failing", "tap-21.8.0-file-alone"],
  },
  {
    says: "unittest: 0 passed, 1 failed, 0 skipped",
    failures: ["unittest.loader._FailedTest.test_broken @ u_crash/test_broken.py:1"],
    in: ["unittest-python3.11.2-crash"],
  },
  {
    says: "unittest: 1 passed, 4 failed, 1 skipped",
    failures: [
      "test_price.Price.test_error @ u_failing/test_price.py:10",
      "test_price.Price.test_sub (n=200) @ u_failing/test_price.py:14",
      "test_price.Price.test_sum @ u_failing/test_price.py:8",
      "test_price.Price.test_unexpected @ ?:?",
    ],
    in: ["unittest-python3.11.2-failing-verbose", "unittest-python3.11.2-failing"],
  },
  {
    says: "unittest: 0 passed, 0 failed, 0 skipped",
    failures: [],
    in: ["unittest-python3.11.2-none"],
  },
  {
    says: "unittest: 2 passed, 0 failed, 2 skipped",
    failures: [],
    in: ["unittest-python3.11.2-passing"],
  },
  {
    says: "vitest: 1 passed, 2 failed, 0 skipped",
    failures: [
      "crash/broken.test.js @ crash/broken.test.js:?",
      "crash/syntax.test.js @ crash/syntax.test.js:?",
    ],
    in: ["vitest-1.6.1-crash"],
  },
  {
    says: "vitest: 2 passed, 2 failed, 1 skipped",
    failures: [
      "the price > of two is their sum @ fail/price.test.js:5",
      "the price > with a discount > is lower @ fail/price.test.js:9",
    ],
    in: [
      "vitest-1.6.1-failing-colour",
      "vitest-1.6.1-failing",
      "vitest-4.1.11-failing-colour",
      "vitest-4.1.11-failing-dot",
      "vitest-4.1.11-failing-verbose",
      "vitest-4.1.11-failing",
    ],
  },
  {
    says: "vitest: 3 passed, 0 failed, 2 skipped, 40% covered",
    failures: [],
    in: ["vitest-4.1.11-coverage"],
  },
  {
    says: "vitest: 1 passed, 2 failed, 0 skipped",
    failures: [
      "crash/broken.test.js @ crash/broken.test.js:1",
      "crash/syntax.test.js @ crash/syntax.test.js:1",
    ],
    in: ["vitest-4.1.11-crash"],
  },
  {
    says: "TAP: 2 passed, 2 failed, 1 skipped",
    failures: [
      "fail/price.test.js > the price > of two is their sum @ fail/price.test.js:5",
      "fail/price.test.js > the price > with a discount > is lower @ fail/price.test.js:9",
    ],
    in: ["vitest-4.1.11-failing-tap-flat"],
  },
  {
    says: "TAP: 2 passed, 2 failed, 1 skipped",
    failures: ["of two is their sum @ fail/price.test.js:5", "is lower @ fail/price.test.js:9"],
    in: ["vitest-4.1.11-failing-tap"],
  },
  {
    says: "vitest: 0 passed, 0 failed, 0 skipped",
    failures: [],
    in: ["vitest-4.1.11-none-allowed", "vitest-4.1.11-none"],
  },
  { says: "vitest: 3 passed, 0 failed, 2 skipped", failures: [], in: ["vitest-4.1.11-passing"] },
];

/** By programs that could not be run where the others were recorded, written after their documentation. */
const written: readonly Expected[] = [
  {
    says: "bun test: 1 passed, 1 failed, 1 skipped",
    failures: ["the price > of two is their sum @ fail/price.test.js:6"],
    in: ["bun-failing"],
  },
  { says: "bun test: 0 passed, 0 failed, 0 skipped", failures: [], in: ["bun-none"] },
  {
    says: "dotnet test: 1 passed, 1 failed, 1 skipped",
    failures: ["Shop.Tests.PriceTests.Sum @ PriceTests.cs:12"],
    in: ["dotnet-detailed-failing"],
  },
  { says: "dotnet test: 0 passed, 0 failed, 0 skipped", failures: [], in: ["dotnet-none"] },
  {
    says: "dotnet test: 3 passed, 1 failed, 1 skipped",
    failures: [],
    in: ["dotnet-terminal-failing"],
  },
  {
    says: "dotnet test: 3 passed, 1 failed, 1 skipped",
    failures: ["Shop.Tests.PriceTests.Sum @ PriceTests.cs:12"],
    in: ["dotnet-vstest-failing"],
  },
  {
    says: "dotnet test: 15 passed, 0 failed, 2 skipped",
    failures: [],
    in: ["dotnet-vstest-two-assemblies"],
  },
  {
    says: "jest + vitest: 5 passed, 1 failed, 0 skipped",
    failures: ["the price › adds up @ src/price.test.js:5"],
    in: ["jest-turbo-two-packages"],
  },
  {
    says: "nextest: 2 passed, 1 failed, 1 skipped",
    failures: ["shop tests::of_two @ src/lib.rs:26"],
    in: ["nextest-failing"],
  },
  {
    says: "pest: 1 passed, 1 failed, 1 skipped",
    failures: ["Tests\\Unit\\PriceTest > it adds up @ tests/Unit/PriceTest.php:8"],
    in: ["pest-failing"],
  },
  {
    says: "phpunit: 2 passed, 0 failed, 0 skipped, 66.67% covered",
    failures: [],
    in: ["phpunit-coverage"],
  },
  { says: "plain: 7 passed, 1 failed, 2 skipped", failures: [], in: ["plain-c-program"] },
];

const folderOf = (kind: string): string => join(import.meta.dirname, kind);

const linesOf = (kind: string, name: string): string[] =>
  readFileSync(join(folderOf(kind), `${name}.txt`), "utf8").split("\n");

function read(lines: readonly string[]): TestReport | undefined {
  const reader = createReportReader("/home/user/project");
  for (const line of lines) reader.line(line);
  return reader.report();
}

function told(report: TestReport | undefined): Pick<Expected, "says" | "failures"> {
  if (!report) return { says: undefined, failures: [] };
  const { runner, passed, failed, skipped, coverage } = report;
  const covered = coverage === undefined ? "" : `, ${coverage}% covered`;
  return {
    says: `${runner}: ${passed} passed, ${failed} failed, ${skipped} skipped${covered}`,
    failures: report.failures.map(
      ({ name, file = "?", line = "?" }) => `${name} @ ${file}:${line}`,
    ),
  };
}

const samples = [
  ...recorded.flatMap((each) => each.in.map((name) => ({ kind: "recorded", name, ...each }))),
  ...written.flatMap((each) => each.in.map((name) => ({ kind: "written", name, ...each }))),
];

describe("the report of a test run", () => {
  for (const { kind, name, says, failures } of samples) {
    it(`is read from what was ${kind}: ${name}`, () => {
      expect(told(read(linesOf(kind, name)))).toEqual({ says, failures });
    });
  }

  it("is the same however often it is asked for", () => {
    for (const { kind, name } of samples) {
      const reader = createReportReader();
      for (const line of linesOf(kind, name)) reader.line(line);
      const first = reader.report();
      expect(reader.report(), name).toEqual(first);
    }
  });

  it.each(["recorded", "written"])("is expected for every file that was %s", (kind) => {
    const files = readdirSync(folderOf(kind)).filter((file) => file.endsWith(".txt"));
    const named = samples.filter((each) => each.kind === kind).map((each) => `${each.name}.txt`);
    expect(named.toSorted()).toEqual(files.toSorted());
  });
});

describe("the same report is read", () => {
  const same = (change: (lines: readonly string[]) => string[], but?: RegExp): void => {
    for (const { kind, name } of samples) {
      if (but?.test(name)) continue;
      const lines = linesOf(kind, name);
      expect({ name, ...told(read(change(lines))) }).toEqual({ name, ...told(read(lines)) });
    }
  };

  it("without the colours", () =>
    same((lines) => lines.map((line) => line.replace(/\u001b\[[\d;]*m/g, ""))));

  it("with more colours", () =>
    same((lines) =>
      lines.map((line) => `\u001b[2m${line.replace(/ (?=\d)/g, " \u001b[1;31m")}\u001b[0m`),
    ));

  it("with line ends of Windows", () => same((lines) => lines.map((line) => `${line}\r`)));

  it("behind progress that was overwritten", () =>
    same((lines) => lines.map((line) => `\u001b[2Kcompiling 12 %\r${line}`)));

  it("with logs between any two lines", () =>
    same((lines) => lines.flatMap((line, at) => [line, logs[at % logs.length] ?? ""])));

  it.each([
    "@acme/shop:test: ",
    "shop:test:unit: ",
    "packages/shop test: ",
    ". test: ",
    "@acme/shop: ",
    "shop: ",
    "[shop]: ",
    "[0] ",
    "shop-1  | ",
  ])("with %j before each line", (prefix) =>
    // One prefix is taken away, not two.
    same((lines) => lines.map((line) => `${prefix}${line}`), /-two-packages$/),
  );

  it("with the time before each line", () =>
    same((lines) => lines.map((line) => `2026-01-01T10:00:00.0000000Z ${line}`)));

  it("further in", () =>
    // What these tests print differs from mocha's own line by where it begins, and by nothing else.
    same((lines) => lines.map((line) => `    ${line}`), /^mocha-12.0.3-passing|-two-packages$/));
});

const logs = [
  "GET /orders/12 200 in 12 ms",
  "[12:00:01] cache: 3 entries",
  '{"level":"info","message":"2 passed"}',
  "WARN  order 12 failed, 1 skipped",
  "ok",
  "5 orders passed",
];

describe("several runners in one output", () => {
  const one = linesOf("recorded", "jest-30.5.2-failing");
  const other = linesOf("recorded", "pytest-7.2.1-failing");

  it("add up, one after the other", () => {
    const both = read([...one, ...other]);
    expect(told(both).says).toBe("jest + pytest: 3 passed, 6 failed, 2 skipped");
    expect(both?.failures).toHaveLength(6);
  });

  it("add up when one of them runs twice", () => {
    expect(told(read([...one, ...one])).says).toBe("jest: 4 passed, 4 failed, 2 skipped");
  });

  it("are told apart by their prefixes when their lines are mixed", () => {
    const mixed = Array.from({ length: Math.max(one.length, other.length) }, (_, at) => [
      `a:test: ${one[at] ?? ""}`,
      `b:test: ${other[at] ?? ""}`,
      `c:test: ${one[at] ?? ""}`,
    ]).flat();
    expect(told(read(mixed)).says).toBe("jest + pytest: 5 passed, 8 failed, 3 skipped");
  });

  it("are told apart after any number of logs that look like packages", () => {
    const noisy = Array.from({ length: 1000 }, (_, at) => `order-${at}: test failed`);
    const prefixed = one.flatMap((line) => [`a:test: ${line}`, `b:test: ${line}`]);
    expect(told(read([...noisy, ...prefixed])).says).toBe("jest: 4 passed, 4 failed, 2 skipped");
  });

  it("have no coverage in common", () => {
    const jest = linesOf("recorded", "jest-30.5.2-coverage");
    const pytest = linesOf("recorded", "pytest-7.2.1-coverage");
    expect(read(jest)?.coverage).toBe(40);
    expect(read([...jest, ...pytest])?.coverage).toBeUndefined();
  });
});

describe("a program under test", () => {
  it.each([
    ["Tests:       5 passed, 5 total"],
    ["      Tests  5 passed (5)"],
    ["5 passing (3ms)"],
    ["# pass 500", "# fail 0"],
    ["ℹ tests 5", "ℹ pass 500", "ℹ fail 0"],
    ["ok 7 - adds up"],
    ["test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out"],
    ["OK (5 tests, 5 assertions)"],
    ["Ran 5 tests in 0.001s", "OK"],
    ["5 examples, 0 failures"],
    ["5 runs, 5 assertions, 0 failures, 0 errors, 0 skips"],
    ["100% tests passed, 0 tests failed out of 5"],
    ["Tests run: 5, Failures: 0, Errors: 0, Skipped: 0"],
    ["[         5 tests successful      ]"],
    ["  5 passed (3.0s)"],
    ["  5 tests passed"],
    ["all 5 passed, 0 failed so far"],
    ["--- PASS: TestAddsUp (0.00s)"],
    ["Order 5 passed, 0 failed"],
  ])("is not taken for a runner by %j", (...lines) => {
    expect(read(lines)).toBeUndefined();
  });

  it("does not count beside a runner, even in the plainest form", () => {
    const lines = linesOf("recorded", "jest-30.5.2-failing").flatMap((line) => [
      line,
      "5 passed, 3 failed",
    ]);
    expect(told(read(lines)).says).toBe("jest: 2 passed, 2 failed, 1 skipped");
  });
});

describe("a long output", () => {
  it("is read without keeping anything of it", () => {
    const reader = createReportReader();
    const before = process.memoryUsage().heapUsed;
    for (let at = 0; at < 1_000_000; at++) {
      reader.line(`${noise[at % noise.length]} ${at}`);
    }
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * 1024 * 1024);
    expect(reader.report()).toBeUndefined();
  });

  it("keeps the first fifty failures, and counts all", () => {
    const names = Array.from({ length: 5000 }, (_, at) => `test_${at}`);
    const report = read([
      "=== test session starts ===",
      "=== short test summary info ===",
      ...names.map((name) => `FAILED test_a.py::${name} - ${"x".repeat(5000)}`),
      "=== 5000 failed in 1.00s ===",
    ]);
    expect(report?.failed).toBe(5000);
    expect(report?.failures).toHaveLength(50);
    expect(report?.failures[49]).toEqual({ name: "test_49", file: "test_a.py" });
  });

  it.each([
    ["a name", (at: number) => `FAIL  a.test.ts > ${at}${"x".repeat(20_000)}`],
    ["packages", (at: number) => `package-${at}:test: FAIL  a.test.ts > works`],
    ["words before a colon", (at: number) => `order-${at}: FAIL  a.test.ts > works`],
    ["tests that begin and never end", (at: number) => `=== RUN   Test${at}`],
    ["events", (at: number) => `{"Time":"","Action":"run","Package":"p${at}","Test":"T${at}"}`],
    ["points", (at: number) => `not ok ${at + 1} - test ${at}`],
    ["tests that failed", (at: number) => `PriceTest > sum${at} FAILED`],
  ])("does not keep more and more of %s", (_, line) => {
    const reader = createReportReader();
    for (let at = 0; at < 10_000; at++) reader.line(line(at));
    const half = process.memoryUsage().heapUsed;
    for (let at = 10_000; at < 50_000; at++) reader.line(line(at));
    expect(process.memoryUsage().heapUsed - half).toBeLessThan(100 * 1024 * 1024);
    expect(reader.report()?.failures.length ?? 0).toBeLessThanOrEqual(50);
  });

  it("does not take longer for lines made to be slow", () => {
    const reader = createReportReader();
    for (const part of ["a-", " ", "0", "a:", "a/", "\u001b[", "\r", "(", ", 1 a", " > "]) {
      const long = part.repeat(1_000_000 / part.length);
      for (const begin of ["", "FAIL ", "1 ", "Tests: 1", "ok ", "# ", '{"Time":"', "___ "]) {
        reader.line(begin + long);
      }
    }
  });
});

const noise = [
  "GET /orders 200 in 12 ms, order",
  "  at Object.<anonymous> (src/price.js:3:4)",
  "src/price.ts:12:3 - warning: unused variable",
  "\u001b[32minfo\u001b[0m: listening on port",
  "ok so far, step",
  "5 passed, and so did",
  "FAIL to connect, try",
  "=== RUN of the mill ===",
  "    ✓ does what it should",
  "compiling module",
];
