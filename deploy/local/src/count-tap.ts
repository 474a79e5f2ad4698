import { Parser } from "tap-parser";
import type { Result } from "tap-parser";

export interface TapCount {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * Counts the tests in raw TAP: every assertion, and every subtest that holds none. A subtest that fails by itself,
 * while all in it passed (a crash, a time-out, a wrong plan), counts as one more failure.
 */
export function countTap(text: string): TapCount {
  const parser = new Parser();
  const count = follow(parser);
  parser.end(text);
  return count;
}

function follow(parser: Parser): TapCount {
  const count: TapCount = { passed: 0, failed: 0, skipped: 0 };
  let inner: TapCount | null = null;
  parser.on("child", (child: Parser) => {
    inner = follow(child);
  });
  parser.on("assert", (result: Result) => {
    add(count, inner ?? { passed: 0, failed: 0, skipped: 0 }, result);
    inner = null;
  });
  parser.on("bailout", () => {
    count.failed += 1;
  });
  return count;
}

function add(count: TapCount, inner: TapCount, { ok, skip, todo }: Result): void {
  const isLeaf = inner.passed + inner.failed + inner.skipped === 0;
  count.passed += inner.passed;
  count.failed += inner.failed;
  count.skipped += inner.skipped;
  if (skip !== false || todo !== false) count.skipped += isLeaf ? 1 : 0;
  else if (!ok) count.failed += inner.failed === 0 ? 1 : 0;
  else if (isLeaf) count.passed += 1;
}
