import { createCipheriv, createHash, createPublicKey, diffieHellman } from "node:crypto";
import { bytes, flip, keyPair, uuid, type VectorKeyPair } from "./material.ts";
import type { SealedVector, VectorFile } from "./shapes.ts";

const recipient = keyPair("recipient");
const ephemeral = keyPair("ephemeral");
const context = `coffer/v1/fk/${uuid("folder")}`;
const plaintext = bytes("folder key", 32);

interface Recipe {
  header?: Record<string, unknown>;
  to?: VectorKeyPair;
  epk?: object;
  content?: Buffer;
}

/** Concat KDF of RFC 7518 §4.6.2 for a 256-bit key; one round is enough. */
function agreedKey(to: VectorKeyPair, algorithm: string, apu = "", apv = ""): Buffer {
  const publicKey = createPublicKey({ key: to.spki, format: "der", type: "spki" });
  const shared = diffieHellman({ privateKey: ephemeral.privateKey, publicKey });
  const field = (value: Buffer): Buffer => Buffer.concat([uint32(value.length), value]);
  const names = [apu, apv].map((name) => field(Buffer.from(name, "base64url")));
  const otherInfo = [field(Buffer.from(algorithm)), ...names, uint32(256)];
  return createHash("sha256")
    .update(Buffer.concat([uint32(1), shared, ...otherInfo]))
    .digest();
}

function uint32(value: number): Buffer {
  const written = Buffer.alloc(4);
  written.writeUInt32BE(value);
  return written;
}

/** A compact JWE put together from Node's primitives. */
export function jwe(recipe: Recipe = {}): string[] {
  const { header = { ctx: context }, to = recipient, epk = ephemeral.jwk, content = plaintext } = recipe;
  const { alg = "ECDH-ES+A256KW", enc = "A256GCM", ...rest } = header;
  const written = Buffer.from(JSON.stringify({ alg, enc, ...rest, epk })).toString("base64url");
  const contentKey = alg === "ECDH-ES" ? agreedKey(to, "A256GCM") : bytes("content key", 32);
  const names = [header["apu"], header["apv"]].map((name) => (typeof name === "string" ? name : ""));
  const wrap = createCipheriv("id-aes256-wrap", agreedKey(to, "ECDH-ES+A256KW", ...names), Buffer.alloc(8, 0xa6));
  const encryptedKey = alg === "ECDH-ES" ? Buffer.alloc(0) : Buffer.concat([wrap.update(contentKey), wrap.final()]);
  const iv = bytes("content iv", 12);
  const cipher = createCipheriv("aes-256-gcm", contentKey, iv).setAAD(Buffer.from(written));
  const ciphertext = Buffer.concat([cipher.update(content), cipher.final()]);
  const binary = [encryptedKey, iv, ciphertext, cipher.getAuthTag()];
  return [written, ...binary.map((part) => part.toString("base64url"))];
}

function opens(name: string, header: Record<string, unknown>, ctx: string): SealedVector {
  const sealed = jwe({ header: { ...header, ctx } }).join(".");
  const given = { name, error: null, private_key: recipient.pkcs8.toString("base64"), context: ctx, sealed };
  return { ...given, plaintext: plaintext.toString("hex") };
}

function refused(name: string, parts: string[], change: Partial<SealedVector> = {}): SealedVector {
  const given = { name, private_key: recipient.pkcs8.toString("base64"), context, sealed: parts.join(".") };
  return { ...given, error: "decryption_failed", plaintext: null, ...change };
}

function changed(parts: string[], index: number): string[] {
  return parts.map((part, at) =>
    at === index ? flip(Buffer.from(part, "base64url"), -1).toString("base64url") : part,
  );
}

/** Values sealed to a P-256 key, and values that must not open. */
export function sealedVectors(): VectorFile<SealedVector> {
  const good = jwe();
  const offCurve = { ...ephemeral.jwk, y: flip(Buffer.from(ephemeral.jwk.y, "base64url"), -1).toString("base64url") };
  const mismatch: Partial<SealedVector> = { error: "context_mismatch" };
  const notOurs: Partial<SealedVector> = { private_key: keyPair("somebody else").pkcs8.toString("base64") };
  const noKey: Partial<SealedVector> = { error: "invalid_key", private_key: recipient.spki.toString("base64") };
  return {
    about: "Sealed to a public key: compact JWE, ECDH-ES+A256KW, A256GCM, the context as ctx in the protected header",
    vectors: [
      opens("a folder key", {}, context),
      opens("a vault key", {}, `coffer/v1/vault-key/${uuid("vault")}`),
      opens("further members of the header are ignored", { kid: "1" }, context),
      refused("the context of another folder", jwe({ header: { ctx: `coffer/v1/fk/${uuid("another")}` } }), mismatch),
      refused("no context", jwe({ header: {} }), mismatch),
      refused("a context in a list", jwe({ header: { ctx: [context] } }), mismatch),
      refused("another recipient", good, notOurs),
      refused("sealed to somebody else", jwe({ to: keyPair("somebody else") })),
      refused("a changed header", [
        Buffer.from(`${Buffer.from(good[0] ?? "", "base64url").toString()} `).toString("base64url"),
        ...good.slice(1),
      ]),
      refused("a changed key", changed(good, 1)),
      refused("a changed nonce", changed(good, 2)),
      refused("a changed ciphertext", changed(good, 3)),
      refused("a changed tag", changed(good, 4)),
      refused("direct key agreement", jwe({ header: { alg: "ECDH-ES", ctx: context } })),
      refused("another content encryption", jwe({ header: { enc: "A128GCM", ctx: context } })),
      refused("compression", jwe({ header: { zip: "DEF", ctx: context } })),
      refused("a name of the sender", jwe({ header: { apu: "QWxpY2U", ctx: context } })),
      refused("a name of the recipient", jwe({ header: { apv: "Qm9i", ctx: context } })),
      refused("an extension that must be understood", jwe({ header: { crit: ["exp"], exp: 1, ctx: context } })),
      refused("an ephemeral key that is not on the curve", jwe({ epk: offCurve })),
      refused("an ephemeral key of another curve", jwe({ epk: { ...ephemeral.jwk, crv: "P-384" } })),
      refused("four parts", good.slice(0, 4)),
      refused("six parts", [...good, ""]),
      refused("no parts", [""]),
      refused("a public key in place of the private one", good, noKey),
    ],
  };
}
