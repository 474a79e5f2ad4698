import { createPublicKey, type KeyObject } from "node:crypto";
import { LRUCache } from "lru-cache";
import { checkTimes } from "./check-times.ts";
import { isSignedBy } from "./is-signed-by.ts";
import { parseJwt } from "./parse-jwt.ts";
import { rememberTokens } from "./remembered.ts";
import { invalidToken } from "./token-rejection.ts";
import { uuidOf } from "./uuid.ts";

/** The claims of a verified machine token. The caller checks the state of the client. */
export interface MachineClaims {
  /** In lower case. */
  clientId: string;
  /** Unix seconds. */
  expiresAt: number;
}

export interface MachineVerifierOptions {
  /** The base addresses; a token must name one as its audience. */
  audiences: readonly string[];
  /** The present time. */
  now: () => Date;
  /** The public key of a client, base64 of the SPKI DER; null for an unknown client. It never changes. */
  findKey: (clientId: string) => Promise<string | null>;
}

/** Specification 5.2: `exp` is at most one hour after `iat`. */
const longestSeconds = 3600;
const rememberedKeys = 10_000;

/** A P-256 key that signs nothing: tokens of unknown clients are verified against it. */
const dummyKey = importKey(
  "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEtxXZV5DENm6H6mETPXRxDtVI1AjubVGg+AP9HvtimRgg2Cju15CLqaWqYRcT8CCVYojZm0VtcKc8csZk0u32dw==",
);

/**
 * Makes the verifier of machines' self-signed tokens (specification 5.2): ES256 alone, `typ` JWT,
 * `sub` the client, `aud` one of ours, at most an hour from `iat` to `exp`, expired at `exp` without
 * leeway, `iat` at most 60 s ahead. Each failure is the same `invalid_token` in about equal time; its
 * cause is a `TokenRejection`. Caches verified tokens until they expire, by all their bytes. Passes on
 * errors of `findKey`.
 */
export function verifyMachineToken(options: MachineVerifierOptions): (token: string) => Promise<MachineClaims> {
  const { now, findKey } = options;
  const audiences = new Set(options.audiences.map(withoutSlash));
  const remembered = rememberTokens<MachineClaims>(() => now().getTime());
  const keys = new LRUCache<string, KeyObject>({ max: rememberedKeys });

  const requireSigned = async (jwt: ReturnType<typeof parseJwt>, clientId: string): Promise<void> => {
    const known = keys.get(clientId);
    if (known !== undefined && isSignedBy(jwt, known)) return;
    // Also looks up the key for a wrong signature: the time must not disclose which clients exist.
    const spki = await findKey(clientId);
    const key = spki === null ? dummyKey : (known ?? importKey(spki));
    const genuine = known === undefined && isSignedBy(jwt, key);
    if (spki === null) throw invalidToken("unknown_client");
    keys.set(clientId, key);
    if (!genuine) throw invalidToken("signature", clientId);
  };
  const verify = async (token: string, key: string): Promise<MachineClaims> => {
    const jwt = parseJwt(token);
    const clientId = uuidOf(jwt.claims["sub"]);
    if (clientId === null) throw invalidToken("subject");
    await requireSigned(jwt, clientId);
    const times = checkTimes(jwt.claims, { nowSeconds: now().getTime() / 1000, longestSeconds });
    if (typeof times === "string") throw invalidToken(times, clientId);
    if (!isFor(audiences, jwt.claims["aud"])) throw invalidToken("audience", clientId);
    const claims = { clientId, expiresAt: times.expiresAt };
    remembered.add(key, claims);
    return claims;
  };

  return (token) => {
    const { key, claims } = remembered.find(token);
    return claims === undefined ? verify(token, key) : Promise.resolve(claims);
  };
}

function isFor(audiences: ReadonlySet<string>, aud: unknown): boolean {
  const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  return named.some((name) => typeof name === "string" && audiences.has(withoutSlash(name)));
}

function importKey(spki: string): KeyObject {
  return createPublicKey({ key: Buffer.from(spki, "base64"), format: "der", type: "spki" });
}

function withoutSlash(address: string): string {
  return address.endsWith("/") ? address.slice(0, -1) : address;
}
