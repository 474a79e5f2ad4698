import { once } from "node:events";
import { randomUUID } from "node:crypto";
import { connect as connectTo } from "node:net";
import { BroadcastChannel } from "node:worker_threads";
import { scanDocuments } from "@coffer/events";
import { until } from "@coffer/testkit";
import t from "tap";
import { startScanner } from "./scanner.ts";
import { personalToken } from "./secrets.ts";

const mebibyte = 1024 * 1024;
const one = (content: string) => ({ documents: [{ path: "a", content }] });

await t.test("64 scans wait, and no more: 503 with Retry-After 1, before a large body is read too", async (t) => {
  const program = new URL("./programs/held-worker.ts", import.meta.url);
  const service = await startScanner(t, { seams: { pool: { threads: 1, mostMilliseconds: 120_000, program } } });
  const { scan, authSm, url } = service;
  const machine = authSm.machine();
  const held = Array.from({ length: 65 }, () => scan(machine, one("a")));
  await until("64 wait", async () => /coffer_scanner_waiting\{[^}]*\} 64\n/.test(await service.registry.metrics()));
  const refused = await scan(machine, one("a"));
  t.match(refused, { status: 503, body: { error: "unavailable" } });
  t.equal(refused.headers.get("retry-after"), "1");
  const socket = connectTo(Number(new URL(url).port), "127.0.0.1");
  t.teardown(() => socket.destroy());
  const head = [
    "POST /api/scanner/scan HTTP/1.1",
    "Host: coffer.test",
    `Authorization: Bearer ${machine.token}`,
    "Content-Type: application/json",
    `Content-Length: ${mebibyte}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  const [answer] = (await once(socket, "data", { signal: AbortSignal.timeout(20_000) })) as [Buffer];
  t.match(answer.toString(), /^HTTP\/1\.1 503 /, "without its body");
  const bus = await service.connect("vaults");
  await t.rejects(bus.request(scanDocuments, one("a")), { code: "unavailable", retryAfterSeconds: 1 });
  t.equal((await fetch(`${url}/api/scanner/rules`)).status, 401, "others are answered");
  const channel = new BroadcastChannel("scans");
  // Again and again: the thread may still be starting.
  const release = setInterval(() => channel.postMessage("go on"), 20);
  for (const { status } of await Promise.all(held)) t.equal(status, 200);
  clearInterval(release);
  channel.close();
  t.equal((await scan(machine, one("a"))).status, 200);
});

await t.test("without siem-forwarder or auth-sm the answer is 503, and nothing is found out", async (t) => {
  const { scan, authSm, audit } = await startScanner(t);
  const machine = authSm.machine();
  const person = await authSm.person({ orgId: randomUUID() });
  audit.refuses = true;
  for (const caller of [machine, person]) {
    const { status, body } = await scan(caller, one(personalToken()));
    t.equal(status, 503);
    t.notOk("findings" in body);
  }
  audit.refuses = false;
  await audit.bus.close();
  t.equal((await scan(machine, one("a"))).status, 503);
});
