import t from "tap";
import { doctor } from "./doctor.ts";

const home = t.testdir({});
const whsec = `whsec_${"a1B2".repeat(8)}`;
const config = (env: Record<string, string>) =>
  doctor(home, ["--server-config"], { env: { COFFER_DATA_DIR: "", ...env } });

await t.test("an empty environment and a whole one have no problem", async (t) => {
  const empty = await config({});
  t.equal(empty.code, 0);
  t.ok(empty.all.every(({ status }) => status === "ok"));
  const whole = await config({
    COFFER_BASE_URL: "https://coffer.example.com",
    COFFER_HOST: "0.0.0.0",
    COFFER_TRUSTED_PROXY_CIDRS: "10.0.0.0/8",
    COFFER_STRIPE_WEBHOOK_SECRETS: `${whsec},${whsec}2`,
    COFFER_POSTGRES_URL: "postgres://u:p@h/db",
    COFFER_NATS_URL: "nats://h",
    COFFER_NATS_CREDENTIALS: '{"auth-sm": "p"}',
    COFFER_REDIS_URL: "redis://h",
  });
  t.equal(whole.code, 0);
  t.same(
    whole.all.filter(({ status }) => status !== "ok"),
    [],
  );
});

await t.test("every problem is listed, and a wrong value hides none of the others", async (t) => {
  const { of, code } = await config({
    COFFER_PORT: "http",
    COFFER_PROT: "1",
    COFFER_STRIPE_WEBHOOK_SECRETS: "sk_live_1",
  });
  t.equal(code, 1);
  t.match(of("configuration"), [
    { status: "problem", message: /^COFFER_PORT must be/ },
    { status: "problem", message: /^COFFER_PROT is not a known name: did you mean COFFER_PORT/ },
  ]);
  t.match(of("billing"), [{ status: "problem" }]);
});

await t.test("values that the services would accept and that are unsafe", async (t) => {
  for (const [env, check, status, advice] of [
    [{ COFFER_STRIPE_WEBHOOK_SECRETS: `${whsec},sk_live_secret` }, "billing", "problem", /whsec_/],
    [{ COFFER_STRIPE_WEBHOOK_SECRETS: "whsec_short" }, "billing", "problem", /whsec_/],
    [{ COFFER_TRUSTED_PROXY_CIDRS: "10.0.0.0/8,0.0.0.0/0" }, "trusted proxies", "problem", /networks only/],
    [{ COFFER_TRUSTED_PROXY_CIDRS: "::/0" }, "trusted proxies", "problem", /networks only/],
    [{ COFFER_BASE_URL: "https://coffer.example.com" }, "trusted proxies", "warn", /COFFER_TRUSTED_PROXY_CIDRS/],
    [{ COFFER_BASE_URL: "http://coffer.example.com" }, "base address", "warn", /TLS/],
    [{ COFFER_HOST: "0.0.0.0" }, "base address", "problem", /COFFER_BASE_URL/],
  ] as const) {
    const { of, code } = await config(env);
    t.match(of(check), [{ status, advice }], JSON.stringify(env));
    t.equal(code, status === "problem" ? 1 : 0);
  }
});

await t.test("billing is off, or on for a service that has no secrets", async (t) => {
  const message = async (env: Record<string, string>) => (await config(env)).of("billing");
  t.match(await message({}), [{ status: "ok", message: /^off/ }]);
  t.match(await message({ COFFER_BILLING: "stripe" }), [{ status: "ok", message: /^on/ }]);
  t.match(await message({ COFFER_BILLING: "off", COFFER_STRIPE_WEBHOOK_SECRETS: whsec }), [{ message: /^off/ }]);
});

await t.test("no secret is quoted", async (t) => {
  const canary = "c4n4ry-value";
  const { stdout, stderr } = await config({
    COFFER_STRIPE_WEBHOOK_SECRETS: canary,
    COFFER_POSTGRES_URL: canary,
    COFFER_NATS_CREDENTIALS: canary,
    COFFER_REDIS_URL: `redis://:${canary}@h`,
  });
  t.notMatch(stdout + stderr, canary);
});
