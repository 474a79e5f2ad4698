import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { price } from "./pay.ts";

/** A running Coffer for the fuzz. */
export interface Installation {
  url: string;
  managementUrl: string;
  /** Signs its events of Stripe. */
  stripeSecret: string;
  close(): Promise<void>;
}

const launcher = fileURLToPath(new URL("../../../../deploy/local/launch.mjs", import.meta.url));
const readyMilliseconds = 180_000;
const unlimited = "1000000";
/** Collects garbage often, so that unused memory does not count as memory in use. */
const collecting = "--expose-gc --import=data:text/javascript,setInterval(gc,5000).unref()";

/**
 * Starts an installation in its own folder, without limits, and waits until it answers. `close`
 * removes it.
 */
export async function startInstallation(): Promise<Installation> {
  const directory = mkdtempSync(join(tmpdir(), "coffer-fuzz-"));
  const stripeSecret = `whsec_${randomBytes(24).toString("hex")}`;
  const own = Object.entries(process.env).filter(([name]) => !/^(COFFER_(?!TEST_)|OTEL_)/.test(name));
  const child = spawn(process.execPath, [launcher, "start"], {
    env: {
      ...Object.fromEntries(own),
      COFFER_DATA_DIR: directory,
      COFFER_PORT: "0",
      COFFER_LIMIT_STRICT: unlimited,
      COFFER_LIMIT_STANDARD: unlimited,
      COFFER_LIMIT_USER: unlimited,
      COFFER_ACCESS_TOKEN_SECONDS: "86400",
      COFFER_STRIPE_WEBHOOK_SECRETS: stripeSecret,
      COFFER_STRIPE_PRICES: JSON.stringify({ [price]: "business" }),
      COFFER_LOG_LEVEL: "error",
      NODE_OPTIONS: collecting,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4000)));
  const exited = once(child, "exit");
  const close = async (): Promise<void> => {
    child.kill("SIGTERM");
    await exited;
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  };
  const until = performance.now() + readyMilliseconds;
  while (child.exitCode === null && performance.now() < until) {
    const state = readState(join(directory, "run/coffer.json"));
    if (state !== null) return { url: state.url, managementUrl: state.management_url, stripeSecret, close };
    await pause(50);
  }
  await close();
  throw new Error(`the installation did not start: ${said}`);
}

function readState(file: string): { url: string; management_url: string } | null {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as { url: string; management_url: string }; // as npm start writes it
  } catch {
    return null;
  }
}
