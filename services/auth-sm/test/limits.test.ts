import { until } from "@coffer/testkit";
import t from "tap";
import { call } from "./support/call.ts";
import { bearer, createFolder, createMachine, newKeyPair } from "./support/machines.ts";
import { register } from "./support/people.ts";
import { startAuthSm } from "./support/service.ts";

const service = await startAuthSm(t, { COFFER_TRUSTED_PROXY_CIDRS: "127.0.0.1/32" });
const owner = await register(service, { orgName: "Example" });
const folder = await createFolder(service, owner);
const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
// Two replicas with the limits that an installation has.
const limits = {
  COFFER_LIMIT_STRICT: "5",
  COFFER_LIMIT_STANDARD: "60",
  COFFER_LIMIT_USER: "300",
  COFFER_LOG_LEVEL: "info",
};
const replicas = [await service.replica(limits), await service.replica(limits)] as const;
let requests = 0;

function from(address: string, method: string, path: string, options: { token?: string; body?: unknown } = {}) {
  requests += 1;
  const replica = replicas[requests % 2 === 0 ? 0 : 1];
  return call(replica, method, path, { ...options, headers: { "x-forwarded-for": address } });
}

const bootstrap = (address: string) =>
  from(address, "POST", "/api/sm/v1/bootstrap", { body: { token: "unknown", public_key: newKeyPair().spki } });
const list = (address: string) => from(address, "GET", "/api/sm/v1/secrets", { token: bearer(machine) });
const org = (address: string) => from(address, "GET", "/api/org", { token: owner.token });

const away = "Redis does not answer";
const back = "the limiter counts in Redis";
const misses = (): number => replicas.flatMap(({ lines }) => lines.filter((line) => line.includes(away))).length;
const areTogether = (): boolean =>
  replicas.every(({ lines }) => lines.findLast((line) => line.includes(away) || line.includes(back))?.includes(back));
let addresses = 0;

/**
 * What comes of `work` at its own address, while Redis has answered all of it in time. A
 * Redis that is too slow for the limiter's patience, as on a busy machine, lets each replica count
 * for itself: then it is done again elsewhere.
 */
async function counted<T>(work: (address: string) => Promise<T>): Promise<T> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    await until("both replicas count in Redis", areTogether);
    const before = misses();
    addresses += 1;
    const result = await work(`203.0.113.${addresses}`);
    if (misses() === before && areTogether()) return result;
  }
  throw new Error("Redis was too slow twenty times");
}
const fiveAndTwo = async (address: string): Promise<number[]> => {
  const statuses: number[] = [];
  for (let n = 0; n < 7; n += 1) statuses.push((await bootstrap(address)).status);
  return statuses;
};

await t.test("a source address has five strict requests a minute, over all replicas", async (t) => {
  t.strictSame(await counted(fiveAndTwo), [401, 401, 401, 401, 401, 429, 429]);
});

await t.test("a refusal has Retry-After, in the common form of errors", async (t) => {
  const answer = await counted(async (address) => {
    await fiveAndTwo(address);
    return bootstrap(address);
  });
  t.equal(answer.status, 429);
  t.match(answer.body, { error: "rate_limited", message: /./, request_id: /./ });
  const wait = Number(answer.headers.get("retry-after"));
  t.ok(Number.isInteger(wait) && wait >= 1 && wait <= 60, String(wait));
  t.equal(answer.headers.get("ratelimit-policy"), '"strict";q=5;w=60');
  t.match(answer.headers.get("ratelimit"), /^"strict";r=0;t=\d+$/);
});

await t.test("every endpoint of the strict bucket counts in the one bucket", async (t) => {
  const statuses = await counted(async (address) => {
    const post = async (path: string) => (await from(address, "POST", `/api/auth/${path}`, { body: {} })).status;
    const first = [await post("register/start"), await post("recovery/start"), await post("login/start")];
    return [...first, (await bootstrap(address)).status, (await bootstrap(address)).status, await post("login/start")];
  });
  t.strictSame(statuses, [400, 400, 400, 401, 401, 429]);
});

let exhausted = "";

await t.test("the standard bucket has sixty, whichever client and endpoint", async (t) => {
  const other = await createMachine(service, owner, []);
  const { answers, refused, unknown } = await counted(async (address) => {
    exhausted = address;
    const answers = [];
    for (let n = 0; n < 60; n += 1) answers.push(await list(address));
    const refused = await from(address, "GET", "/api/sm/v1/client", { token: bearer(other) });
    return { answers, refused, unknown: await from(address, "GET", "/api/sm/v1/folders") };
  });
  t.ok(answers.every(({ status }) => status === 200));
  t.equal(answers[0]?.headers.get("ratelimit-policy"), '"standard";q=60;w=60');
  t.match(answers[0]?.headers.get("ratelimit"), /^"standard";r=59;t=\d+$/);
  t.match(answers[59]?.headers.get("ratelimit"), /^"standard";r=0;t=\d+$/);
  t.equal(refused.status, 429, "another client behind the same address");
  t.equal(unknown.status, 429, "also before anybody asks who it is");
});

await t.test("a bucket that is exhausted leaves the others alone, and other addresses too", async (t) => {
  const address = exhausted;
  t.equal((await org(address)).status, 200, "the user bucket");
  t.equal((await bootstrap(address)).status, 401, "the strict bucket");
  t.equal((await list("198.51.100.4")).status, 200, "another address");
});

await t.test("an address is one address in every spelling, and IPv6 counts by its /64", async (t) => {
  const mapped = await counted(async (address) => {
    for (let n = 0; n < 5; n += 1) await bootstrap(address);
    return bootstrap(`::ffff:${address}`);
  });
  t.equal(mapped.status, 429);
  const [same, next] = await counted(async () => {
    for (let n = 0; n < 5; n += 1) await bootstrap(`2001:db8:${addresses}:1::${n}`);
    return [await bootstrap(`2001:DB8:${addresses}:1:ffff::9`), await bootstrap(`2001:db8:${addresses}:2::1`)] as const;
  });
  t.equal(same.status, 429);
  t.equal(next.status, 401, "the next network");
});

await t.test("a forged header does not move a request to another bucket", async (t) => {
  const answer = await counted(async (address) => {
    for (let n = 0; n < 5; n += 1) await bootstrap(`10.0.0.${n}, ${address}`);
    return bootstrap(`10.9.9.9, ${address}`);
  });
  t.equal(answer.status, 429);
});

await t.test("without Redis each replica counts alone, and with Redis again they count together", async (t) => {
  await service.redis.kill();
  const address = "198.51.100.9";
  const first = await call(replicas[0], "GET", "/api/sm/v1/secrets", {
    token: bearer(machine),
    headers: { "x-forwarded-for": address },
  });
  t.equal(first.status, 200);
  const statuses: number[] = [];
  for (let n = 0; n < 61; n += 1) {
    const headers = { "x-forwarded-for": address };
    statuses.push((await call(replicas[0], "GET", "/api/sm/v1/secrets", { token: bearer(machine), headers })).status);
  }
  t.equal(statuses.filter((status) => status === 200).length, 59, "one replica stays exact");
  await service.redis.start();
  await until("the limiter counts in Redis again", async () => {
    const fresh = `198.51.100.${100 + (requests % 100)}`;
    const seen = await Promise.all(
      replicas.map((replica) =>
        call(replica, "GET", "/.well-known/jwks.json", { headers: { "x-forwarded-for": fresh } }),
      ),
    );
    requests += 1;
    const remaining = seen.map(({ headers }) => /r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
    return remaining.includes("298");
  });
  t.equal((await list("198.51.100.10")).status, 200);
});
