import { randomUUID } from "node:crypto";
import t from "tap";
import type { Batch } from "../../src/delivery/batch.ts";
import { batchOf, bodyOf } from "../../src/delivery/batch.ts";
import type { FormatTarget } from "../../src/formats/format.ts";
import { formatterOf } from "../../src/formats/formats.ts";
import type { BacklogRecord } from "../../src/store/deliveries.ts";
import { draftOf } from "../delivery/draft.ts";

/** The limits of docs/siem.md. */
const mostBytes = 512_000;
const formats = [
  { format: "hec", mostRecords: 500 },
  { format: "log_analytics", mostRecords: 500 },
  { format: "logs_intake", mostRecords: 500 },
  { format: "ecs", mostRecords: 200 },
] as const;

const target = {
  url: "https://siem.example/",
  credentials: { token: "t", index: "größe", api_key: "k", service: "größe", tags: "größe" },
  hostName: "coffer.test",
  now: () => new Date(),
} as unknown as FormatTarget<never>; // the credentials of each format

/** A record whose user agent is `text`. */
function recordOf(seq: number, text = "", given: Partial<BacklogRecord> = {}): BacklogRecord {
  const record = { ...draftOf(randomUUID(), { source: { ip: null, user_agent: text } }), seq };
  return { seq, seconds: "1795168800.123456", isOwn: false, text: JSON.stringify(record), ...given };
}

function batch(format: (typeof formats)[number]["format"], backlog: readonly BacklogRecord[]): Batch {
  const made = batchOf(backlog, formatterOf(format), target);
  if (made === null) throw new Error("there are records");
  return made;
}

for (const { format, mostRecords } of formats) {
  await t.test(`${format}: a batch has ${mostRecords} records, and not one more`, (t) => {
    const backlog = Array.from({ length: mostRecords + 1 }, (_, at) => recordOf(at + 1));
    const { items, last } = batch(format, backlog);
    t.equal(items.length, mostRecords);
    t.equal(last, mostRecords);
    t.equal(batch(format, backlog.slice(0, -1)).last, mostRecords);
    t.end();
  });

  for (const [name, filler] of Object.entries({ ASCII: "x", "two bytes": "é", "three bytes": "€", "four bytes": "🔒" }))
    await t.test(`${format}: a body has ${mostBytes} bytes at most, to the byte, of characters of ${name}`, (t) => {
      const many = Math.floor(15_000 / Buffer.byteLength(filler));
      const backlog = Array.from({ length: 30 }, (_, at) => recordOf(at + 1, filler.repeat(many)));
      const left = mostBytes - batch(format, backlog).body.length;
      t.ok(left > 1_000, `${left} bytes are left`);
      const whole = Math.floor(left / Buffer.byteLength(filler));
      const text = filler.repeat(many + whole) + "x".repeat(left - whole * Buffer.byteLength(filler));
      const full = batch(format, [...backlog.slice(0, -1), recordOf(30, text)]);
      t.equal(full.body.length, mostBytes);
      t.match({ count: full.items.length, last: full.last }, { count: 30, last: 30 });
      const over = batch(format, [...backlog.slice(0, -1), recordOf(30, `${text}x`)]);
      t.match({ count: over.items.length, last: over.last }, { count: 29, last: 29 });
      t.equal(over.body.length, batch(format, backlog.slice(0, -1)).body.length, "nothing of the one that is left out");
      t.end();
    });

  await t.test(`${format}: a record that is too large alone is a batch by itself`, (t) => {
    const large = recordOf(2, "€".repeat(200_000));
    const backlog = [recordOf(1), large, recordOf(3)];
    t.same(batch(format, backlog).last, 1);
    const alone = batch(format, backlog.slice(1));
    t.match({ count: alone.items.length, last: alone.last }, { count: 1, last: 2 });
    t.ok(alone.body.length > 600_000);
    t.ok(alone.body.includes("€".repeat(200_000)));
    t.end();
  });

  await t.test(`${format}: a part of a batch has the body that its records have as a batch`, (t) => {
    const backlog = ["a", "é🔒", "", "ccc", "\u2028"].map((text, at) => recordOf(at + 1, text));
    const whole = batch(format, backlog);
    const { frame } = formatterOf(format);
    for (let from = 0; from < backlog.length; from += 1)
      for (let to = from + 1; to <= backlog.length; to += 1)
        t.equal(
          bodyOf(whole, frame, whole.items.slice(from, to)).toString(),
          batch(format, backlog.slice(from, to)).body.toString(),
          `${from} to ${to}`,
        );
    t.end();
  });
}

await t.test("records about the endpoint itself are settled and not sent", (t) => {
  const backlog = [true, false, true, true, false, true].map((isOwn, at) => recordOf(at + 1, "", { isOwn }));
  const { items, last } = batch("hec", backlog);
  t.same(
    items.map(({ through }) => through),
    [4, 6],
  );
  t.equal(last, 6);
  t.match(batch("hec", backlog.slice(0, 1)), { items: [], last: 1 });
  t.equal(batchOf([], formatterOf("hec"), target), null);
  t.end();
});
