import { ServiceError } from "@coffer/errors";
import t from "tap";
import { type MachineClaims, TokenRejection, verifyMachineToken } from "../src/index.ts";
import { machineTokens } from "./vectors.ts";

const { now, audiences, client_id: clientId, public_key: publicKey, vectors } = await machineTokens();

/** A verifier that knows the vectors' one client, with a settable time, and the ids that it looked up. */
function verifier(at = now): {
  clock: { seconds: number };
  lookups: string[];
  verify: (token: string) => Promise<MachineClaims>;
} {
  const clock = { seconds: at };
  const lookups: string[] = [];
  const verify = verifyMachineToken({
    audiences,
    now: () => new Date(clock.seconds * 1000),
    findKey: (id) => {
      lookups.push(id);
      return Promise.resolve(id === clientId ? publicKey : null);
    },
  });
  return { clock, lookups, verify };
}

async function refusal(attempt: Promise<unknown>): Promise<{ error: ServiceError; cause: TokenRejection }> {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof ServiceError && error.cause instanceof TokenRejection) return { error, cause: error.cause };
    throw error;
  }
  throw new Error("the token was accepted");
}

function named(name: string): string {
  const found = vectors.find((vector) => vector.name === name);
  if (found === undefined) throw new Error(`no vector is called ${name}`);
  return found.token;
}

const good = named("a token of five minutes");

void t.test("every published token has its result, and all refusals are equal", async (t) => {
  for (const { name, token, refused } of vectors) {
    const { verify } = verifier();
    if (refused === null) {
      t.equal((await verify(token)).clientId, clientId, name);
      continue;
    }
    const { error, cause } = await refusal(verify(token));
    t.strictSame([error.code, error.status, cause.reason], ["invalid_token", 401, refused], name);
    t.equal(error.message, "the token is not valid: it is malformed, expired, revoked or not ours");
  }
});

void t.test("a refusal names the client once it is known to exist, and never the one that is not", async (t) => {
  const { verify } = verifier();
  for (const { name, token, refused } of vectors) {
    if (refused === null) continue;
    const { cause } = await refusal(verify(token));
    const isKnown = !["malformed", "algorithm", "type", "subject", "unknown_client"].includes(refused);
    t.equal(cause.clientId, isKnown ? clientId : undefined, name);
  }
});

void t.test("a token ends at its exp, to the millisecond, and is accepted before", async (t) => {
  const { clock, verify } = verifier(now + 299.999);
  t.strictSame(await verify(good), { clientId, expiresAt: now + 300 });
  clock.seconds = now + 300;
  t.equal((await refusal(verify(good))).cause.reason, "expired", "although it is remembered");
  t.equal((await refusal(verifier(now + 300).verify(good))).cause.reason, "expired");
});

void t.test("an iat is accepted until 60 seconds ahead, to the millisecond", async (t) => {
  const ahead = named("iat 60 seconds ahead");
  t.ok(await verifier(now).verify(ahead));
  t.equal((await refusal(verifier(now - 0.001).verify(ahead))).cause.reason, "issued_in_future");
});

void t.test("a verified token is not verified again, and its key not looked up again", async (t) => {
  const { lookups, verify } = verifier();
  const first = await verify(good);
  for (let times = 0; times < 10; times += 1) t.strictSame(await verify(good), first);
  await verify(named("a life of exactly 3600 seconds"));
  t.strictSame(lookups, [clientId]);
});

void t.test("the second form of a signature is another token to remember, not the same one", async (t) => {
  const { lookups, verify } = verifier();
  const second = named("the second form of the signature (s and n − s both verify)");
  t.equal(second.split(".").slice(0, 2).join("."), good.split(".").slice(0, 2).join("."), "only the signature differs");
  t.strictSame(await verify(good), await verify(second));
  t.strictSame(lookups, [clientId]);
});

void t.test("a failed token is looked up each time, whether or not its client is known", async (t) => {
  const { lookups, verify } = verifier();
  await verify(good);
  lookups.length = 0;
  for (let times = 0; times < 3; times += 1) await refusal(verify(named("another key")));
  t.equal(lookups.length, 3);
  for (let times = 0; times < 3; times += 1) await refusal(verify(named("nobody's id")));
  t.equal(lookups.length, 6);
});

void t.test("a token that cannot be looked up is refused for that reason only", async (t) => {
  const away = new ServiceError("unavailable", "the store is away", { retryAfterSeconds: 1 });
  const verify = verifyMachineToken({
    audiences,
    now: () => new Date(now * 1000),
    findKey: () => Promise.reject(away),
  });
  await t.rejects(verify(good), { code: "unavailable" });
});

void t.test("an address that is configured with a trailing slash is the same address", async (t) => {
  const verify = verifyMachineToken({
    audiences: ["https://vault.example/"],
    now: () => new Date(now * 1000),
    findKey: () => Promise.resolve(publicKey),
  });
  t.ok(await verify(good));
  t.ok(await verify(named("aud with a trailing slash")));
});
