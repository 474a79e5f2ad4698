import { ServiceError } from "@coffer/errors";
import t from "tap";
import { canonicalPublicKey } from "../src/index.ts";
import { publicKeys } from "./vectors.ts";

const { vectors } = await publicKeys();

for (const { name, public_key: publicKey, canonical } of vectors) {
  void t.test(`${canonical === null ? "refuses" : "takes"} ${name}`, (t) => {
    if (canonical !== null) t.strictSame(canonicalPublicKey(publicKey), { spki: canonical });
    else t.throws(() => canonicalPublicKey(publicKey), { code: "invalid_request", details: [{ field: "public_key" }] });
    t.end();
  });
}

void t.test("the canonical form of the canonical form is itself", (t) => {
  for (const { canonical } of vectors) if (canonical !== null) t.equal(canonicalPublicKey(canonical).spki, canonical);
  t.end();
});

void t.test("a refusal does not quote the input", (t) => {
  const sent = "Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5";
  try {
    canonicalPublicKey(sent);
    t.fail("accepted");
  } catch (error) {
    t.ok(error instanceof ServiceError);
    t.notMatch(JSON.stringify(error) + String(error), sent);
  }
  t.end();
});

void t.test("a megabyte is refused", (t) => {
  t.throws(() => canonicalPublicKey("A".repeat(1 << 20)), { code: "invalid_request" });
  t.end();
});
