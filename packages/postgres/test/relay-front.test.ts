import t from "tap";
import { createFront, lateFor, wholeLookEach } from "../src/relay-front.ts";

/** A front by a clock that the test sets. */
function front() {
  let now = 0;
  const made = createFront(() => now);
  return { ...made, at: (milliseconds: number) => ((now = milliseconds), made.next()) };
}

void t.test("a row that was delivered is passed by from a second on, two at the latest", (t) => {
  const { at, passed } = front();
  at(0);
  passed([3, 7, 5]);
  passed([]);
  t.equal(at(1), 0);
  t.equal(at(lateFor - 1), 0, "a look at all, it is due");
  t.equal(at(lateFor), 0, "delivered less than a second before, for all that is known");
  passed([9]);
  at(2 * lateFor);
  t.equal(at(2 * lateFor + 1), 7);
  at(3 * lateFor);
  t.equal(at(3 * lateFor + 1), 9);
  t.end();
});

void t.test("all rows are looked through each 100 ms, whatever was passed by", (t) => {
  const { at, passed } = front();
  at(0);
  passed([7]);
  at(lateFor);
  t.equal(at(2 * lateFor), 0);
  t.equal(at(2 * lateFor + wholeLookEach - 1), 7);
  t.equal(at(2 * lateFor + wholeLookEach), 0);
  t.equal(at(2 * lateFor + wholeLookEach + 1), 7);
  t.end();
});
