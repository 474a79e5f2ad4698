import { randomBytes } from "node:crypto";
import t from "tap";
import { createSealer } from "../../src/credentials/seal.ts";

const key = (): string => randomBytes(32).toString("base64url");

void t.test("what the first key has sealed, all keys that follow it open, for the same context only", (t) => {
  const [old, fresh] = [key(), key()];
  const sealed = createSealer([old]).seal("credentials ü", "endpoint");
  t.equal(createSealer([old]).open(sealed, "endpoint"), "credentials ü");
  t.equal(createSealer([fresh, old]).open(sealed, "endpoint"), "credentials ü");
  t.equal(createSealer([fresh]).open(sealed, "endpoint"), null, "its key is gone");
  t.equal(createSealer([old]).open(sealed, "another"), null, "moved to another endpoint");
  t.ok(sealed.startsWith(createSealer([old, fresh]).currentPrefix));
  t.notOk(sealed.startsWith(createSealer([fresh, old]).currentPrefix));
  t.end();
});

void t.test("a sealed text is never twice the same, and a changed one does not open", (t) => {
  const sealer = createSealer([key()]);
  const sealed = sealer.seal("credentials", "endpoint");
  t.not(sealed, sealer.seal("credentials", "endpoint"));
  const body = sealed.slice(sealer.currentPrefix.length);
  const bytes = Buffer.from(body, "base64url");
  for (const at of bytes.keys()) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    t.equal(sealer.open(sealer.currentPrefix + changed.toString("base64url"), "endpoint"), null, `byte ${at}`);
  }
  for (const text of ["", "v1", sealer.currentPrefix, `v2${sealed.slice(2)}`, `${sealer.currentPrefix}AAAA`])
    t.equal(sealer.open(text, "endpoint"), null, text);
  t.throws(() => createSealer([]), TypeError);
  t.end();
});
