import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import t from "tap";

interface Started {
  child: ChildProcess;
  url: string;
  management_url: string;
  exit: Promise<{ code: number | null; stderr: string }>;
}

const linux = process.platform === "linux";

function run(
  t: Tap,
  environment: Record<string, string> = {},
  log: number | "ignore" = "ignore",
): { child: ChildProcess; exit: Started["exit"] } {
  const child = fork(fileURLToPath(new URL("./programs/small-service.ts", import.meta.url)), {
    env: {
      PATH: process.env["PATH"],
      COFFER_PORT: "0",
      COFFER_MANAGEMENT_PORT: "0",
      COFFER_DRAIN_SECONDS: "5",
      ...environment,
    },
    stdio: ["ignore", log, "pipe", "ipc"],
  });
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  t.teardown(() => child.kill("SIGKILL"));
  const said = child.stderr === null ? [] : [once(child.stderr, "end")];
  const exit = Promise.all([once(child, "exit"), ...said]).then(([[code]]) => ({
    code: code as number | null,
    stderr,
  }));
  return { child, exit };
}

async function start(t: Tap, environment: Record<string, string> = {}, log?: number): Promise<Started> {
  const { child, exit } = run(t, environment, log);
  const [message] = (await once(child, "message")) as [{ type: string; url: string; management_url: string }];
  t.equal(message.type, "ready");
  return { child, exit, url: message.url, management_url: message.management_url };
}

type Tap = Pick<typeof t, "teardown" | "equal">;

await t.test("it logs its URL and answers there", async (t) => {
  const { url, management_url } = await start(t);
  t.equal(await (await fetch(`${url}/1`)).text(), "/1");
  for (const path of ["/livez", "/readyz", "/metrics", "/version"]) {
    t.equal((await fetch(management_url + path)).status, 200, path);
  }
});

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  await t.test(`${signal} lets requests in flight finish, then ends with exit code 0`, async (t) => {
    const { child, url, management_url, exit } = await start(t);
    const answer = fetch(`${url}/400`);
    // The second request is answered once the first has arrived: both use open connections.
    await (await fetch(`${url}/20`)).text();
    child.kill(signal);
    const draining = await fetch(`${management_url}/readyz`).then(
      ({ status }) => status,
      () => 503,
    );
    t.ok(draining === 503 || draining === 200, "the signal and the request race");
    t.equal(await (await answer).text(), "/400");
    t.match(await exit, { code: 0, stderr: /closed/ });
  });
}

await t.test("the service drains its upgraded connections itself", async (t) => {
  const { child, url, exit } = await start(t, { COFFER_DRAIN_SECONDS: "2" });
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  t.teardown(() => socket.destroy());
  socket.write("GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  let said = "";
  socket.on("data", (chunk) => (said += chunk.toString()));
  await once(socket, "data");
  child.kill("SIGTERM");
  await once(socket, "close");
  t.match(said, /farewell after 1 s of 2$/);
  t.match(await exit, { code: 0, stderr: /closed/ });
});

await t.test("it ends when the process that forked it is gone", async (t) => {
  const { child, exit } = await start(t);
  child.disconnect();
  t.match(await exit, { code: 0, stderr: /closed/ });
});

await t.test("it serves and stops when its log cannot be written", { skip: !linux }, async (t) => {
  const full = openSync("/dev/full", "a");
  t.teardown(() => closeSync(full));
  const { child, url, management_url, exit } = await start(t, {}, full);
  t.equal(await (await fetch(`${url}/1`)).text(), "/1");
  t.match(await (await fetch(`${management_url}/metrics`)).text(), /^coffer_log_lines_lost_total\{.*\} [1-9]/m);
  child.kill("SIGTERM");
  t.match(await exit, { code: 0, stderr: /closed/ });
});

await t.test("an invalid configuration ends it with exit code 1 and every problem", async (t) => {
  const { exit } = run(t, { COFFER_PORT: "http", COFFER_DRAIN_SECOND: "1" });
  const { code, stderr } = await exit;
  t.equal(code, 1);
  t.match(stderr, "COFFER_PORT");
  t.match(stderr, /COFFER_DRAIN_SECOND\b.*COFFER_DRAIN_SECONDS/s);
});
