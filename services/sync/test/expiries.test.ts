import t from "tap";
import type { Connection } from "../src/connections/connection.ts";
import { createExpiries } from "../src/connections/expiries.ts";

// A fake clock: a busy machine may miss a second.

await t.test("a connection is closed in the second in which its token expires, not before and not after", (t) => {
  let now = 0;
  const expiries = createExpiries(() => new Date(now * 1000));
  const closed: number[] = [];
  const until = (expiresAt: number): Connection =>
    ({ holder: { expiresAt }, close: (code: number) => closed.push(expiresAt, code) }) as unknown as Connection; // the fields that are used
  for (const second of [100, 101, 102]) expiries.add(until(second));
  const gone = until(101);
  expiries.add(gone);
  expiries.remove(gone);
  const closedAt = (moment: number): number[] => {
    now = moment;
    expiries.tick();
    return closed.splice(0);
  };
  t.same(closedAt(99.999), []);
  t.same(closedAt(100), [100, 4001]);
  t.same(closedAt(100.999), [], "checked once a second");
  expiries.add(until(100));
  t.same(closedAt(100.999).slice(-2), [100, 4001], "nor does one outlive it that came in this second");
  t.same(
    closedAt(103).filter((value) => value !== 4001 && value > 100),
    [101, 102],
    "skipped seconds are caught up",
  );
  t.end();
});
