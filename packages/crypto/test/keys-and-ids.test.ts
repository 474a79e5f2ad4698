import { createHmac, generateKeyPairSync, hkdfSync } from "node:crypto";
import { importSPKI, jwtVerify } from "jose";
import t from "tap";
import {
  CryptoError,
  decodeBase64,
  decodeBase64Url,
  encodeBase64,
  encodeBase64Url,
  newId,
  newKey,
  newKeyPair,
  newSecretUid,
  publicKeyOf,
  signMachineToken,
  stableIds,
} from "../src/index.ts";

void t.test("the uid of a secret is 16 random bytes and never begins like an option", (t) => {
  const uids = Array.from({ length: 10_000 }, newSecretUid);
  t.equal(new Set(uids).size, uids.length);
  t.ok(uids.every((uid) => /^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/.test(uid) && decodeBase64Url(uid).length === 16));
  t.ok(
    uids.some((uid) => uid.includes("-")),
    "elsewhere the character is allowed",
  );
  t.end();
});

void t.test("an id is a UUID of version 7 that begins with its time", (t) => {
  const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  const timeOf = (id: string): number => parseInt(id.replace("-", "").slice(0, 12), 16);
  for (const now of [0, 65_535, 65_536, 1_800_000_000_123, 2 ** 48 - 1]) {
    t.match(newId(now), shape);
    t.equal(timeOf(newId(now)), now);
  }
  const before = Date.now();
  t.ok(timeOf(newId()) >= before);
  const ids = Array.from({ length: 10_000 }, () => newId(1));
  t.equal(new Set(ids).size, ids.length);
  t.end();
});

void t.test("a stable id follows from the key and the text, and is a UUID of version 8", async (t) => {
  const key = newKey();
  const ids = await stableIds(key, ["a", "b", "a", "ü"]);
  t.equal(ids[0], ids[2]);
  t.equal(new Set(ids).size, 3);
  t.ok(ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)));
  t.not((await stableIds(newKey(), ["a"]))[0], ids[0], "another key, another id");
  const own = Buffer.from(hkdfSync("sha256", key, "", "coffer/v1/stable-id", 32));
  const hex = createHmac("sha256", own).update("ü").digest("hex").slice(0, 32);
  t.match(ids[3]?.replaceAll("-", ""), new RegExp(`^${hex.slice(0, 12)}8${hex.slice(13, 16)}.${hex.slice(17)}$`));
  await t.rejects(stableIds(key.subarray(1), ["a"]), { code: "invalid_key" });
});

void t.test("keys are 32 random bytes", (t) => {
  const keys = Array.from({ length: 1000 }, newKey);
  t.ok(keys.every((key) => key.length === 32));
  t.equal(new Set(keys.map(String)).size, 1000);
  t.end();
});

void t.test("a key pair is a canonical SPKI and a PKCS#8 that leads back to it", async (t) => {
  const { publicKey, privateKey } = await newKeyPair();
  t.equal(decodeBase64(publicKey).length, 91);
  t.equal(await publicKeyOf(privateKey), publicKey);
});

void t.test("only the PKCS#8 of a P-256 key is a private key", async (t) => {
  const pkcs8 = (pair: { privateKey: { export: (format: { format: "der"; type: "pkcs8" }) => Buffer } }): Buffer =>
    pair.privateKey.export({ format: "der", type: "pkcs8" });
  const wrong = {
    "P-384": pkcs8(generateKeyPairSync("ec", { namedCurve: "P-384" })),
    secp256k1: pkcs8(generateKeyPairSync("ec", { namedCurve: "secp256k1" })),
    Ed25519: pkcs8(generateKeyPairSync("ed25519")),
    "its public key": Buffer.from((await newKeyPair()).publicKey, "base64"),
    nothing: new Uint8Array(0),
  };
  for (const [name, key] of Object.entries(wrong)) await t.rejects(publicKeyOf(key), { code: "invalid_key" }, name);
});

void t.test("another library accepts a machine's token, for five minutes", async (t) => {
  const { publicKey, privateKey } = await newKeyPair();
  const clientId = newId();
  const now = new Date("2026-11-20T10:00:00.999Z");
  const { token, expiresAt } = await signMachineToken({ clientId, privateKey, audience: "https://vault.example" }, now);
  const key = await importSPKI(`-----BEGIN PUBLIC KEY-----\n${publicKey}\n-----END PUBLIC KEY-----`, "ES256");
  const { payload, protectedHeader } = await jwtVerify(token, key, {
    currentDate: now,
    audience: "https://vault.example",
  });
  const issuedAt = Math.floor(now.getTime() / 1000);
  t.equal(expiresAt, issuedAt + 300);
  t.strictSame(protectedHeader, { alg: "ES256", typ: "JWT" });
  t.strictSame(payload, { sub: clientId, aud: "https://vault.example", iat: issuedAt, exp: expiresAt });
});

void t.test("base64 of every length is the standard form", (t) => {
  for (let length = 0; length < 200; length += 1) {
    const bytes = crypto.getRandomValues(new Uint8Array(length));
    t.equal(encodeBase64(bytes), Buffer.from(bytes).toString("base64"));
    t.equal(encodeBase64Url(bytes), Buffer.from(bytes).toString("base64url"));
    t.strictSame(decodeBase64(encodeBase64(bytes)), bytes);
    t.strictSame(decodeBase64Url(encodeBase64Url(bytes)), bytes);
  }
  for (const wrong of [
    "A",
    "AA",
    "AAA",
    "AA=",
    "AB==",
    "AAB=",
    "A===",
    "AA==AA==",
    "AAAA ",
    " AAAA",
    "AA\n==",
    "-_-_",
    "é===",
  ]) {
    t.throws(() => decodeBase64(wrong), CryptoError, JSON.stringify(wrong));
  }
  for (const wrong of ["A", "AA==", "AB", "AAB", "AAAA ", "+/+/", "AA\n"]) {
    t.throws(() => decodeBase64Url(wrong), CryptoError, JSON.stringify(wrong));
  }
  t.end();
});
