import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AuditRecord, firstPreviousHash, verifyAuditChain } from "@coffer/events";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { newPerson } from "./cli-person.ts";
import { npmStart, until } from "../npm-start.ts";

const env = { COFFER_LIMIT_STRICT: "1000", COFFER_LIMIT_USER: "10000" };
const { url } = await npmStart(t, { directory: testDirectory(t), env }).ready;
const alice = await newPerson(t, url, "alice@example.com");
const file = join(alice.home, "audit.jsonl");
const table = join(alice.home, "audit.csv");

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");
const recordsIn = (text: string): AuditRecord[] => lines(text).map((line) => JSON.parse(line) as AuditRecord);

/** Makes a folder, and waits until it is audited. */
async function makeFolder(name: string): Promise<void> {
  const count = async (): Promise<number> =>
    recordsIn(await alice.data(["audit", "export", "--action", "folder.created"])).length;
  const before = await count();
  await alice.data(["folder", "create", name]);
  await until(async () => (await count()) > before);
}

await t.test("everything is exported, as it is in the chain", async (t) => {
  await makeFolder("one");
  const outcome = await alice.run(["audit", "export", "--out", file]);
  t.match(outcome, { code: 0, stdout: "", stderr: /exported \d+ records to/ });
  t.equal(statSync(file).mode & 0o777, 0o600);
  const records = recordsIn(readFileSync(file, "utf8"));
  t.same(
    records.map(({ seq }) => seq),
    records.map((_, at) => at + 1),
  );
  const { seq, hash } = records.at(-1) ?? { seq: 0, hash: "" };
  t.same(verifyAuditChain({ seq: 0, hash: firstPreviousHash }, records), { seq, hash }, "the file can be verified");
});

await t.test("a resumed export continues after the last complete line, also after a kill", async (t) => {
  await makeFolder("two");
  appendFileSync(file, '{"seq":99999,"hash":"cut o');
  t.match(await alice.run(["audit", "export", "--out", file, "--resume"]), { code: 0 });
  const records = recordsIn(readFileSync(file, "utf8"));
  t.same(
    records.map(({ seq }) => seq),
    records.map((_, at) => at + 1),
  );
  t.equal(records.at(-1)?.action, "folder.created");
  const before = readFileSync(file, "utf8");
  t.match(await alice.run(["audit", "export", "--out", file, "--resume"]), { stderr: /exported 0 records/ });
  t.equal(readFileSync(file, "utf8"), before);
});

await t.test("CSV has one heading, and can be resumed too", async (t) => {
  const csv = ["audit", "export", "--format", "csv", "--out", table];
  t.match(await alice.run([...csv, "--action", "folder.created"]), { code: 0, stderr: /exported 2 records/ });
  await makeFolder("three");
  appendFileSync(table, '12,"cut');
  t.match(await alice.run([...csv, "--action", "folder.created", "--resume"]), {
    code: 0,
    stderr: /exported 1 record /,
  });
  const [heading = "", ...rows] = lines(readFileSync(table, "utf8"));
  t.match(heading, /^"seq","time","action"/);
  t.equal(rows.length, 3);
  for (const row of rows) t.match(row, /^\d+,"[^"]+","folder\.created","success"/);
  writeFileSync(table, `${heading}\n`);
  t.match(await alice.run([...csv, "--resume"]), { code: 0 });
  t.ok(lines(readFileSync(table, "utf8")).length > 4, "a heading alone is an export of nothing");
});

await t.test("to stdout, behind a place, and with the filters of a list", async (t) => {
  const all = recordsIn(await alice.data(["audit", "export"]));
  t.same(recordsIn(await alice.data(["audit", "export", "--after", "2"])), all.slice(2));
  t.same(recordsIn(await alice.data(["audit", "export", "--outcome", "denied"])), []);
  t.match(await alice.data(["audit", "export", "--format", "csv", "--after", String(all.length)]), /^"seq"[^\n]*$/);
});

await t.test("an impossible export is reported, and changes no file", async (t) => {
  const before = readFileSync(file, "utf8");
  const wrong: [args: string[], message: RegExp][] = [
    [["--out", file], /exists already: continue it with --resume/],
    [["--resume"], /--resume goes on with the file of --out/],
    [["--out", file, "--resume", "--after", "1"], /take --resume or --after/],
    [["--after", "x"], /--after is the seq/],
    [["--action", "secret.rad"], /there is no action secret.rad: the closest are .*secret\.read/],
    [["--actor", "alice@example.com"], /--actor is an id/],
    [["--out", file, "--resume", "--format", "csv"], /is no export in the format csv/],
    [["--out", join(alice.home, "none"), "--resume"], /none cannot be written: ENOENT/],
    [["--out", join(alice.home, "none", "x")], /cannot be written: ENOENT/],
  ];
  for (const [args, message] of wrong) {
    const { code, stderr } = await alice.run(["audit", "export", ...args]);
    t.equal(code, 2, args.join(" "));
    t.match(stderr, message);
  }
  t.equal(readFileSync(file, "utf8"), before);
});
