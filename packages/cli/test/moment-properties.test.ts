import assert from "node:assert/strict";
import { brokenText } from "@coffer/testkit/hostile-text";
import fc from "fast-check";
import t from "tap";
import { momentAfter, momentBefore } from "../src/input/moment.ts";

const now = Date.parse("2026-11-28T12:00:00Z");
const digits = (most: number) => fc.nat(most).map((number) => String(number).padStart(2, "0"));

await t.test("a written day is the same day, or no time", (t) => {
  const isDay = (year: number, month: number, day: number): boolean => {
    const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
    const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    return day >= 1 && day <= (days[month - 1] ?? 0);
  };
  const time = fc.constantFrom("", "T00:00Z", "T23:59:59Z", "T12:00:00.123456Z");
  const property = fc.property(
    fc.integer({ min: 1000, max: 9999 }),
    digits(14),
    digits(33),
    time,
    (year, month, day, rest) => {
      const written = `${year}-${month}-${day}`;
      if (isDay(year, Number(month), Number(day))) assert.ok(momentAfter(now, written + rest).startsWith(written));
      else assert.throws(() => momentAfter(now, written + rest), { exitCode: 2 });
    },
  );
  fc.assert(property, { numRuns: 500 });
  t.pass();
  t.end();
});

await t.test("a span is as long before as after, and every other text is refused as wrong usage", (t) => {
  const milliseconds = { m: 60_000, h: 3_600_000, d: 86_400_000 };
  const span = fc.property(fc.nat(99_999), fc.constantFrom("m", "h", "d"), (count, unit) => {
    const apart = count * milliseconds[unit];
    assert.equal(Date.parse(momentAfter(now, `${count}${unit}`)), now + apart);
    assert.equal(Date.parse(momentBefore(now, `${count}${unit}`)), now - apart);
  });
  fc.assert(span, { numRuns: 100 });
  fc.assert(
    fc.property(brokenText, (text) => assert.throws(() => momentAfter(now, text), { exitCode: 2 })),
    { numRuns: 300 },
  );
  t.pass();
  t.end();
});
