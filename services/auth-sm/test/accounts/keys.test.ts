import { generateKeyPairSync, sign } from "node:crypto";
import { membershipOf, signingKeys } from "@coffer/events";
import { testPostgres, until } from "@coffer/testkit";
import { decodeJwt, decodeProtectedHeader, importJWK, jwtVerify, SignJWT } from "jose";
import pg from "pg";
import t from "tap";
import { call } from "../support/call.ts";
import { register } from "../support/people.ts";
import { baseUrl, startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const second = await service.replica();
const { clock, observer } = service;
const client = new pg.Client({ connectionString: service.postgres.url });
await client.connect();
t.teardown(() => client.end());

const account = (token: string | undefined, at: { url: string } = service, headers: Record<string, string> = {}) =>
  call(at, "GET", "/api/account", { token, headers });

await t.test("the published keys verify an access token, and its claims are those that are documented", async (t) => {
  const person = await register(service);
  const jwks = await call(service, "GET", "/.well-known/jwks.json");
  t.equal(jwks.status, 200);
  const { kid, alg } = decodeProtectedHeader(person.token);
  t.equal(alg, "ES256");
  const key = jwks.body.keys.find((one) => one.kid === kid);
  if (key === undefined) throw new Error("no key by that id is published");
  t.strictSame(Object.keys(key).sort(), ["alg", "crv", "kid", "kty", "use", "x", "y"]);
  const { payload } = await jwtVerify(person.token, await importJWK(key, "ES256"), {
    audience: "coffer-user",
    issuer: baseUrl,
  });
  t.match(payload, { sub: person.userId, sid: person.sessionId, jti: String });
  t.equal(Number(payload.exp) - Number(payload.iat), 900);
});

await t.test("with the keys it says which addresses are its own: what a machine's token may be for", async (t) => {
  const jwks = await call(service, "GET", "/.well-known/jwks.json");
  t.strictSame(jwks.body.base_urls, [baseUrl]);
});

await t.test(
  "replicas share their keys: a token of one is good at the other, also from the first moment",
  async (t) => {
    const urls = await Promise.all(Array.from({ length: 3 }, () => service.replica()));
    const kids = await Promise.all(
      [service, second, ...urls].map(async (at) => (await call(at, "GET", "/.well-known/jwks.json")).body.keys),
    );
    for (const keys of kids) t.strictSame(keys, kids[0]);
    const person = await register(service);
    t.equal((await account(person.token, second)).status, 200);
    const refreshed = await call(second, "POST", "/api/auth/refresh", { body: { refresh_token: person.refreshToken } });
    t.equal(refreshed.status, 200);
    t.equal((await account(refreshed.body.access_token)).status, 200);
  },
);

await t.test("replicas that start at once on an empty database make one set of keys", async (t) => {
  const fresh = await startAuthSm(t);
  await Promise.all(Array.from({ length: 3 }, () => fresh.replica())).then((replicas) =>
    Promise.all([fresh, ...replicas].map((at) => call(at, "GET", "/.well-known/jwks.json"))),
  );
  const owner = new pg.Client({ connectionString: fresh.postgres.url });
  await owner.connect();
  const { rows } = await owner.query(`SELECT (SELECT count(*) FROM auth_sm.signing_keys)::int AS signing,
    (SELECT count(*) FROM auth_sm.opaque_setups)::int AS setups, (SELECT count(*) FROM auth_sm.server_keys)::int AS own`);
  await owner.end();
  t.strictSame(rows, [{ signing: 1, setups: 1, own: 3 }]);
});

await t.test("a replica that starts while Postgres is away serves once it is back", async (t) => {
  const postgres = await testPostgres(t, { own: true });
  const early = await startAuthSm(t, {}, { postgres });
  await postgres.stop();
  const starting = early.replica();
  await postgres.start();
  t.equal((await call(await starting, "GET", "/.well-known/jwks.json")).status, 200);
});

await t.test("other services get the keys and a person's membership over the bus", async (t) => {
  const owner = await register(service, { orgName: "Bus" });
  const published = await call(service, "GET", "/.well-known/jwks.json");
  const expected = published.body.keys.map(({ kid }) => kid).join();
  // Any replica may answer, also one that has not read the newest key yet.
  await until("the same keys over the bus", async () => {
    const { keys } = await observer.bus.request(signingKeys, {});
    return keys.map(({ kid }) => kid).join() === expected;
  });
  const ask = (org_id?: string, session_id = owner.sessionId) =>
    observer.bus.request(membershipOf, {
      user_id: owner.userId,
      session_id,
      ...(org_id === undefined ? {} : { org_id }),
    });
  const found = await ask();
  t.match(found, {
    session_active: true,
    has_organization: true,
    membership: { role: "owner", status: "active", plan: "enterprise" },
  });
  t.strictSame(await ask(found.membership?.org_id), found);
  const foreign = await register(service, { orgName: "Foreign" });
  const { body } = await account(foreign.token);
  const nothing = { session_active: true, has_organization: true, membership: null };
  t.strictSame(await ask(body.organizations[0].id), nothing);
  t.strictSame(await ask("no uuid"), nothing);
  t.strictSame(await ask(undefined, foreign.sessionId), { ...nothing, session_active: false });
  await call(service, "POST", "/api/auth/logout", { token: owner.token });
  t.strictSame(await ask(), { ...nothing, session_active: false });
});

await t.test("an access token is good until the second it expires", async (t) => {
  clock.stop();
  const person = await register(service);
  const { exp = 0 } = decodeJwt(person.token);
  clock.advance(exp * 1000 - 1 - clock.now().getTime());
  t.equal((await account(person.token)).status, 200);
  t.equal((await account(person.token, second)).status, 200);
  clock.advance(1);
  for (const at of [service, second]) {
    const answer = await account(person.token, at);
    t.equal(answer.status, 401);
    t.equal(answer.body.error, "invalid_token");
    t.equal(answer.headers.get("www-authenticate"), "Bearer");
  }
});

await t.test("an invalid access token is 401", async (t) => {
  const person = await register(service);
  const { rows } = await client.query(
    "SELECT private_jwk, kid FROM auth_sm.signing_keys ORDER BY created_at DESC LIMIT 1",
  );
  const [{ private_jwk, kid }] = rows as [{ private_jwk: Parameters<typeof importJWK>[0]; kid: string }];
  const ours = await importJWK(private_jwk, "ES256");
  const theirs = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const now = Math.floor(clock.now().getTime() / 1000);
  const good = {
    iss: baseUrl,
    aud: "coffer-user",
    sub: person.userId,
    sid: person.sessionId,
    iat: now,
    exp: now + 60,
    jti: "1",
  };
  const signed = (claims: object, key: Parameters<SignJWT["sign"]>[0] = ours, header: object = {}) =>
    new SignJWT({ ...good, ...claims }).setProtectedHeader({ alg: "ES256", typ: "JWT", kid, ...header }).sign(key);
  t.equal((await account(await signed({}))).status, 200, "the forger's own kind of token would be good");
  const [head, body] = (await signed({})).split(".");
  const none = Buffer.from(JSON.stringify({ alg: "none", typ: "JWT", kid })).toString("base64url");
  const der = sign("sha256", Buffer.from(`${head}.${body}`), theirs).toString("base64url");
  const tokens = [
    undefined,
    "",
    "x",
    await signed({}, theirs),
    await signed({}, ours, { kid: "unknown" }),
    await signed({}, theirs, { kid: "unknown" }),
    await signed({ aud: baseUrl }),
    await signed({ iss: "https://elsewhere.test" }),
    await signed({ exp: now }),
    await signed({ sub: undefined }),
    await signed({ sid: undefined }),
    await signed({ sid: "00000000-0000-7000-8000-000000000000" }),
    await signed({ sub: "00000000-0000-7000-8000-000000000000" }),
    await signed({ sub: "'; DROP TABLE users" }),
    `${none}.${body}.`,
    `${head}.${body}.${der}`,
    person.refreshToken,
  ];
  for (const token of tokens) t.equal((await account(token)).status, 401, String(token).slice(0, 200));
  t.equal((await account(undefined, service, { authorization: `Basic ${person.token}` })).status, 401);
});
