import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { errorOfAnswer } from "../../src/http/answer-error.ts";

const secondsOf = (value: string): number | undefined =>
  errorOfAnswer(new Response(null, { status: 429, headers: { "retry-after": value } }), undefined).retryAfterSeconds;

await t.test("Retry-After is read in both forms, and anything else is a time to wait or none", (t) => {
  const given = fc.oneof(
    fc.string({ unit: "grapheme-ascii" }),
    fc.double().map(String),
    fc.bigInt().map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  );
  const any = fc.property(given, (value) => {
    const seconds = secondsOf(value);
    assert.ok(seconds === undefined || (Number.isSafeInteger(seconds) && seconds >= 0), String(seconds));
  });
  const number = fc.property(fc.nat(999_999_999), (count) => assert.equal(secondsOf(String(count)), count));
  const date = fc.property(fc.integer({ min: 2, max: 86_400 }), (ahead) => {
    const seconds = secondsOf(new Date(Date.now() + ahead * 1000).toUTCString()) ?? 0;
    assert.ok(seconds <= ahead && seconds >= ahead - 2, `${seconds} for ${ahead}`);
  });
  for (const property of [any, number, date]) fc.assert(property as fc.IProperty<unknown>, { numRuns: 300 });
  t.pass();
  t.end();
});
