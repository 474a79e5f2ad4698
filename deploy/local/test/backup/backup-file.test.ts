import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import t from "tap";
import type { DatabaseItem } from "@coffer/stores";
import { testDirectory } from "@coffer/testkit";
import { Readable } from "node:stream";
import { type BackupHeader, openBackup, writeBackup } from "../../src/backup/backup-file.ts";

const directory = testDirectory(t);
const header: BackupHeader = {
  coffer_backup: 1,
  version: "0.1.0",
  created_at: "2026-11-24T09:00:00.000Z",
  data_format: 3,
  first_ready_at: null,
  migrations: {},
};
const items: DatabaseItem[] = [
  { table: { schema: "one", name: "things", columns: ["id", "text"] } },
  ...Array.from({ length: 300 }, (_, n): DatabaseItem => ({ row: `(${n},"é\n${"x".repeat(n * 10)}")` })),
  { sequence: { schema: "one", name: "ids", value: "300", isCalled: true } },
];

async function open(path: string) {
  const file = openSync(path, "r");
  t.teardown(() => closeSync(file));
  return openBackup(file, path);
}

const whole = join(directory, "whole");
const output = openSync(whole, "wx", 0o600);
await t.test("a written backup can be read repeatedly", async (t) => {
  t.equal(await writeBackup(output, header, Readable.from(items)), 300);
  closeSync(output);
  const backup = await open(whole);
  t.strictSame([backup.header, backup.rows], [header, 300]);
  for (let time = 0; time < 2; time += 1) {
    const read: DatabaseItem[] = [];
    for await (const item of backup.items()) read.push(item);
    t.strictSame(read, items);
  }
});

await t.test("an incomplete backup is refused in one line", async (t) => {
  const bytes = readFileSync(whole);
  const lines = gunzipSync(bytes).toString().split("\n");
  const packed = (list: readonly string[]): Buffer => gzipSync(list.join("\n"));
  const noBackup = / is no backup of Coffer: npm run backup makes them$/;
  const damaged = / is damaged or not whole: take another backup$/;
  const cases: Record<string, [Buffer, RegExp]> = {
    empty: [Buffer.alloc(0), noBackup],
    text: [Buffer.from("hello\n"), noBackup],
    "a number": [gzipSync("5\n"), noBackup],
    "another file of JSON lines": [gzipSync('{"a": 1}\n{"end": {"rows": 0}}\n'), noBackup],
    "without a line end": [gzipSync("{"), noBackup],
    "cut off": [bytes.subarray(0, bytes.length - 20), damaged],
    changed: [Buffer.from(bytes.map((byte, at) => (at === bytes.length - 6 ? byte ^ 255 : byte))), damaged],
    "without its end": [packed([...lines.slice(0, -2), ""]), damaged],
    "without a row": [packed(lines.filter((_line, at) => at !== 10)), damaged],
    "with more after its end": [packed([...lines.slice(0, -1), lines[5] ?? "", ""]), damaged],
    "with a line that is no JSON": [packed(lines.with(10, "{")), damaged],
    newer: [
      packed(lines.with(0, JSON.stringify({ ...header, coffer_backup: 2 }))),
      /later version.*reads 1; restore it/,
    ],
  };
  for (const [name, [content, message]] of Object.entries(cases)) {
    const path = join(directory, name);
    writeFileSync(path, content);
    await t.rejects(open(path), { name: "StartupError", message }, name);
  }
  await t.rejects(open(directory), { name: "StartupError", message: noBackup });
});
