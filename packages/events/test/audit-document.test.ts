import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import t from "tap";
import { z } from "zod";
import { auditRecord, firstPreviousHash, hashOfAudit, verifyAuditChain } from "../src/index.ts";

const page = readFileSync(new URL("../../../docs/audit.md", import.meta.url), "utf8");

function blocks(language: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)\n\`\`\`$`, "gms"))].map(([, text = ""]) => text);
}

const [example = ""] = blocks("json");
const [canonical = "", printedHash = ""] = blocks("text");
const [program = ""] = blocks("js");
const records = z.array(auditRecord).parse(JSON.parse(example));

void t.test("the records in docs/audit.md are a valid chain", (t) => {
  t.equal(records.length, 2);
  t.same(verifyAuditChain({ seq: 0, hash: firstPreviousHash }, records), { seq: 2, hash: records[1]?.hash });
  t.end();
});

void t.test("the canonical line in docs/audit.md is what the first hash is over", (t) => {
  t.equal(createHash("sha256").update(canonical).digest("hex"), printedHash);
  const [first] = records;
  if (!first) throw new Error("the page has an example");
  t.equal(hashOfAudit(first), printedHash);
  const { hash, ...hashed } = first;
  t.equal(hash, printedHash);
  t.same(JSON.parse(canonical), hashed);
  t.end();
});

void t.test("the program in docs/audit.md verifies the example, and finds each change of it", (t) => {
  const run = (input: unknown) =>
    spawnSync(process.execPath, ["--input-type=module", "-e", program], {
      input: JSON.stringify(input),
      encoding: "utf8",
    });
  const whole = run(records);
  t.equal(whole.status, 0, whole.stderr);
  t.equal(whole.stdout, `whole up to 2: ${records[1]?.hash ?? ""}\n`);
  for (const broken of [records.toReversed(), records.slice(1), records.map((r) => ({ ...r, outcome: "denied" }))]) {
    const found = run(broken);
    t.equal(found.status, 1);
    t.match(found.stderr, /the chain breaks at \d/);
  }
  t.end();
});

void t.test("docs/audit.md names every field of a record", (t) => {
  for (const name of Object.keys(auditRecord.shape)) t.match(page, new RegExp(`^\\| \`${name}\` +\\|`, "m"), name);
  t.end();
});
