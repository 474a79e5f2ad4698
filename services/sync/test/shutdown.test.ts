import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import t from "tap";
import { until } from "@coffer/testkit";
import { issuer } from "./support/auth-sm.ts";
import { connectDevice } from "./support/device.ts";
import { startReplica, startSync } from "./support/start.ts";

const sync = await startSync(t);
const { authSm, connect } = sync;

await t.test("on shutdown connections are closed with 1012, spread over the drain period", async (t) => {
  const replica = await startReplica(t, sync);
  await until("it is on the bus", async () => (await replica.service.ready()).degraded === false);
  const devices = await Promise.all(Array.from({ length: 20 }, () => connect(authSm.person(), undefined, replica)));
  await devices[0]?.sync();
  const began = performance.now();
  const closing = replica.close(1);
  const times = await Promise.all(
    devices.map(async (device) => {
      t.match(await device.closed(), { code: 1012 });
      return performance.now() - began;
    }),
  );
  const [first, last] = [Math.min(...times), Math.max(...times)];
  t.ok(last - first > 200, `from ${first} to ${last} ms`);
  await closing;
  t.match(await replica.metrics(), 'coffer_sync_closes_total{service="sync",code="1012"} 20');
});

await t.test("an upgrade that is being authorized at shutdown is refused and does not delay it", async (t) => {
  const replica = await startReplica(t, sync);
  await until("it is on the bus", async () => (await replica.service.ready()).degraded === false);
  // The first token makes the replica request the keys.
  const [requested, latch] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  authSm.beforeKeys = () => {
    requested.resolve(undefined);
    return latch.promise;
  };
  const refused = t.rejects(connect(authSm.person(), undefined, replica), /503/);
  await requested.promise;
  const began = performance.now();
  const closing = replica.close(20);
  latch.resolve(undefined);
  authSm.beforeKeys = () => undefined;
  await refused;
  await closing;
  t.ok(performance.now() - began < 15_000);
});

await t.test("a client that does not answer the close frame is cut at the end of the period", async (t) => {
  const replica = await startReplica(t, sync);
  await until("it is on the bus", async () => (await replica.service.ready()).degraded === false);
  const device = await connect(authSm.person(), undefined, replica);
  device.socket.pause();
  const began = performance.now();
  await replica.close(0.4);
  t.ok(performance.now() - began < 10_000);
});

await t.test("a process is ready, serves, and exits with 0 on a signal", async (t) => {
  const { nats, redis } = sync;
  const child = fork(fileURLToPath(new URL("../src/main.ts", import.meta.url)), {
    env: {
      PATH: process.env["PATH"],
      COFFER_PORT: "0",
      COFFER_MANAGEMENT_PORT: "0",
      COFFER_BASE_URL: issuer,
      COFFER_NATS_URL: nats.url,
      COFFER_NATS_CREDENTIALS: JSON.stringify({ sync: nats.credentials.sync }),
      COFFER_REDIS_URL: redis.urls.sync,
      COFFER_DRAIN_SECONDS: "1",
    },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  t.teardown(() => child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (output += String(chunk)));
  const [ready] = (await once(child, "message")) as [{ url: string; management_url: string }];
  const readiness = async () => (await fetch(`${ready.management_url}/readyz`)).json();
  await until("it has its stores", async () => ((await readiness()) as { status: string }).status === "ready");
  t.match(await readiness(), { checks: { nats: "ok", redis: "ok" } });
  const device = await connectDevice(t, ready.url, { token: await authSm.token(authSm.person()) });
  await device.sync();
  t.match(
    await (await fetch(`${ready.management_url}/metrics`)).text(),
    /^coffer_sync_connections\{service="sync"\} 1$/m,
  );
  child.kill("SIGTERM");
  t.match(await device.closed(), { code: 1012 });
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  t.same([code, signal], [0, null], output);
  t.notMatch(output, "eyJ");
});
