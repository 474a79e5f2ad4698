import { createHash, createPublicKey } from "node:crypto";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { p384 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { bytes, flip, keyPair, spkiHeader } from "./material.ts";
import type { PublicKeyVector, VectorFile } from "./shapes.ts";

const pair = keyPair("public key");
const ecPublicKey = Buffer.from("06072a8648ce3d0201", "hex");
const ecdh = Buffer.from("06052b8104010c", "hex");
const p256Name = Buffer.from("06082a8648ce3d030107", "hex");
const p384Name = Buffer.from("06052b81040022", "hex");
const secp256k1Name = Buffer.from("06052b8104000a", "hex");

/** DER: a tag, the length in the shortest form, the contents. */
function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const length = content.length < 128 ? [content.length] : [0x81, content.length];
  return Buffer.concat([Buffer.of(tag, ...length), content]);
}

function spki(algorithm: Buffer, parameters: Buffer, point: Buffer, unusedBits = 0): Buffer {
  return der(0x30, der(0x30, algorithm, parameters), der(0x03, Buffer.of(unusedBits), point));
}

/** P-256 written out (SEC 1, ECParameters) in place of its name. */
function explicitParameters(): Buffer {
  const integer = (hex: string): Buffer => der(0x02, Buffer.from(hex, "hex"));
  const octets = (hex: string): Buffer => der(0x04, Buffer.from(hex, "hex"));
  const prime = "00ffffffff00000001000000000000000000000000ffffffffffffffffffffffff";
  const a = "ffffffff00000001000000000000000000000000fffffffffffffffffffffffc";
  const b = "5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b";
  const generator =
    "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296" +
    "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";
  const order = "00ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
  const field = der(0x30, Buffer.from("06072a8648ce3d0101", "hex"), integer(prime));
  const curve = der(0x30, octets(a), octets(b));
  return der(0x30, integer("01"), field, curve, octets(generator), integer(order), integer("01"));
}

function compressed(point: Buffer): Buffer {
  return Buffer.concat([Buffer.of(2 + ((point[64] ?? 0) & 1)), point.subarray(1, 33)]);
}

/** The third form of SEC 1 / X9.62: uncompressed, with the sign bit set. */
function hybrid(point: Buffer): Buffer {
  return Buffer.concat([Buffer.of(6 + ((point[64] ?? 0) & 1)), point.subarray(1)]);
}

function words(hash: Buffer): string {
  const bits = BigInt(`0x${hash.toString("hex")}`) >> 190n;
  const at = (index: number): string => wordlist[Number((bits >> BigInt(55 - 11 * index)) & 2047n)] ?? "";
  return [0, 1, 2, 3, 4, 5].map(at).join(" ");
}

function accepted(name: string, key: Buffer, form: "spki" | "point"): PublicKeyVector {
  const canonical = form === "spki" ? key : Buffer.concat([spkiHeader, key]);
  const hash = createHash("sha256").update(canonical).digest();
  const given = { name, public_key: key.toString("base64"), form, canonical: canonical.toString("base64") };
  return { ...given, error: null, fingerprint: { hex: hash.toString("hex"), words: words(hash) } };
}

function refused(name: string, key: Buffer | string): PublicKeyVector {
  const text = typeof key === "string" ? key : key.toString("base64");
  return { name, error: "invalid_key", public_key: text, form: "spki", canonical: null, fingerprint: null };
}

/** Keys in the one accepted form with their fingerprints, and forms that libraries should refuse. */
export function publicKeyVectors(): VectorFile<PublicKeyVector> {
  const { point, pkcs8 } = pair;
  const good = pair.spki;
  const pem = createPublicKey(pair.privateKey).export({ format: "pem", type: "spki" }).toString();
  const zeros = Buffer.concat([Buffer.of(4), Buffer.alloc(64)]);
  const overPrime = Buffer.concat([Buffer.of(4), Buffer.alloc(32, 0xff), point.subarray(33)]);
  const koblitz = Buffer.from(secp256k1.getPublicKey(bytes("secp256k1", 32), false));
  const plus = keyPair("url 5").spki;
  return {
    about:
      "Public keys: base64 of the canonical 91-byte SPKI DER of a P-256 key; its fingerprint as hex and as six words",
    vectors: [
      accepted("a key", good, "spki"),
      accepted("another key", keyPair("recipient").spki, "spki"),
      accepted("the bare point", point, "point"),
      refused("a compressed point", spki(ecPublicKey, p256Name, compressed(point))),
      refused("a bare compressed point", compressed(point)),
      refused("a hybrid point", spki(ecPublicKey, p256Name, hybrid(point))),
      refused("a bare hybrid point", hybrid(point)),
      refused("explicit curve parameters", spki(ecPublicKey, explicitParameters(), point)),
      refused("a byte after the end", Buffer.concat([good, Buffer.of(0)])),
      refused("the last byte missing", good.subarray(0, -1)),
      refused("a byte after the bare point", Buffer.concat([point, Buffer.of(0)])),
      refused("the bare point without its 0x04", point.subarray(1)),
      refused("a point that is not on the curve", flip(good, -1)),
      refused("a bare point that is not on the curve", flip(point, -1)),
      refused("the point of zeros", spki(ecPublicKey, p256Name, zeros)),
      refused("a coordinate not below the prime", spki(ecPublicKey, p256Name, overPrime)),
      refused("the point at infinity", spki(ecPublicKey, p256Name, Buffer.of(0))),
      refused("the bare point at infinity", Buffer.of(0)),
      refused("P-384", spki(ecPublicKey, p384Name, Buffer.from(p384.getPublicKey(bytes("p384", 48), false)))),
      refused("secp256k1", spki(ecPublicKey, secp256k1Name, koblitz)),
      refused("a bare point of secp256k1", koblitz),
      refused("a point of P-256 under the name of secp256k1", spki(ecPublicKey, secp256k1Name, point)),
      refused("a point of secp256k1 under the name of P-256", spki(ecPublicKey, p256Name, koblitz)),
      refused("a key that may only agree (id-ecDH)", spki(ecdh, p256Name, point)),
      refused("unused bits in the bit string", spki(ecPublicKey, p256Name, point, 1)),
      refused("a length in its long form", Buffer.concat([Buffer.of(0x30, 0x81, 0x59), good.subarray(2)])),
      refused("Ed25519", Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), bytes("ed25519", 32)])),
      refused("the private key", pkcs8),
      refused("the text of a PEM file", pem),
      refused("base64 of a PEM file", Buffer.from(pem)),
      refused("a certificate's beginning", Buffer.concat([Buffer.of(0x30, 0x82, 1, 0), good])),
      refused("base64url", plus.toString("base64").replaceAll("+", "-").replaceAll("/", "_")),
      refused("base64 without its padding", good.toString("base64").replace(/=+$/, "")),
      refused("base64 with a line end", `${good.toString("base64")}\n`),
      refused(
        "base64 with a line end in it",
        `${good.toString("base64").slice(0, 64)}\n${good.toString("base64").slice(64)}`,
      ),
      refused("base64 of base64", Buffer.from(good.toString("base64"))),
      refused("hexadecimal digits", good.toString("hex")),
      refused("a JSON Web Key", JSON.stringify(pair.jwk)),
      refused("nothing", ""),
    ],
  };
}
