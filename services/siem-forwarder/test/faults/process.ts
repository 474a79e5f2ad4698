import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { TestScope } from "@coffer/testkit";
import type { Stores } from "../forwarder.ts";
import { siemKey } from "../forwarder.ts";
import { issuer } from "../people.ts";
import { allowLoopback } from "../delivery/siem.ts";

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/** Starts the service as its own process, which delivers by itself, and waits until it listens. */
export async function startProcess(
  t: TestScope,
  { postgres, nats, redis }: Stores,
  env: NodeJS.ProcessEnv = {},
): Promise<ChildProcess> {
  const child = fork(main, {
    env: {
      PATH: process.env["PATH"],
      ...allowLoopback,
      COFFER_PORT: "0",
      COFFER_MANAGEMENT_PORT: "0",
      COFFER_BASE_URL: issuer,
      COFFER_POSTGRES_URL: postgres.url,
      COFFER_NATS_URL: nats.url,
      COFFER_NATS_CREDENTIALS: JSON.stringify({ "siem-forwarder": nats.credentials["siem-forwarder"] }),
      COFFER_REDIS_URL: redis.urls["siem-forwarder"],
      COFFER_SIEM_KEYS: siemKey,
      COFFER_LOG_LEVEL: "fatal",
      COFFER_DRAIN_SECONDS: "5",
      ...env,
    },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  t.teardown(() => child.kill("SIGKILL"));
  await once(child, "message");
  return child;
}
