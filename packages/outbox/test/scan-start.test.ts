import t from "tap";
import { createScanStart, lateMilliseconds, fullScanMilliseconds } from "../src/scan-start.ts";

/** A front by a clock that the test sets. */
function front() {
  let now = 0;
  const made = createScanStart(() => now);
  return { ...made, at: (milliseconds: number) => ((now = milliseconds), made.next()) };
}

void t.test("a row that was delivered is skipped after one second, at the latest after two", (t) => {
  const { at, passed } = front();
  at(0);
  passed([3, 7, 5]);
  passed([]);
  t.equal(at(1), 0);
  t.equal(at(lateMilliseconds - 1), 0, "a look at all, it is due");
  t.equal(at(lateMilliseconds), 0, "delivered less than a second before, for all that is known");
  passed([9]);
  at(2 * lateMilliseconds);
  t.equal(at(2 * lateMilliseconds + 1), 7);
  at(3 * lateMilliseconds);
  t.equal(at(3 * lateMilliseconds + 1), 9);
  t.end();
});

void t.test("a full scan runs every 100 ms", (t) => {
  const { at, passed } = front();
  at(0);
  passed([7]);
  at(lateMilliseconds);
  t.equal(at(2 * lateMilliseconds), 0);
  t.equal(at(2 * lateMilliseconds + fullScanMilliseconds - 1), 7);
  t.equal(at(2 * lateMilliseconds + fullScanMilliseconds), 0);
  t.equal(at(2 * lateMilliseconds + fullScanMilliseconds + 1), 7);
  t.end();
});
