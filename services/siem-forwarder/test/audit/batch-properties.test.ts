import assert from "node:assert/strict";
import { siemFormats } from "@coffer/contract";
import { auditDraft } from "@coffer/events";
import { brokenText } from "@coffer/testkit/hostile-text";
import fc from "fast-check";
import t from "tap";
import { batchOf, bodyOf } from "../../src/delivery/batch.ts";
import type { Answer } from "../../src/outgoing/channel.ts";
import { retryAfterOf } from "../../src/formats/format.ts";
import { formatterOf } from "../../src/formats/formats.ts";
import { draftOf } from "../delivery/draft.ts";

type Format = (typeof siemFormats)[number];

/** What each receiver makes of a body: the stored record, or for ecs what names it. */
const records: Readonly<Record<Format, (body: string) => unknown[]>> = {
  hec: (body) => body.split("\n").map((line) => (JSON.parse(line) as { event: unknown }).event),
  log_analytics: (body) => (JSON.parse(body) as { Record: unknown }[]).map(({ Record }) => Record),
  logs_intake: (body) => (JSON.parse(body) as { coffer: unknown }[]).map(({ coffer }) => coffer),
  ecs: (body) => {
    const lines = body.split("\n");
    assert.equal(lines.pop(), "", "the bulk API needs a line break at the end");
    const parsed = lines.map((line) => JSON.parse(line) as Record<string, never>);
    return parsed.filter((_, index) => index % 2 === 1);
  },
};

const draft = fc
  .record({
    agent: fc.option(brokenText),
    type: brokenText,
    id: brokenText,
    reason: brokenText,
    changes: fc.dictionary(brokenText, brokenText, { maxKeys: 3, noNullPrototype: true }),
  })
  .map(({ agent, type, id, reason, changes }) =>
    auditDraft.parse(
      draftOf("an org", {
        target: { type, id: `${id.toWellFormed().slice(0, 99)}.` },
        source: { ip: null, user_agent: agent },
        reason: reason.slice(0, 99),
        changes,
      }),
    ),
  );
const name = brokenText.map((text) => text.toWellFormed());

for (const format of siemFormats)
  await t.test(`${format}: one record stays one record, and reads back, also in a part of a batch`, (t) => {
    const drafts = fc.array(draft, { minLength: 1, maxLength: 5 });
    const property = fc.property(drafts, name, name, fc.nat(), (all, hostName, tag, place) => {
      const backlog = all.map((each, index) => ({
        seq: index + 1,
        seconds: "1795168800.123456",
        text: JSON.stringify(each),
        isOwn: false,
      }));
      const formatter = formatterOf(format);
      const credentials = { service: tag, tags: tag, sourcetype: tag, index: tag };
      const target = { url: "https://siem.example", hostName, credentials, now: () => new Date(0) };
      const batch = batchOf(backlog, formatter, target as never); // `formatterOf` wants credentials that were checked
      if (batch === null) throw new Error("a batch was made");
      const from = place % all.length;
      const cut = bodyOf(batch, formatter.frame, batch.items.slice(from));
      for (const [body, expected] of [
        [batch.body, all],
        [cut, all.slice(from)],
      ] as const) {
        const read = records[format](body.toString());
        if (format !== "ecs")
          assert.deepEqual(
            read,
            expected.map((each) => JSON.parse(JSON.stringify(each)) as unknown),
          );
        else
          for (const [index, each] of expected.entries()) {
            const { event, user_agent, coffer } = read[index] as {
              event: { id: string };
              user_agent?: { original: string };
              coffer: { target: object };
            };
            assert.deepEqual(
              [event.id, user_agent?.original ?? null, coffer.target],
              [each.id, each.source.user_agent, each.target],
            );
          }
        assert.equal(read.length, expected.length);
      }
    });
    fc.assert(property, { numRuns: 100 });
    t.pass();
    t.end();
  });

await t.test("Retry-After of a receiver is a wait of at most an hour, or none", (t) => {
  const given = fc.oneof(
    brokenText,
    fc.bigInt().map(String),
    fc.double().map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  );
  const property = fc.property(given, (value) => {
    const answer: Pick<Answer, "headers"> = { headers: { "retry-after": value } };
    const seconds = retryAfterOf(answer as Answer, new Date());
    assert.ok(seconds === undefined || (Number.isInteger(seconds) && seconds >= 0 && seconds <= 3600));
    if (/^\d{1,3}$/.test(value)) assert.equal(seconds, Number(value));
  });
  fc.assert(property, { numRuns: 500 });
  t.pass();
  t.end();
});
