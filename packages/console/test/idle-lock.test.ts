import t from "tap";
import { idleLock } from "../src/worker/session/idle-lock.ts";

const minute = 60_000;

/** An idle lock with clocks that the test sets. */
function started(t: { teardown(work: () => void): unknown }) {
  const clock = { now: 1_000_000, running: 0 };
  const counted = { locks: 0 };
  let minutes = 15;
  const lock = idleLock(
    () => (counted.locks += 1),
    () => minutes * minute,
    { now: () => clock.now, running: () => clock.running },
  );
  lock.start();
  t.teardown(() => lock.stop());
  const pass = (minutes: number): void => {
    clock.now += minutes * minute;
    clock.running += minutes * minute;
  };
  const choose = (chosen: number): void => {
    minutes = chosen;
  };
  return { clock, counted, lock, pass, choose };
}

await t.test("a shorter time counts at once", (t) => {
  const { counted, lock, pass, choose } = started(t);
  pass(4);
  lock.touch();
  choose(5);
  pass(4);
  lock.touch();
  t.equal(counted.locks, 0);
  pass(5);
  lock.touch();
  t.equal(counted.locks, 1);
  t.end();
});

await t.test("keys and clicks put the lock off", (t) => {
  const { counted, lock, pass } = started(t);
  for (let times = 0; times < 5; times += 1) {
    pass(14);
    lock.touch();
  }
  t.equal(counted.locks, 0);
  t.end();
});

await t.test("the first key after a sleep comes too late", (t) => {
  const { clock, counted, lock } = started(t);
  clock.now += 8 * 60 * minute;
  lock.touch();
  t.equal(counted.locks, 1);
  lock.touch();
  t.equal(counted.locks, 1, "once");
  t.end();
});

await t.test("a clock that is set back does not put it off", (t) => {
  const { clock, counted, lock } = started(t);
  clock.now -= 60 * minute;
  clock.running += 15 * minute;
  lock.touch();
  t.equal(counted.locks, 1);
  t.end();
});

await t.test("without a touch it looks by itself, and what is stopped does not lock", (t) => {
  const checks: (() => void)[] = [];
  t.intercept(globalThis, "setInterval", { value: (check: () => void) => checks.push(check) });
  const { counted, lock, pass } = started(t);
  pass(14);
  checks[0]?.();
  t.equal(counted.locks, 0);
  lock.stop();
  pass(2);
  lock.touch();
  t.equal(counted.locks, 0);
  lock.start();
  pass(15);
  checks[1]?.();
  t.equal(counted.locks, 1);
  t.end();
});
