import { Parser, type Result } from "tap-parser";

export interface TapCount {
  passed: number;
  failed: number;
  skipped: number;
}

/** Receives results while the TAP is read. `path` is the names from the file down to the test. */
export interface TapEvents {
  file?: (name: string, count: TapCount, milliseconds: number | null) => void;
  failure?: (path: readonly string[], diagnostics: unknown) => void;
  /** A line that is not TAP: output of a test or of its programs. */
  extra?: (line: string) => void;
}

/**
 * Counts the tests in raw TAP: every assertion, and every subtest without one. A subtest that fails by
 * itself (a crash, a time-out, a wrong plan) while its assertions passed counts as one more failure. Feed
 * the text to `parser`; `count` is complete when the parser has ended.
 */
export function tapCounter(events: TapEvents = {}): { parser: Parser; count: TapCount } {
  const parser = new Parser();
  return { parser, count: follow(parser, [], events) };
}

/** Counts complete TAP. */
export function countTap(text: string, events: TapEvents = {}): TapCount {
  const { parser, count } = tapCounter(events);
  parser.end(text);
  return count;
}

const none = (): TapCount => ({ passed: 0, failed: 0, skipped: 0 });

function follow(parser: Parser, path: readonly string[], events: TapEvents): TapCount {
  const count = none();
  let inner = none();
  parser.on("child", (child: Parser) => {
    inner = follow(child, [...path, child.name], events);
  });
  parser.on("assert", (result: Result) => {
    const here = inner;
    inner = none();
    const failed = countResult(count, here, result);
    if (failed) events.failure?.([...path, result.name], result.diag);
    if (path.length === 0) events.file?.(result.name, { ...here, failed: here.failed + (failed ? 1 : 0) }, result.time);
  });
  parser.on("bailout", () => {
    count.failed += 1;
  });
  parser.on("extra", (line: string) => events.extra?.(line));
  return count;
}

/** Adds a result with its content. Returns whether it failed by itself, not only by those below it. */
function countResult(count: TapCount, inner: TapCount, { ok, skip, todo }: Result): boolean {
  const isLeaf = inner.passed + inner.failed + inner.skipped === 0;
  count.passed += inner.passed;
  count.failed += inner.failed;
  count.skipped += inner.skipped;
  if (skip !== false || todo !== false) {
    count.skipped += isLeaf ? 1 : 0;
    return false;
  }
  if (ok) {
    count.passed += isLeaf ? 1 : 0;
    return false;
  }
  if (inner.failed > 0) return false;
  count.failed += 1;
  return true;
}
