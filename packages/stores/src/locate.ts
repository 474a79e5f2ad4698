import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { unpackWithApt, unpackedCommand } from "./apt.ts";
import { checkoutCache } from "./cache-directory.ts";
import { dockerCommand } from "./docker.ts";
import { natsRelease, unpackRelease } from "./nats-release.ts";
import { onPath } from "./on-path.ts";
import { StoreError } from "./store.ts";

export type ServerProgram = "nats-server" | "redis-server";

export interface LocateOptions {
  /** Where a downloaded server is unpacked. An earlier copy there, or in the checkout's own cache, is used again. */
  cacheDirectory?: string;
  /** Told in one line what is being done when it takes longer than a moment. */
  report?: (line: string) => void;
}

/** Programs that speak the same protocol, in order of preference; the first of each list is also its package. */
const alternatives = {
  "nats-server": ["nats-server"],
  "redis-server": ["redis-server", "valkey-server"],
} as const;

/**
 * The command line that runs a server: from the PATH, else the system's own package unpacked below
 * `cacheDirectory` (nothing is installed and no daemon starts), else a container, else, for NATS, the project's own
 * release. Throws StoreError with one line that says what to install.
 */
export async function locate(program: ServerProgram, options: LocateOptions = {}): Promise<string[]> {
  const { cacheDirectory = checkoutCache, report = () => undefined } = options;
  for (const name of alternatives[program]) {
    const path = onPath(name);
    if (path !== null) return [path];
  }
  for (const cache of new Set([resolve(cacheDirectory), checkoutCache])) {
    for (const name of alternatives[program]) {
      const folder = resolve(cache, name);
      if (!existsSync(folder)) continue;
      const command = unpackedCommand(folder, name);
      if (runs(command)) return command;
      // Unpacked by another system than this one, or not whole.
      rmSync(folder, { recursive: true, force: true });
    }
  }
  const problems: string[] = [];
  for (const name of alternatives[program]) {
    const unpacked = await unpackWithApt(name, resolve(cacheDirectory), report);
    if (unpacked.command !== null) return unpacked.command;
    problems.push(unpacked.problem);
  }
  const docker = dockerCommand(program);
  if (docker !== null) return docker;
  if (program === "nats-server") {
    const unpacked = await unpackRelease(natsRelease, resolve(cacheDirectory), report);
    if (unpacked.command !== null) return unpacked.command;
    problems.push(unpacked.problem);
  }
  throw new StoreError(
    `${program} is needed and was not found: install it (Debian, Ubuntu: apt-get install ${program}; macOS: brew install ${program === "nats-server" ? "nats-server" : "redis"}) or start Docker, or set ${program === "nats-server" ? "COFFER_NATS_URL and COFFER_NATS_CREDENTIALS" : "COFFER_REDIS_URL"} (${problems.join("; ")})`,
  );
}

function runs([program = "", ...rest]: string[]): boolean {
  return spawnSync(program, [...rest, "--version"], { stdio: "ignore", timeout: 10_000 }).status === 0;
}
