import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { connect as connectSocket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { currentBuild } from "@coffer/console-app/current";
import { type DeployedService, isOnBus } from "@coffer/events";
import { freePort, prepareDatabase, tiedToThisProcess } from "@coffer/stores";
import { sendSlowly, testDirectory, testNats, testPostgres, testRedis, until } from "@coffer/testkit";
import { connect } from "../../../packages/tools/cases/src/connection.ts";
import { createOrganization } from "../../../packages/tools/cases/src/organization.ts";
import { readCases } from "../../../packages/tools/cases/src/read-cases.ts";
import { type Result, runCases } from "../../../packages/tools/cases/src/run-cases.ts";
import { startReceiver } from "../../../packages/tools/cases/src/receiver.ts";
import { onBus, presentServices } from "../../local/src/services/services.ts";
import { podTemplates } from "../src/kubernetes.ts";
import { nginx, nginxConfig } from "../src/nginx.ts";
import { render } from "../src/render.ts";
import { routesOf } from "../src/routes.ts";
import { type RunningPod, runPod, type Secrets } from "../src/run-pod.ts";

const linux = process.platform === "linux" ? false : "pods side by side need the many loopback addresses of Linux";

const stripeSecret = "whsec_of_the_installation_under_test";

/** The chart does not change heartbeats, and these cases wait a minute: all-cases.test.ts runs them. */
const ofHeartbeats = ["sync/heartbeat", "sync/no-pong"];

/** nginx answers a path with a null character itself: the only allowed difference to a transparent proxy. */
const refusedByNginx = /%00 was answered 400, expected 404: <html>[^]*nginx/;

/** A cluster on loopback: the rendered pods run as processes, each at its own address. */
await t.test("the rendered pods run", { skip: linux }, async (t) => {
  const report = (line: string): void => t.comment(line);
  const directory = testDirectory(t);
  const services = presentServices();
  const [postgres, nats, redis, program] = await Promise.all([
    testPostgres(t, { own: true }),
    testNats(t),
    testRedis(t),
    nginx(report),
  ]);
  const { urls } = await prepareDatabase({
    url: postgres.url,
    database: "coffer",
    owners: services.flatMap(({ schema }) => (schema === null ? [] : [{ role: schema, schema, password: "secret" }])),
    extensions: ["pg_trgm"],
  });

  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const built = await currentBuild(join(directory, "console"), report);
  const consoleEnv = [{ name: "COFFER_CONSOLE_DIR", value: built }];
  const objects = render({
    directory,
    values: {
      baseUrls: [url],
      trustedProxyCidrs: ["127.0.0.0/8"],
      services: Object.fromEntries(
        services.map(({ name }) => [
          name,
          {
            replicas: name === "sync" ? 2 : 1,
            ...(isOnBus(name) ? { existingSecret: `own-${name}` } : { extraEnv: consoleEnv }),
          },
        ]),
      ),
      ports: { public: await freePort(), management: await freePort() },
      billing: { enabled: true },
      siem: { allowedCidrs: ["127.0.0.0/8"] },
      gateway: { enabled: true, parentRefs: [{ name: "shared" }] },
    },
  });
  const secrets: Secrets = Object.fromEntries(
    onBus(services).map(({ name, schema }) => [
      `own-${name}`,
      {
        COFFER_NATS_URL: nats.url,
        COFFER_NATS_CREDENTIALS: JSON.stringify({ [name]: nats.credentials[name] }),
        COFFER_REDIS_URL: redis.urls[name],
        ...(schema === null ? {} : { COFFER_POSTGRES_URL: urls[schema] ?? "" }),
        ...(name === "siem-forwarder" ? { COFFER_SIEM_KEYS: randomBytes(32).toString("base64url") } : {}),
        ...(name === "billing-webhook" ? { COFFER_STRIPE_WEBHOOK_SECRETS: `whsec_another_one,${stripeSecret}` } : {}),
      },
    ]),
  );

  const network = `127.${1 + Math.floor(Math.random() * 250)}.${Math.floor(Math.random() * 250)}`;
  const running: RunningPod[] = [];
  t.teardown(() => running.forEach((pod) => pod.signal("SIGKILL")));
  const start = (owner: string, service: DeployedService): RunningPod => {
    const pod = podTemplates(objects).find((each) => each.owner.metadata.name === owner);
    if (pod === undefined) throw new Error(`nothing is called ${owner}`);
    const started = runPod({ pod, service, address: `${network}.${running.length + 1}`, secrets });
    running.push(started);
    return started;
  };

  await t.test("the migrations bring each schema up to date, and a second time change nothing", async (t) => {
    const storing = services.filter(({ schema }) => schema !== null);
    for (const expected of [/: \d+ applied/, /up to date, nothing applied/]) {
      const jobs = storing.map(({ name }) => start(`coffer-migrate-${name}`, name));
      for (const job of jobs) {
        t.equal(await job.exited, 0, job.log());
        t.match(job.log(), expected);
      }
    }
  });

  const pods = new Map<DeployedService, RunningPod[]>();
  for (const { name } of services) {
    const replicas = name === "sync" ? 2 : 1;
    pods.set(
      name,
      Array.from({ length: replicas }, () => start(`coffer-${name}`, name)),
    );
  }
  const all = [...pods.values()].flat();

  await t.test("each pod answers its probes", async (t) => {
    for (const pod of all) {
      await until(
        `the startup probe succeeds: ${pod.log()}`,
        async () => (await pod.probe("startupProbe")) === 200,
        60,
      );
      await until(`the pod is ready: ${pod.log()}`, async () => (await pod.probe("readinessProbe")) === 200, 60);
      t.equal(await pod.probe("livenessProbe"), 200);
    }
  });

  const hostAndPort = (pod: RunningPod): string => new URL(pod.url).host;
  const file = join(directory, "nginx.conf");
  const endpoints = Object.fromEntries([...pods].map(([name, each]) => [`coffer-${name}`, each.map(hostAndPort)]));
  writeFileSync(file, nginxConfig({ port, routes: routesOf(objects), endpoints, directory }));
  const [proxy = "", ...rest] = tiedToThisProcess(
    [...program, "-e", join(directory, "start.log"), "-c", file],
    "SIGKILL",
  );
  const front = spawn(proxy, rest, { stdio: "ignore" });
  t.teardown(async () => {
    front.kill("SIGKILL");
    if (front.exitCode === null && front.signalCode === null) await once(front, "exit");
  });
  await until("nginx answers", () => listens(port));

  const connection = connect({ url, forwarded: true });

  await t.test("the installation passes the cases, through a proxy with the rendered routes", async (t) => {
    const receiver = await startReceiver("http://127.0.0.1:0");
    t.teardown(() => receiver.close());
    const book = await readCases(fileURLToPath(new URL("../../../docs/spec/cases/", import.meta.url)));
    const cases = book.cases.filter(({ name }) => !ofHeartbeats.includes(name));
    t.equal(cases.length, book.cases.length - ofHeartbeats.length);
    const results: Result[] = [];
    await runCases({
      connection,
      audience: url,
      stripeSecret,
      receiver,
      shop: book.shop,
      cases,
      onResult: (result) => results.push(result),
    });
    t.equal(results.length, cases.length);
    for (const { name, outcome, reason = "" } of results)
      if (outcome === "failed") t.ok(refusedByNginx.test(reason), `${name} ${reason}`);
    const skipped = results.filter(({ outcome }) => outcome === "skipped").map(({ name }) => name);
    t.same(skipped, ["limits/forged-address-does-not-help"], "it needs an installation without a trusted proxy");
  });

  await t.test("no log of the proxy has a token of the sync path", (t) => {
    const log = readFileSync(join(directory, "access.log"), "utf8");
    t.match(log, "/api/sync/ws");
    t.notMatch(log, /token=/);
    t.end();
  });

  await t.test("SIGTERM: requests in flight and devices end in order, within the grace period", async (t) => {
    const owner = await createOrganization(connection, "Drain");
    const token = await owner.accessToken();
    const [first, second] = pods.get("sync") ?? [];
    const [auth] = pods.get("auth-sm") ?? [];
    if (first === undefined || second === undefined || auth === undefined) throw new Error("a pod is missing");
    const path = `/api/sync/ws?token=${encodeURIComponent(token)}`;
    const open = async (pod: RunningPod) => {
      const direct = connect({ url: pod.url, forwarded: true });
      const { socket } = await direct.openPatiently({ path, protocols: [], headers: {}, pongs: true });
      if (socket === undefined) throw new Error("no WebSocket was opened");
      return socket;
    };
    const [leaving, staying] = [await open(first), await open(second)];
    const grace = (name: string): number =>
      podTemplates(objects).find((each) => each.owner.metadata.name === `coffer-${name}`)?.spec
        .terminationGracePeriodSeconds ?? 0;

    const began = performance.now();
    const seconds = (): number => (performance.now() - began) / 1000;
    first.signal("SIGTERM");
    const body = { email: "drain@example.com", role: "member" };
    const answer = await sendSlowly(`${auth.url}/api/org/invites`, { method: "POST", token, body }, async () => {
      auth.signal("SIGTERM");
      await until("the pod says that it is not ready", async () => (await auth.probe("readinessProbe")) === 503);
      t.equal(await auth.probe("livenessProbe"), 200);
    });
    t.equal(answer.status, 201, answer.body);
    t.equal(await auth.exited, 0, auth.log());
    t.ok(seconds() + 5 < grace("auth-sm"), `auth-sm ended after ${seconds()} s`);

    t.match(await leaving.waitFor(60, () => leaving.end), { code: 1012 });
    t.equal(await first.exited, 0, first.log());
    t.ok(seconds() + 5 < grace("sync"), `sync ended after ${seconds()} s`);
    t.equal(staying.end, undefined, "the other replica goes on");
    const again = await connection.openPatiently({ path, protocols: [], headers: {}, pongs: true });
    t.equal(again.status, 101, "through the proxy a device finds the other replica");
    again.socket?.close();
    staying.close();
  });

  await t.test("every pod ends with 0", async (t) => {
    for (const pod of all) pod.signal("SIGTERM");
    for (const pod of all) t.equal(await pod.exited, 0, pod.log().split("\n").slice(-3).join("\n"));
  });
});

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectSocket({ host: "127.0.0.1", port });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
