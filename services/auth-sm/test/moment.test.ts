import t from "tap";
import { momentAfter, momentOf } from "../src/moment.ts";

const now = new Date("2026-11-20T10:00:00.123Z");

void t.test("a moment has microseconds", (t) => {
  t.equal(momentOf(now), "2026-11-20T10:00:00.123000Z");
  t.end();
});

void t.test("a change is at its moment, or just after the one before", (t) => {
  for (const [previous, expected] of [
    ["2026-11-20T10:00:00.122999Z", "2026-11-20T10:00:00.123000Z"],
    ["2026-11-20T10:00:00.123000Z", "2026-11-20T10:00:00.123001Z"],
    ["2026-11-20T10:00:00.123009Z", "2026-11-20T10:00:00.123010Z"],
    ["2026-11-20T10:00:00.123999Z", "2026-11-20T10:00:00.124000Z"],
    ["2026-12-31T23:59:59.999999Z", "2027-01-01T00:00:00.000000Z"],
    ["2027-01-01T00:00:00.000000Z", "2027-01-01T00:00:00.000001Z"],
    ["2026-11-19T10:00:00.999999Z", "2026-11-20T10:00:00.123000Z"],
  ] as const) {
    t.equal(momentAfter(previous, now), expected, previous);
  }
  t.end();
});
