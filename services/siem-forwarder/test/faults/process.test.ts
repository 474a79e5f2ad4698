import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { until } from "@coffer/testkit";
import { checkedFetch } from "@coffer/openapi";
import t from "tap";
import { siemKey, startStores } from "../forwarder.ts";
import { migrateService } from "../../src/migrate.ts";
import { issuer } from "../people.ts";

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

function start(env: NodeJS.ProcessEnv): { child: ChildProcess; output: () => string } {
  const child = fork(main, { env: { PATH: process.env["PATH"], ...env }, stdio: ["ignore", "pipe", "pipe", "ipc"] });
  t.teardown(() => child.kill("SIGKILL"));
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return { child, output: () => text };
}

await t.test("a process without its addresses ends at once and says all that is missing", async (t) => {
  const { child, output } = start({ COFFER_PORT: "0", COFFER_COLOUR: "blue" });
  const [code] = (await once(child, "exit")) as [number | null];
  t.equal(code, 1);
  t.match(output(), "COFFER_COLOUR");
  const bare = start({ COFFER_PORT: "0" });
  t.equal(((await once(bare.child, "exit")) as [number | null])[0], 1);
  for (const name of ["COFFER_POSTGRES_URL", "COFFER_NATS_URL", "COFFER_NATS_CREDENTIALS", "COFFER_REDIS_URL"])
    t.match(bare.output(), name);
});

await t.test("a process is ready once its schema is there, and ends with 0 when it is asked to", async (t) => {
  const { postgres, nats, redis } = await startStores(t);
  const { child, output } = start({
    COFFER_PORT: "0",
    COFFER_MANAGEMENT_PORT: "0",
    COFFER_BASE_URL: issuer,
    COFFER_POSTGRES_URL: postgres.url,
    COFFER_NATS_URL: nats.url,
    COFFER_NATS_CREDENTIALS: JSON.stringify({ "siem-forwarder": nats.credentials["siem-forwarder"] }),
    COFFER_REDIS_URL: redis.urls["siem-forwarder"],
    COFFER_DRAIN_SECONDS: "1",
    COFFER_SIEM_KEYS: siemKey,
  });
  const [ready] = (await once(child, "message")) as [{ type: string; url: string; management_url: string }];
  t.equal(ready.type, "ready");
  const readiness = async () => {
    const response = await fetch(`${ready.management_url}/readyz`);
    return { status: response.status, body: await response.json() };
  };
  t.match(await readiness(), { status: 503, body: { checks: { postgres: "not migrated" } } });
  await migrateService({ url: postgres.url });
  await until("it is ready", async () => (await readiness()).status === 200);
  t.notMatch(output(), '"level":"error"', "what waits for the migrations is no error");
  t.equal((await checkedFetch(`${ready.url}/api/org/audit`)).status, 401);
  t.match(await (await fetch(`${ready.management_url}/metrics`)).text(), "http_server_request_duration_seconds");
  child.kill("SIGTERM");
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  t.same([code, signal], [0, null], output());
});
