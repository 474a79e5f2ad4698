import { createHmac } from "node:crypto";
import { p256 } from "@noble/curves/nist.js";
import { keyPair, uuid, type VectorKeyPair } from "./material.ts";

export const now = 1_800_000_000;
export const audiences = ["https://vault.example", "http://127.0.0.1:8080"];
export const machine = keyPair("machine");
export const attacker = keyPair("attacker");
export const clientId = uuid("client");
export const header = { alg: "ES256", typ: "JWT" };
export const claims = { sub: clientId, aud: "https://vault.example", iat: now, exp: now + 300 };

type Part = object | string | Buffer;

export function encode(part: Part): string {
  if (Buffer.isBuffer(part)) return part.toString("base64url");
  return Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");
}

/** r ‖ s of RFC 6979, which is the same in every run. */
export function signature(signed: string, { scalar }: VectorKeyPair, format: "compact" | "der" = "compact"): Buffer {
  return Buffer.from(p256.sign(Buffer.from(signed), scalar, { prehash: true, lowS: false, format }));
}

export function token(parts: { header?: Part; claims?: Part; key?: VectorKeyPair } = {}): string {
  const signed = `${encode(parts.header ?? header)}.${encode(parts.claims ?? claims)}`;
  return `${signed}.${encode(signature(signed, parts.key ?? machine))}`;
}

/** The token with a changed signature: `change` gets r ‖ s. */
export function resigned(change: (signature: Buffer, signed: string) => Buffer | string): string {
  const signed = `${encode(header)}.${encode(claims)}`;
  const changed = change(signature(signed, machine), signed);
  return `${signed}.${typeof changed === "string" ? changed : encode(changed)}`;
}

export function malleated(compact: Buffer): Buffer {
  const order = p256.Point.Fn.ORDER;
  const s = order - BigInt(`0x${compact.subarray(32).toString("hex")}`);
  return Buffer.concat([compact.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, "0"), "hex")]);
}

/** The next character of the alphabet at the end: equal bytes, with bits set after their end. */
export function overhang(text: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return text.slice(0, -1) + (alphabet[alphabet.indexOf(text.at(-1) ?? "") + 1] ?? "");
}

export function hmac(): string {
  const signed = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`;
  return `${signed}.${createHmac("sha256", machine.spki).update(signed).digest("base64url")}`;
}

export function without(name: keyof typeof claims): object {
  return Object.fromEntries(Object.entries(claims).filter(([each]) => each !== name));
}

export const withClaims = (change: object): string => token({ claims: { ...claims, ...change } });
export const withHeader = (change: object): string => token({ header: { ...header, ...change } });
export const raw = (json: string): string => token({ claims: json });

/** An `aud` that makes the whole token this long. */
export function ofLength(length: number): string {
  for (let padding = Math.floor((length - 400) * 0.75); ; padding += 1) {
    const made = withClaims({ aud: ["https://vault.example", "x".repeat(padding)] });
    if (made.length >= length) return made;
  }
}

export function orderTwice(): Buffer {
  const order = Buffer.from(p256.Point.Fn.ORDER.toString(16), "hex");
  return Buffer.concat([order, order]);
}
