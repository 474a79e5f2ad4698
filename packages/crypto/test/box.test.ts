import t from "tap";
import { box, contexts, decodeBase64, encodeText, newKey, newSecretUid, unbox, unboxBound } from "../src/index.ts";

const uid = newSecretUid();
const context = contexts.data(uid);

void t.test("one plaintext is never boxed the same way twice", async (t) => {
  const key = newKey();
  const boxes = await Promise.all(Array.from({ length: 1000 }, () => box(key, encodeText("s3cret"), context)));
  const nonces = new Set(boxes.map((text) => decodeBase64(text).subarray(1, 13).join()));
  t.equal(nonces.size, 1000);
});

void t.test("the layout adds 29 bytes to any length, and opens", async (t) => {
  const key = newKey();
  for (const length of [0, 1, 15, 16, 17, 255, 65_536, 196_579]) {
    const plaintext = new Uint8Array(length).fill(7);
    const text = await box(key, plaintext, context);
    t.equal(decodeBase64(text).length, length + 29);
    t.strictSame(await unbox(key, text, context), plaintext, `${length} bytes`);
  }
});

void t.test("a part of a larger buffer is read as that part", async (t) => {
  const large = new Uint8Array(96).map((_, index) => index);
  const [key, plaintext] = [large.subarray(1, 33), large.subarray(40, 50)];
  const text = await box(key, plaintext, context);
  t.strictSame(await unboxBound(Uint8Array.from(key), text, context), Uint8Array.from(plaintext));
});

void t.test("two fields of one secret cannot be swapped", async (t) => {
  const key = newKey();
  const user = await box(key, encodeText("ada"), contexts.field(uid, "user"));
  await t.rejects(unbox(key, user, contexts.field(uid, "password")), { code: "decryption_failed" });
  await t.rejects(unboxBound(key, user, contexts.field(newSecretUid(), "user")), { code: "decryption_failed" });
});
