import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { testNats, testRedis, until } from "@coffer/testkit";
import { checkedFetch } from "@coffer/openapi";
import { scanDocuments } from "@coffer/events";
import t from "tap";
import { connect, issuer } from "./scanner.ts";
import { personalToken } from "./secrets.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));

function start(env: NodeJS.ProcessEnv): { child: ChildProcess; output: () => string } {
  const child = fork(main, { env: { PATH: process.env["PATH"], ...env }, stdio: ["ignore", "pipe", "pipe", "ipc"] });
  t.teardown(() => child.kill("SIGKILL"));
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return { child, output: () => text };
}

await t.test("a process without its addresses ends at once and says all that is missing", async (t) => {
  const { child, output } = start({ COFFER_PORT: "0" });
  const [code] = (await once(child, "exit")) as [number | null];
  t.equal(code, 1);
  for (const name of ["COFFER_NATS_URL", "COFFER_NATS_CREDENTIALS", "COFFER_REDIS_URL"]) t.match(output(), name);
  t.notMatch(output(), "COFFER_POSTGRES_URL");
});

await t.test("a process is ready, scans, and ends with 0 when it is asked to", async (t) => {
  const [nats, redis] = await Promise.all([testNats(t), testRedis(t)]);
  const { child, output } = start({
    COFFER_PORT: "0",
    COFFER_MANAGEMENT_PORT: "0",
    COFFER_BASE_URL: issuer,
    COFFER_NATS_URL: nats.url,
    COFFER_NATS_CREDENTIALS: JSON.stringify({ scanner: nats.credentials.scanner }),
    COFFER_REDIS_URL: redis.urls.scanner,
    COFFER_DRAIN_SECONDS: "1",
  });
  const [ready] = (await once(child, "message")) as [{ type: string; url: string; management_url: string }];
  t.equal(ready.type, "ready");
  await until("it is ready", async () => {
    const response = await fetch(`${ready.management_url}/readyz`);
    return response.status === 200 && ((await response.json()) as { degraded?: boolean }).degraded !== true;
  });
  t.equal((await checkedFetch(`${ready.url}/api/scanner/rules`)).status, 401);
  const bus = await connect(t, nats, "vaults");
  const documents = [{ path: "a", content: personalToken() }];
  const answer = await until("it answers", () =>
    bus.request(scanDocuments, { documents }, { timeoutMilliseconds: 20_000 }).catch(() => undefined),
  );
  t.equal(answer.findings.length, 1);
  t.equal((await fetch(`${ready.management_url}/livez`)).status, 200);
  t.match(await (await fetch(`${ready.management_url}/metrics`)).text(), "coffer_scanner_scans_total");
  child.kill("SIGTERM");
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  t.same([code, signal], [0, null], output());
});
