import t from "tap";
import { environmentOf } from "../../src/services/service-environment.ts";
import type { LocalStores } from "../../src/data/local-stores.ts";

const stores: LocalStores = {
  urls: { postgres: "postgres://owner@h/coffer", nats: "nats://h:1", redis: "redis://h:2" },
  postgresUrls: { auth_sm: "postgres://auth_sm:x@h/coffer" },
  natsCredentials: { "auth-sm": { user: "auth-sm", password: "one" }, sync: { user: "sync", password: "two" } },
  redisUrls: {
    "auth-sm": "redis://auth-sm:one@h:2",
    vaults: "redis://vaults:two@h:2",
    sync: "redis://sync:three@h:2",
    "billing-webhook": "redis://billing-webhook:four@h:2",
    "siem-forwarder": "redis://siem-forwarder:five@h:2",
    scanner: "redis://scanner:six@h:2",
  },
  pids: () => ({}),
  stop: () => Promise.resolve(),
};
const authSm = { name: "auth-sm", paths: [], schema: "auth_sm" } as const;
const billingWebhook = { name: "billing-webhook", paths: [], schema: "billing_webhook" } as const;
const sync = { name: "sync", paths: [], schema: null } as const;
const siemKey = "made for this installation";
const baseUrls = ["http://127.0.0.1:8080", "http://localhost:8080"];

await t.test("a service gets its own role and its own user, and no other's", (t) => {
  const environment = environmentOf(authSm, {
    env: { PATH: "/bin" },
    stores,
    baseUrls,
    billing: "off",
    routerSecret: null,
    siemKey,
  });
  t.same(environment, {
    PATH: "/bin",
    COFFER_BASE_URL: "http://127.0.0.1:8080,http://localhost:8080",
    COFFER_HOST: "127.0.0.1",
    COFFER_PORT: "0",
    COFFER_MANAGEMENT_PORT: "0",
    COFFER_POSTGRES_URL: "postgres://auth_sm:x@h/coffer",
    COFFER_NATS_URL: "nats://h:1",
    COFFER_NATS_CREDENTIALS: '{"auth-sm":{"user":"auth-sm","password":"one"}}',
    COFFER_REDIS_URL: "redis://auth-sm:one@h:2",
    COFFER_BILLING: "off",
  });
  t.end();
});

await t.test("computed values replace those given by file, and the rest is passed on", (t) => {
  const env = {
    COFFER_POSTGRES_URL_FILE: "/run/owner",
    COFFER_NATS_CREDENTIALS_FILE: "/run/nats",
    COFFER_PORT: "8080",
    COFFER_DATA_DIR: "/data",
    COFFER_PROCESSES: "separate",
    COFFER_SIGNUPS: "closed",
    COFFER_TRUSTED_PROXY_CIDRS: "10.0.0.0/8",
    COFFER_SYNC_ALLOWED_ORIGINS_FILE: "/run/origins",
  };
  const environment = environmentOf(sync, { env, stores, baseUrls, billing: "stripe", routerSecret: null, siemKey });
  t.equal(environment["COFFER_POSTGRES_URL"], undefined, "it stores nothing");
  t.equal(environment["COFFER_POSTGRES_URL_FILE"], undefined);
  t.equal(environment["COFFER_NATS_CREDENTIALS_FILE"], undefined);
  t.equal(environment["COFFER_PORT"], "0");
  t.equal(environment["COFFER_DATA_DIR"], undefined);
  t.equal(environment["COFFER_PROCESSES"], undefined);
  t.equal(environment["COFFER_SIGNUPS"], "closed");
  t.equal(environment["COFFER_SYNC_ALLOWED_ORIGINS_FILE"], "/run/origins");
  t.equal(environment["COFFER_TRUSTED_PROXY_CIDRS"], "10.0.0.0/8");
  t.end();
});

await t.test("behind a router only the router is trusted", (t) => {
  const env = { COFFER_TRUSTED_PROXY_CIDRS: "127.0.0.0/8" };
  const environment = environmentOf(authSm, {
    env,
    stores,
    baseUrls,
    billing: "off",
    routerSecret: "a secret made at start",
    siemKey,
  });
  t.equal(environment["COFFER_TRUSTED_PROXY_CIDRS"], undefined);
  t.equal(environment["COFFER_ROUTER_SECRET"], "a secret made at start");
  t.end();
});

await t.test("the keys that seal the credentials of SIEM endpoints reach siem-forwarder alone", (t) => {
  const siemForwarder = { name: "siem-forwarder", paths: [], schema: "siem_forwarder" } as const;
  const given = [{}, { COFFER_SIEM_KEYS: "given" }, { COFFER_SIEM_KEYS_FILE: "/run/keys" }, { COFFER_SIEM_KEYS: " " }];
  const keysOf = (row: Parameters<typeof environmentOf>[0]) =>
    given.map((env) => {
      const environment = environmentOf(row, { env, stores, baseUrls, billing: "off", routerSecret: null, siemKey });
      return [environment["COFFER_SIEM_KEYS"], environment["COFFER_SIEM_KEYS_FILE"]];
    });
  t.same(keysOf(siemForwarder), [
    [siemKey, undefined],
    ["given", undefined],
    [undefined, "/run/keys"],
    [siemKey, undefined],
  ]);
  for (const row of [authSm, sync]) t.same(keysOf(row), new Array(4).fill([undefined, undefined]));
  t.end();
});

await t.test("only billing-webhook gets the signing secrets; every service gets the derived settings", (t) => {
  const env = {
    COFFER_STRIPE_WEBHOOK_SECRETS: "whsec_one",
    COFFER_STRIPE_PRICES_FILE: "/run/prices",
    COFFER_BILLING_FILE: "/run/billing",
  };
  for (const row of [authSm, sync, billingWebhook]) {
    const environment = environmentOf(row, { env, stores, baseUrls, billing: "stripe", routerSecret: null, siemKey });
    t.equal(environment["COFFER_BILLING"], "stripe");
    t.equal(environment["COFFER_BILLING_FILE"], undefined);
    const isBilling = row === billingWebhook;
    t.equal(environment["COFFER_STRIPE_WEBHOOK_SECRETS"], isBilling ? "whsec_one" : undefined);
    t.equal(environment["COFFER_STRIPE_PRICES_FILE"], isBilling ? "/run/prices" : undefined);
  }
  t.end();
});
