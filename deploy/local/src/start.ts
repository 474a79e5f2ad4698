import { otherProfileAddress } from "@coffer/cli/profile-address";
import { ConfigurationError, describeVariables } from "@coffer/env";
import { StoreError } from "@coffer/stores";
import { type Arguments, readArguments } from "./arguments.ts";
import { becomeOwner } from "./data/become-owner.ts";
import { checkout } from "./checkout.ts";
import { isEmpty, refuseForeign, takeBack } from "./data/data-directory.ts";
import { firstMinute, machineInTheWay } from "./first-minute.ts";
import { type Installation, openInstallation } from "./data/installation.ts";
import { takeLock } from "./data/instance-lock.ts";
import { resetDataDirectory } from "./data/reset.ts";
import { runFileOf } from "./run-file.ts";
import { run, type Running } from "./run.ts";
import { readSettings, type Settings } from "./settings.ts";
import { choosePlace } from "./data/stores-place.ts";
import { aboutDataDirectory, StartupError } from "./startup-error.ts";
import { untilStopped } from "./until-stopped.ts";

const usage = `npm start                     starts Coffer and the stores it needs, and serves until Ctrl-C
npm start -- --help           prints this
npm start -- --reset [--yes]  empties the data directory first, after asking
`;
// The limit for everything besides the drain of connections.
const graceSeconds = 3;

const report = (line: string): void => void process.stderr.write(`coffer: ${line}\n`);

async function main(): Promise<void> {
  const { help, ...given } = readArguments(process.argv.slice(2));
  if (help) return void process.stdout.write(`${usage}\n${describeVariables()}\n`);
  const settings = readSettings(process.env);
  try {
    await serve(settings, given);
  } catch (error) {
    throw aboutDataDirectory(error, settings.COFFER_DATA_DIR);
  }
}

type Given = Pick<Arguments, "reset" | "yes" | "restarted">;

/** Starts, prints the ready line, and serves until it is stopped. */
async function serve(settings: Settings, { reset, yes, restarted }: Given): Promise<void> {
  const dataDirectory = settings.COFFER_DATA_DIR;
  const owner = becomeOwner(dataDirectory);
  if (owner !== null) report(`${dataDirectory} belongs to user ${owner}: going on as that user`);
  refuseForeign(dataDirectory);
  const wasEmpty = isEmpty(dataDirectory);
  const unlock = takeLock(dataDirectory);
  let tidy = (): void => undefined;
  try {
    if (reset) await startOver(dataDirectory, yes);
    const installation = openInstallation(dataDirectory, choosePlace(dataDirectory));
    const stopped = untilStopped();
    const starting = run({ settings, env: process.env, installation, report });
    const first = await Promise.race([starting, stopped]);
    if (typeof first === "object") {
      // From now on the launcher restarts this process, on the same port, if it ends unexpectedly.
      process.send?.({ port: Number(new URL(first.url).port), runFile: runFileOf(dataDirectory) });
      if (restarted) report(`serving again at ${first.url}`);
      else await introduce(dataDirectory, installation, first);
      await stopped;
    }
    report("stopping");
    cutAfter(settings.COFFER_DRAIN_SECONDS + graceSeconds);
    await starting.then((running) => running.close());
  } catch (error) {
    if (wasEmpty) tidy = takeBack(dataDirectory);
    throw error;
  } finally {
    unlock();
    tidy();
  }
}

/** Prints the ready line, and the next steps. */
async function introduce(dataDirectory: string, installation: Installation, running: Running): Promise<void> {
  const { url, address, hasConsole } = running;
  if (address !== url) report(`listening at ${url}`);
  const exports = await linesToExport(dataDirectory, running);
  const lines = installation.firstReadyAt === null ? [...exports, ...firstMinute] : [];
  if (hasConsole) report(`open ${address} in a browser: the console`);
  if (lines.length > 0) report("the first minute: paste these into a second terminal in this folder, one by one");
  process.stdout.write([`coffer ready at ${address}`, ...lines, ""].join("\n"));
}

async function startOver(dataDirectory: string, yes: boolean): Promise<void> {
  const others = await resetDataDirectory(dataDirectory, yes);
  if (others.length > 0) report(`left alone, because they are not Coffer's: ${others.join(", ")}`);
  const machine = machineInTheWay(checkout);
  if (machine !== null) report(machine);
}

/**
 * The variables that a command in another terminal needs for this installation: a data directory other
 * than the checkout's own, and the address if COFFER_BASE_URL has set one or if the command's profile has
 * another service.
 */
async function linesToExport(dataDirectory: string, { url, address }: Running): Promise<string[]> {
  const lines: string[] = [];
  if (dataDirectory !== readSettings({}).COFFER_DATA_DIR) lines.push(exportLine("COFFER_DATA_DIR", dataDirectory));
  const line = exportLine("COFFER_URL", address);
  const other = await otherProfileAddress(process.env, address);
  if (other === undefined) return address === url ? lines : [...lines, line];
  report(`the command on this machine works with ${other}; for this installation: ${line}`);
  return [...lines, line];
}

function exportLine(name: string, value: string): string {
  return `export ${name}='${value.replaceAll("'", String.raw`'\''`)}'`;
}

/** Ends the process, and with it every store, if the orderly stop takes too long. */
function cutAfter(seconds: number): void {
  setTimeout(() => process.exit(0), seconds * 1000).unref();
}

// The reader of the output may disconnect, or its disk may be full: no reason to end.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);

try {
  await main();
  process.exit(0);
} catch (error) {
  const expected = error instanceof StartupError || error instanceof StoreError || error instanceof ConfigurationError;
  report(expected ? error.message : String(error instanceof Error ? error.stack : error));
  process.exit(1);
}
