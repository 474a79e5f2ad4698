import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { unpackWithApt, unpackedCommand } from "./apt.ts";
import { checkoutCache } from "./cache-directory.ts";
import { dockerCommand } from "./docker.ts";
import { installAdvice } from "./install-advice.ts";
import { type NatsRelease, natsRelease, unpackRelease } from "./nats-release.ts";
import { onPath } from "./on-path.ts";
import { findPostgres } from "./postgres-binaries.ts";
import { StoreError } from "./store.ts";

export type ServerProgram = "nats-server" | "redis-server";

export interface LocateOptions {
  /** The folder for a downloaded server. An earlier copy there is used again. */
  cacheDirectory?: string;
  /** Other folders where an earlier copy may be. Default: the checkout's own cache. */
  otherCaches?: readonly string[];
  /** The release of NATS to download without packages and containers. Default: the pinned one. */
  release?: NatsRelease;
  /** Receives one line about a slow step. */
  report?: (line: string) => void;
}

/** Programs with the same protocol, in order of preference; the first one is also the package. */
const alternatives = {
  "nats-server": ["nats-server"],
  "redis-server": ["redis-server", "valkey-server"],
} as const;

/** The servers that `npm start` and the tests need. */
export type NeededProgram = ServerProgram | "postgres";

/**
 * Finds the servers. Throws one StoreError that names everything that is missing, the command that
 * installs it on this system, and the reason. Returns the missing ones of `optional`.
 */
export async function requireServers(
  needed: readonly NeededProgram[],
  { optional = [], ...options }: LocateOptions & { optional?: readonly NeededProgram[] } = {},
): Promise<NeededProgram[]> {
  const found = await Promise.all(
    needed.map(async (program) => ({
      program,
      ...(await (program === "postgres" ? postgres() : find(program, options))),
    })),
  );
  const missing = found.filter(({ command }) => command === null);
  const required = missing.filter(({ program }) => !optional.includes(program));
  const setpriv =
    needed.length > 0 && process.getuid?.() === 0 && onPath("setpriv") === null ? ["setpriv" as const] : [];
  const list = [...required.map(({ program }) => program), ...setpriv];
  if (list.length > 0) {
    const problems = required.flatMap((each) => each.problems);
    throw new StoreError(installAdvice(list, problems));
  }
  return missing.map(({ program }) => program);
}

/** The command line of one server. Throws StoreError with one line of advice. */
export async function locate(program: ServerProgram, options: LocateOptions = {}): Promise<string[]> {
  const { command, problems } = await find(program, options);
  if (command === null) throw new StoreError(installAdvice([program], problems));
  return command;
}

/**
 * The command line of a program that only tests need: from the PATH, else the system's own package
 * unpacked to the checkout's cache. Throws StoreError.
 */
export async function locateTool(
  program: "promtool" | "prometheus",
  { cacheDirectory = checkoutCache, report = () => undefined }: LocateOptions = {},
): Promise<string[]> {
  const path = onPath(program);
  if (path !== null) return [path];
  // Both are in one package.
  const folder = resolve(cacheDirectory, "promtool");
  if (!existsSync(folder)) {
    const { command, problem } = await unpackWithApt("promtool", cacheDirectory, report);
    if (command === null) throw new StoreError(`${program} is missing: ${problem}`);
  }
  return unpackedCommand(folder, program);
}

interface Found {
  command: string[] | null;
  /** Why each way failed. */
  problems: string[];
}

/**
 * The command line that runs a server: from the PATH, else the system's own package unpacked below
 * `cacheDirectory` (nothing is installed and no daemon starts), else a container, else, for NATS, the
 * project's own release.
 */
async function find(program: ServerProgram, options: LocateOptions): Promise<Found> {
  const { cacheDirectory = checkoutCache, otherCaches = [checkoutCache], report = () => undefined } = options;
  for (const name of alternatives[program]) {
    const path = onPath(name);
    if (path !== null) return { command: [path], problems: [] };
  }
  for (const cache of new Set([cacheDirectory, ...otherCaches])) {
    for (const name of alternatives[program]) {
      const folder = resolve(cache, name);
      if (!existsSync(folder)) continue;
      const command = unpackedCommand(folder, name);
      if (runs(command)) return { command, problems: [] };
      // Unpacked by another system, or incompletely.
      rmSync(folder, { recursive: true, force: true });
    }
  }
  const problems: string[] = [];
  for (const name of alternatives[program]) {
    const unpacked = await unpackWithApt(name, resolve(cacheDirectory), report);
    if (unpacked.command !== null) return { command: unpacked.command, problems: [] };
    problems.push(unpacked.problem);
  }
  const docker = dockerCommand(program);
  if (docker !== null) return { command: docker, problems: [] };
  problems.push("no Docker here that answers");
  if (program === "nats-server") {
    const unpacked = await unpackRelease(options.release ?? natsRelease, resolve(cacheDirectory), report);
    if (unpacked.command !== null) return { command: unpacked.command, problems: [] };
    problems.push(unpacked.problem);
  }
  return { command: null, problems };
}

async function postgres(): Promise<Found> {
  const { binaries, problem } = await findPostgres();
  return binaries === null ? { command: null, problems: [problem] } : { command: [binaries.postgres], problems: [] };
}

function runs([program = "", ...rest]: string[]): boolean {
  return spawnSync(program, [...rest, "--version"], { stdio: "ignore", timeout: 10_000 }).status === 0;
}
