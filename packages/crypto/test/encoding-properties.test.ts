import assert from "node:assert/strict";
import { brokenText, hostileText } from "@coffer/testkit/hostile-text";
import fc from "fast-check";
import t from "tap";
import {
  box,
  contexts,
  CryptoError,
  decodeBase64,
  decodeBase64Url,
  decodeRecord,
  decodeSecret,
  encodeBase64,
  encodeBase64Url,
  encodeRecord,
  encodeSecret,
  newKey,
  newKeyPair,
  newSecretUid,
  openSealed,
  readAccessToken,
  readInviteToken,
  readRecoveryKey,
  seal,
  unbox,
  unboxBound,
} from "../src/index.ts";

const bytes = fc.uint8Array({ maxLength: 70 });
const codecs = [
  { name: "base64", encode: encodeBase64, decode: decodeBase64 },
  { name: "base64url", encode: encodeBase64Url, decode: decodeBase64Url },
] as const;

for (const { name, encode, decode } of codecs)
  await t.test(`${name} is that of Node, and each sequence of bytes has one text`, (t) => {
    const same = fc.property(bytes, (each) => {
      const text = Buffer.from(each).toString(name);
      assert.equal(encode(each), text);
      assert.deepEqual(Array.from(decode(text)), Array.from(each));
    });
    const oddity = fc.oneof(fc.constantFrom("=", "==", "A", "-", "_", "+", "/", "\n", " "), brokenText);
    const strict = fc.property(bytes, oddity, fc.nat(100), (each, odd, at) => {
      const text = encode(each);
      const changed = text.slice(0, at) + odd + text.slice(at + odd.length);
      try {
        assert.equal(encode(decode(changed)), changed);
      } catch (error) {
        if (!(error instanceof CryptoError)) throw error;
      }
    });
    fc.assert(same, { numRuns: 300 });
    fc.assert(strict, { numRuns: 1000 });
    t.pass();
    t.end();
  });

/** All names and values, however deep. */
const textsOf = (value: unknown): string[] =>
  typeof value === "string"
    ? [value]
    : Object.entries(value as object).flatMap(([key, each]) => [key, ...textsOf(each)]);

await t.test("a payload comes back as it was, or is refused before it is encrypted", (t) => {
  const fields = fc.dictionary(brokenText, brokenText, { maxKeys: 4, noNullPrototype: true });
  const isText = (payload: object): boolean => textsOf(payload).every((text) => text.isWellFormed());
  const property = fc.property(brokenText, fields, (name, texts) => {
    const [secret, record] = [
      { name, fields: texts },
      { ...texts, name },
    ];
    if (isText(secret)) assert.deepEqual(decodeSecret(encodeSecret(secret)), secret);
    else assert.throws(() => encodeSecret(secret), { code: "invalid_input" });
    if (isText(record)) assert.deepEqual(decodeRecord(encodeRecord(record)), record);
    else assert.throws(() => encodeRecord(record), { code: "invalid_input" });
  });
  fc.assert(property, { numRuns: 300 });
  t.pass();
  t.end();
});

await t.test("bytes that are no payload are refused with an error of this package", (t) => {
  const json = fc.json().map((text) => new TextEncoder().encode(text));
  const property = fc.property(fc.oneof(bytes, json), (each) => {
    for (const decode of [decodeSecret, decodeRecord])
      try {
        decode(each);
      } catch (error) {
        assert.ok(error instanceof CryptoError);
        assert.equal(error.code, "invalid_plaintext");
      }
  });
  fc.assert(property, { numRuns: 300 });
  t.pass();
  t.end();
});

await t.test("a box opens to its plaintext, and with any bit changed, cut off or added it does not", async (t) => {
  const key = newKey();
  const context = contexts.data(newSecretUid());
  const property = fc.asyncProperty(
    bytes,
    fc.nat(),
    fc.integer({ min: 1, max: 255 }),
    async (plaintext, place, change) => {
      const text = await box(key, plaintext, context);
      const whole = decodeBase64(text);
      const changed = whole.map((byte, at) => (at === place % whole.length ? byte ^ change : byte));
      const others = [changed, whole.subarray(0, place % whole.length), Uint8Array.of(...whole, change)];
      for (const open of [unbox, unboxBound]) {
        assert.deepEqual(Array.from(await open(key, text, context)), Array.from(plaintext));
        for (const other of others)
          await assert.rejects(open(key, encodeBase64(other), context), { code: "decryption_failed" });
        await assert.rejects(open(newKey(), text, context), { code: "decryption_failed" });
      }
    },
  );
  await fc.assert(property, { numRuns: 40 });
  t.pass();
});

/** The header as text, which is authenticated as such, and the bytes of the other parts. */
const bytesOf = (sealed: string): string =>
  sealed
    .split(".")
    .map((part, index) => (index === 0 ? part : Buffer.from(part, "base64url").toString("hex")))
    .join(".");

await t.test("a sealed value opens for its key and context, and with any character changed it does not", async (t) => {
  const { publicKey, privateKey } = await newKeyPair();
  const context = contexts.data(newSecretUid());
  const character = fc.constantFrom("A", "Q", "g", "w", "0", "9", "-", "_", ".", "~", "=", " ");
  const property = fc.asyncProperty(bytes, fc.nat(), character, async (plaintext, place, other) => {
    const sealed = await seal(publicKey, plaintext, context);
    assert.deepEqual(Array.from(await openSealed(privateKey, sealed, context)), Array.from(plaintext));
    const at = place % sealed.length;
    const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
    // The last character of a part has bits that no byte holds.
    if (bytesOf(changed) !== bytesOf(sealed))
      await assert.rejects(openSealed(privateKey, changed, context), CryptoError);
    await assert.rejects(openSealed(privateKey, sealed, contexts.data(newSecretUid())), { code: "context_mismatch" });
  });
  await fc.assert(property, { numRuns: 40 });
  t.pass();
});

await t.test("a token or recovery key is its prefix and 43 characters, and no other text is one", async (t) => {
  const readers = [
    { prefix: "cft1_", read: readAccessToken },
    { prefix: "cfi1_", read: readInviteToken },
    { prefix: "cfr1_", read: readRecoveryKey },
  ];
  const seed = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((each) => Buffer.from(each).toString("base64url"));
  const property = fc.asyncProperty(
    fc.constantFrom(...readers),
    seed,
    hostileText,
    async ({ prefix, read }, text, odd) => {
      await read(prefix + text);
      for (const other of [
        odd,
        prefix + odd,
        text,
        `${prefix}${text}=`,
        ` ${prefix}${text}`,
        `${prefix.toUpperCase()}${text}`,
      ])
        await assert.rejects(read(other), CryptoError);
    },
  );
  await fc.assert(property, { numRuns: 50 });
  t.pass();
});
