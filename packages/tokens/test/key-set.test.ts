import { ServiceError } from "@coffer/errors";
import type { JWK } from "jose";
import t from "tap";
import { createKeySet } from "../src/index.ts";

/** An issuer with settable keys and availability, and its own clock. */
function issuer(...kids: string[]) {
  const state = { kids, away: false, requests: 0, milliseconds: 0 };
  const fetchKeys = (): Promise<JWK[]> => {
    state.requests += 1;
    if (state.away) return Promise.reject(new Error("the issuer is away"));
    return Promise.resolve(state.kids.map((kid) => ({ kty: "EC", kid })));
  };
  return { state, keySet: createKeySet(fetchKeys, () => state.milliseconds) };
}

void t.test("keys are fetched at the first use and then used without a request", async (t) => {
  const { state, keySet } = issuer("a", "b");
  for (let times = 0; times < 5; times += 1) t.equal((await keySet.find("a"))?.kid, "a");
  t.equal((await keySet.find("b"))?.kid, "b");
  t.equal(state.requests, 1);
});

void t.test("an unknown id causes at most one request a second", async (t) => {
  const { state, keySet } = issuer("a");
  const all = await Promise.all(Array.from({ length: 1000 }, (_, index) => keySet.find(`invented ${index}`)));
  t.ok(all.every((key) => key === null));
  t.equal(state.requests, 1);
  state.milliseconds = 999;
  t.equal(await keySet.find("c"), null);
  t.equal(state.requests, 1);
  state.kids.push("c");
  state.milliseconds = 1000;
  t.equal((await keySet.find("c"))?.kid, "c");
  t.equal(state.requests, 2);
});

void t.test(
  "an issuer that is away is unavailable, not an unknown key, and is requested once a second too",
  async (t) => {
    const { state, keySet } = issuer("a");
    state.away = true;
    for (let times = 0; times < 5; times += 1) {
      await t.rejects(keySet.find("a"), { code: "unavailable", status: 503, retryAfterSeconds: 1 });
    }
    t.equal(state.requests, 1);
    state.away = false;
    state.milliseconds = 1000;
    t.equal((await keySet.find("a"))?.kid, "a");
  },
);

void t.test("while the issuer is away cached keys are used, and an unknown one is unavailable", async (t) => {
  const { state, keySet } = issuer("a");
  await keySet.find("a");
  state.away = true;
  state.milliseconds = 300_000;
  t.equal((await keySet.find("a"))?.kid, "a");
  t.equal(state.requests, 2, "newer ones were requested");
  await t.rejects(keySet.find("b"), ServiceError);
});

void t.test("a revoked key ceases to count when the set is five minutes old", async (t) => {
  const { state, keySet } = issuer("a", "b");
  await keySet.find("a");
  state.kids.shift();
  state.milliseconds = 299_999;
  t.equal((await keySet.find("a"))?.kid, "a");
  state.milliseconds = 300_000;
  t.equal(await keySet.find("a"), null);
  t.equal((await keySet.find("b"))?.kid, "b");
});
