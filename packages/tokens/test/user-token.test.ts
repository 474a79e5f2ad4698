import { createHmac, createPrivateKey } from "node:crypto";
import { ServiceError } from "@coffer/errors";
import { createLocalJWKSet, importJWK, type JWTPayload, jwtVerify, SignJWT } from "jose";
import t from "tap";
import {
  generateSigningKey,
  signUserToken,
  TokenRejection,
  type UserVerifierOptions,
  verifyMachineToken,
  verifyUserToken,
} from "../src/index.ts";
import { machineTokens } from "./vectors.ts";

const issuer = "https://vault.example";
const now = 1_800_000_000;
const userId = "01900000-0000-7000-8000-000000000001";
const sessionId = "01900000-0000-7000-8000-000000000002";
const key = await generateSigningKey();
const options = { issuer, lifetimeSeconds: 900, now: () => new Date(now * 1000 + 999), newId: () => "jti-1" };
const token = await signUserToken(key, { sub: userId, sid: sessionId }, options);
const claims = { iss: issuer, aud: "coffer-user", sub: userId, sid: sessionId, iat: now, exp: now + 900, jti: "jti-1" };

function verifier(change: Partial<UserVerifierOptions> = {}): (token: string) => Promise<unknown> {
  const findKey = (kid: string): Promise<typeof key.publicJwk | null> =>
    Promise.resolve(kid === key.kid ? key.publicJwk : null);
  return verifyUserToken({ issuer, now: () => new Date(now * 1000), findKey, ...change });
}

async function signed(payload: JWTPayload, header: { kid?: string; typ?: string } = {}): Promise<string> {
  return new SignJWT(payload)
    .setProtectedHeader({ alg: "ES256", typ: "JWT", kid: key.kid, ...header })
    .sign(await importJWK(key.privateJwk, "ES256"));
}

async function reasonOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
    return "accepted";
  } catch (error) {
    return error instanceof ServiceError && error.cause instanceof TokenRejection ? error.cause.reason : String(error);
  }
}

void t.test("a token carries its claims, and another library verifies it by the published key set", async (t) => {
  const keySet = createLocalJWKSet({ keys: [{ ...key.publicJwk, kid: key.kid }] });
  const { payload, protectedHeader } = await jwtVerify(token, keySet, { currentDate: new Date(now * 1000) });
  t.strictSame(payload, claims);
  t.strictSame(protectedHeader, { alg: "ES256", typ: "JWT", kid: key.kid });
});

void t.test("it names the person, the session and its end", async (t) => {
  t.strictSame(await verifier()(token), { userId, sessionId, expiresAt: now + 900 });
});

void t.test("the published half of a key has no secret", (t) => {
  t.strictSame(Object.keys(key.publicJwk).sort(), ["crv", "kid", "kty", "x", "y"]);
  t.equal(key.publicJwk.kid, key.kid);
  t.equal(
    createPrivateKey({ key: { ...key.privateJwk }, format: "jwk" }).asymmetricKeyDetails?.namedCurve,
    "prime256v1",
  );
  t.end();
});

void t.test("it ends at its exp without leeway, also when it is remembered", async (t) => {
  const clock = { seconds: now + 899.999 };
  const verify = verifier({ now: () => new Date(clock.seconds * 1000) });
  t.ok(await verify(token));
  clock.seconds = now + 900;
  t.equal(await reasonOf(verify(token)), "expired");
  t.equal(await reasonOf(verifier({ now: () => new Date((now + 900) * 1000) })(token)), "expired");
});

void t.test("a verified token is not verified again", async (t) => {
  const other = await generateSigningKey();
  let known = key.publicJwk;
  const verify = verifier({ findKey: () => Promise.resolve(known) });
  await verify(token);
  known = other.publicJwk;
  t.ok(await verify(token), "another key would not verify it");
  t.equal(await reasonOf(verifier({ findKey: () => Promise.resolve(known) })(token)), "signature");
});

void t.test("a revoked key invalidates the tokens that it verified", async (t) => {
  let revoked = false;
  const verify = verifier({ findKey: () => Promise.resolve(revoked ? null : key.publicJwk) });
  t.ok(await verify(token));
  revoked = true;
  t.equal(await reasonOf(verify(token)), "unknown_key");
});

void t.test("every wrong claim is refused", async (t) => {
  const other = await generateSigningKey();
  const { exp: _, ...endless } = claims;
  const cases: [reason: string, name: string, token: string][] = [
    ["audience", "another aud", await signed({ ...claims, aud: issuer })],
    ["audience", "an aud in a list", await signed({ ...claims, aud: ["coffer-user"] })],
    ["audience", "another iss", await signed({ ...claims, iss: "https://attacker.example" })],
    ["audience", "an iss with a trailing slash", await signed({ ...claims, iss: `${issuer}/` })],
    ["subject", "a sub that is no UUID", await signed({ ...claims, sub: "ada" })],
    ["subject", "no sid", await signed({ ...claims, sid: undefined })],
    ["claims", "no exp", await signed(endless)],
    ["claims", "an exp with a fraction", await signed({ ...claims, exp: now + 0.5 })],
    ["claims", "an exp of 1e308", await signed({ ...claims, exp: 1e308 })],
    ["lifetime", "a life of more than a day", await signed({ ...claims, exp: now + 86_401 })],
    ["issued_in_future", "an iat 61 seconds ahead", await signed({ ...claims, iat: now + 61 })],
    ["type", "another typ", await signed(claims, { typ: "at+jwt" })],
    ["unknown_key", "an unknown kid", await signed(claims, { kid: "nobody" })],
    [
      "signature",
      "the kid of one key and the signature of another",
      await signUserToken({ ...other, kid: key.kid }, { sub: userId, sid: sessionId }, options),
    ],
    ["algorithm", "HS256 with the public key", hmac()],
    ["algorithm", "alg none", `${encode({ alg: "none", typ: "JWT", kid: key.kid })}.${encode(claims)}.AAAA`],
  ];
  for (const [reason, name, each] of cases) t.equal(await reasonOf(verifier()(each)), reason, name);
});

void t.test("a token without kid is refused", async (t) => {
  const bare = await new SignJWT(claims)
    .setProtectedHeader({ alg: "ES256", typ: "JWT" })
    .sign(await importJWK(key.privateJwk, "ES256"));
  t.equal(await reasonOf(verifier()(bare)), "unknown_key");
});

void t.test("a machine's token is never a person's, nor the other way round", async (t) => {
  const machines = await machineTokens();
  const findKey = (): Promise<string> => Promise.resolve(machines.public_key);
  const verifyMachine = verifyMachineToken({ audiences: machines.audiences, now: () => new Date(now * 1000), findKey });
  t.equal(await reasonOf(verifyMachine(token)), "signature");
  for (const { name, token: each, refused } of machines.vectors) {
    if (refused === null) t.not(await reasonOf(verifier()(each)), "accepted", name);
  }
  const asMachine = await signed({ ...claims, aud: issuer });
  t.equal(await reasonOf(verifier()(asMachine)), "audience", "also when one key signed both");
});

void t.test("several issuers are accepted while one address replaces another", async (t) => {
  t.ok(await verifier({ issuer: ["https://new.example", issuer] })(token));
  t.equal(await reasonOf(verifier({ issuer: ["https://new.example"] })(token)), "audience");
});

void t.test("a key that is not on P-256 verifies nothing", async (t) => {
  const findKey = (): Promise<{ kty: string; k: string }> => Promise.resolve({ kty: "oct", k: "AAAA" });
  t.equal(await reasonOf(verifier({ findKey })(token)), "unknown_key");
});

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

function hmac(): string {
  const unsigned = `${encode({ alg: "HS256", typ: "JWT", kid: key.kid })}.${encode(claims)}`;
  return `${unsigned}.${createHmac("sha256", JSON.stringify(key.publicJwk)).update(unsigned).digest("base64url")}`;
}
