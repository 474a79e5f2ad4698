import { box, contexts, encodeRecord, newId, newKey } from "@coffer/crypto";
import t from "tap";
import { importContents, type PlainRecord, readImport } from "../src/index.ts";
import { bytesOf } from "./records.ts";

/** The service's limit of a record, in characters. */
const most = 256 * 1024;

await t.test("an item is left out when it is larger than 256 KiB sealed, and not a byte before", async (t) => {
  const empty = encodeRecord({ name: "large", notes: "x" }).length - 1;
  const fits = (most / 4) * 3 - 29 - empty;
  for (const [length, count] of [
    [fits, 1],
    [fits + 1, 0],
  ] as const) {
    const file = { encrypted: false, items: [{ type: 2, name: "large", notes: "x".repeat(length) }] };
    const { records, leftOut } = await readImport(bytesOf(JSON.stringify(file)));
    t.equal(records.length, count);
    t.strictSame(leftOut, count === 1 ? [] : [{ kind: "item", item: "large", reason: "it is larger than 256 KiB" }]);
    const sealed = async ({ payload }: PlainRecord): Promise<number> =>
      (await box(newKey(), encodeRecord(payload), contexts.record(newId(), newId()))).length;
    for (const record of records) t.equal(await sealed(record), most, "the last that the service takes");
  }
});

await t.test("ten thousand items", async (t) => {
  const row = (index: number): string => `"n${index}",https://e${index}.example,u${index},"p""${index}","two\nlines"`;
  const rows = Array.from({ length: 10_000 }, (_, index) => row(index));
  const { records } = await readImport(bytesOf(["name,url,username,password,note", ...rows].join("\r\n")));
  t.equal(records.length, 10_000);
  t.strictSame(records[9_999]?.payload, {
    name: "n9999",
    username: "u9999",
    password: 'p"9999',
    uri: "https://e9999.example",
    notes: "two\nlines",
  });
  t.equal(new Set(importContents(records)).size, 10_000);
});

await t.test("the content of a record does not depend on its position or the order of its fields", (t) => {
  const record = (payload: Record<string, string>, type = "login"): PlainRecord => ({ type, payload });
  const [a, b] = [record({ name: "a", password: "1" }), record({ name: "b" })];
  const [contentA, contentB] = importContents([a, b]);
  t.strictSame(importContents([b, record({ password: "1", name: "a" })]), [contentB, contentA]);
  t.equal(importContents([record({ ...a.payload, original_updated_at: "2025-01-01T00:00:00Z" })])[0], contentA);
  const different = importContents([
    a,
    a,
    record({ ...a.payload, x: "" }),
    record(a.payload, "card"),
    record({ name: 'a","password":"1' }),
  ]);
  t.equal(new Set(different).size, 5, "also the second of two that are the same");
  t.end();
});
