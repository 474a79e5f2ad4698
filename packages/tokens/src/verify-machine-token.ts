import { createPublicKey, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { LRUCache } from "lru-cache";
import { checkMachineClaims } from "./check-machine-claims.ts";
import type { ParsedJwt } from "./parse-jwt.ts";
import { parseJwt } from "./parse-jwt.ts";
import { rememberTokens } from "./remembered.ts";
import { invalidToken } from "./token-rejection.ts";

/** A machine's token that is genuine: whether its client may act is another question. */
export interface MachineClaims {
  clientId: string;
  /** Unix seconds. */
  expiresAt: number;
}

export interface MachineVerifierOptions {
  /** The base addresses, one of which a token must name as its audience. */
  audiences: readonly string[];
  /** The present time. */
  now: () => Date;
  /** The public key of a client, base64 of the SPKI DER, or null when there is no such client. It never changes. */
  findKey: (clientId: string) => Promise<string | null>;
}

/** P1363: r and s, 32 bytes each. DER would be longer and is refused. */
const signatureBytes = 64;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const rememberedKeys = 10_000;

/** A key on P-256 that nobody signs with: what a token is verified against when the client it names is unknown. */
const dummyKey = importKey(
  "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEtxXZV5DENm6H6mETPXRxDtVI1AjubVGg+AP9HvtimRgg2Cju15CLqaWqYRcT8CCVYojZm0VtcKc8csZk0u32dw==",
);

/**
 * Makes the verifier of machines' self-signed tokens (specification 5.2): ES256 alone, `typ` JWT, `sub` the client,
 * `aud` one of ours, at most an hour from `iat` to `exp`, expired at `exp` without leeway, `iat` at most 60 s ahead.
 * Each failure is the same `invalid_token` in about the same time; its cause is a `TokenRejection`. What was verified
 * once is remembered until it expires, by all bytes of the token.
 */
export function verifyMachineToken({ audiences, now, findKey }: MachineVerifierOptions) {
  const accepted = new Set(audiences.map(withoutSlash));
  const remembered = rememberTokens<MachineClaims>(() => now().getTime());
  const keys = new LRUCache<string, KeyObject>({ max: rememberedKeys });

  const keyOf = async (clientId: string): Promise<KeyObject | null> => {
    const known = keys.get(clientId);
    if (known !== undefined) return known;
    const spki = await findKey(clientId);
    if (spki === null) return null;
    const key = importKey(spki);
    keys.set(clientId, key);
    return key;
  };

  return async (token: string): Promise<MachineClaims> => {
    const before = remembered.find(token);
    if (before.claims !== undefined) return before.claims;
    const jwt = parseJwt(token);
    if (jwt === null) throw invalidToken("malformed");
    const clientId = subjectOf(jwt);
    const key = await keyOf(clientId);
    const genuine = isSignedBy(jwt, key ?? dummyKey);
    if (key === null) throw invalidToken("unknown_client");
    if (!genuine) throw invalidToken("signature", clientId);
    const checked = checkMachineClaims(jwt.claims, {
      nowSeconds: now().getTime() / 1000,
      isAudience: (audience) => accepted.has(withoutSlash(audience)),
    });
    if (typeof checked === "string") throw invalidToken(checked, clientId);
    const claims = { clientId, expiresAt: checked.expiresAt };
    remembered.add(before.key, claims);
    return claims;
  };
}

/** The client that a well-formed token names. */
function subjectOf({ header, claims }: ParsedJwt): string {
  if (header["alg"] !== "ES256") throw invalidToken("algorithm");
  if (typeof header["typ"] !== "string" || header["typ"].toUpperCase() !== "JWT") throw invalidToken("type");
  // An extension that must be understood (RFC 7515 §4.1.11); none is.
  if ("crit" in header) throw invalidToken("malformed");
  const { sub } = claims;
  if (typeof sub !== "string" || !uuid.test(sub)) throw invalidToken("subject");
  return sub;
}

function isSignedBy({ signed, signature }: ParsedJwt, key: KeyObject): boolean {
  if (signature.length !== signatureBytes) return false;
  return verify("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" }, signature);
}

function importKey(spki: string): KeyObject {
  return createPublicKey({ key: Buffer.from(spki, "base64"), format: "der", type: "spki" });
}

function withoutSlash(address: string): string {
  return address.endsWith("/") ? address.slice(0, -1) : address;
}
