import { ConfigurationError } from "@coffer/env";
import { sharedStoreAddresses, storeAddresses } from "@coffer/service";
import t from "tap";

const given = {
  COFFER_POSTGRES_URL: "postgres://127.0.0.1/coffer",
  COFFER_REDIS_URL: "redis://127.0.0.1",
  COFFER_NATS_URL: "nats://127.0.0.1",
  COFFER_NATS_CREDENTIALS: { vaults: { user: "vaults", password: "a password" } },
};

await t.test("a service finds its own user on the bus among those of all", (t) => {
  t.strictSame(storeAddresses("vaults", given), {
    postgresUrl: "postgres://127.0.0.1/coffer",
    redisUrl: "redis://127.0.0.1",
    nats: { url: "nats://127.0.0.1", user: "vaults", password: "a password" },
  });
  t.end();
});

await t.test("a Redis named none is no Redis", (t) => {
  t.equal(storeAddresses("vaults", { ...given, COFFER_REDIS_URL: "none" }).redisUrl, null);
  t.end();
});

await t.test("everything missing is reported at once", (t) => {
  const nothing = {
    COFFER_POSTGRES_URL: undefined,
    COFFER_REDIS_URL: undefined,
    COFFER_NATS_URL: undefined,
    COFFER_NATS_CREDENTIALS: undefined,
  };
  try {
    storeAddresses("vaults", nothing);
    t.fail("it did not throw");
  } catch (error) {
    t.ok(error instanceof ConfigurationError);
    t.match((error as ConfigurationError).problems, [
      /COFFER_POSTGRES_URL/,
      /COFFER_REDIS_URL/,
      /COFFER_NATS_URL/,
      /COFFER_NATS_CREDENTIALS.*vaults/,
    ]);
  }
  t.end();
});

await t.test("another service's user is not used", (t) => {
  t.throws(() => storeAddresses("scanner", given), ConfigurationError);
  t.end();
});

await t.test("a service without Postgres needs no Postgres address", (t) => {
  t.strictSame(sharedStoreAddresses("vaults", { ...given }), {
    redisUrl: "redis://127.0.0.1",
    nats: { url: "nats://127.0.0.1", user: "vaults", password: "a password" },
  });
  t.throws(() => sharedStoreAddresses("sync", given), /^(?!.*POSTGRES)[^]*COFFER_NATS_CREDENTIALS must have.*sync/);
  t.end();
});
