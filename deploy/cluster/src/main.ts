// npm run cluster: several replicas of each service behind nginx, on one machine.
import { rmSync } from "node:fs";
import { ConfigurationError } from "@coffer/env";
import { endServersIn, freePort, StoreError, temporaryDirectory } from "@coffer/stores";
import { refuseForeign } from "../../local/src/data/data-directory.ts";
import { openInstallation } from "../../local/src/data/installation.ts";
import { takeLock } from "../../local/src/data/instance-lock.ts";
import { StartupError } from "../../local/src/startup-error.ts";
import { choosePlace, openPlace } from "../../local/src/data/stores-place.ts";
import { untilStopped } from "../../local/src/until-stopped.ts";
import { clusterFileOf } from "./cluster-file.ts";
import { type Options, readOptions, usage } from "./options.ts";
import { runCluster } from "./run-cluster.ts";

const report = (line: string): void => void process.stderr.write(`coffer: ${line}\n`);

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options === null) return void process.stdout.write(usage);
  if (process.platform !== "linux")
    throw new StartupError("replicas side by side need the many loopback addresses of Linux");
  const temporary = options.data === null ? temporaryDirectory("coffer-cluster-") : null;
  const directory = options.data ?? temporary ?? "";
  try {
    await serve(directory, options);
  } finally {
    if (temporary !== null) {
      await endServersIn(temporary);
      rmSync(temporary, { recursive: true, force: true });
    }
  }
}

async function serve(directory: string, options: Options): Promise<void> {
  refuseForeign(directory);
  const unlock = takeLock(directory);
  try {
    const installation = openInstallation(directory, choosePlace(directory));
    const storesDirectory = openPlace(directory, installation.stores);
    report(`data and logs in ${directory}`);
    const stopped = untilStopped();
    const port = options.port === 0 ? await freePort() : options.port;
    const starting = runCluster({ ...options, port, directory, installation, storesDirectory, report });
    const first = await Promise.race([starting, stopped]);
    if (typeof first === "object") {
      process.stdout.write(`coffer ready at ${first.url}\n`);
      report(`processes and addresses in ${clusterFileOf(directory)}`);
      await stopped;
    }
    report("stopping");
    await starting.then((running) => running.close());
  } finally {
    unlock();
  }
}

// The reader may disconnect first.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);

try {
  await main();
  process.exit(0);
} catch (error) {
  const isExpected =
    error instanceof StartupError ||
    error instanceof StoreError ||
    error instanceof ConfigurationError ||
    error instanceof TypeError;
  report(isExpected ? error.message : String(error instanceof Error ? error.stack : error));
  process.exit(1);
}
