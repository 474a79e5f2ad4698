import { execFile, spawnSync } from "node:child_process";
import { chownSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { PostgresBinaries } from "./postgres-binaries.ts";
import { asServerUser, serverUser, writeServerFile } from "./server-user.ts";
import { StoreError } from "./store.ts";

const run = promisify(execFile);

export interface ClusterOptions {
  directory: string;
  password: string;
  /** Whether the cluster must survive a crash of the machine right after it was made. */
  durable: boolean;
}

/**
 * Makes a cluster at `<directory>/data`: UTF-8, one collation on every platform, checksums. It gets
 * that name only when it is complete, so that an interrupted start is simply repeated. Throws
 * StoreError.
 */
export async function makeCluster(binaries: PostgresBinaries, options: ClusterOptions): Promise<void> {
  const { directory, password, durable } = options;
  const unfinished = join(directory, "data.new");
  const secret = join(directory, "data.password");
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  writeServerFile(secret, `${password}\n`);
  const user = serverUser();
  if (user !== null) chownSync(unfinished, user.uid, user.gid);
  const [program = "", ...rest] = asServerUser([
    binaries.initdb,
    `--pgdata=${unfinished}`,
    "--username=postgres",
    `--pwfile=${secret}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--data-checksums",
    "--no-instructions",
    ...(durable ? [] : ["--no-sync"]),
  ]);
  try {
    await run(program, rest, { cwd: directory });
  } catch (cause) {
    const { stderr, message } = cause as { stderr?: string; message: string };
    const lines = (stderr?.trim() || message).split("\n");
    // The lines after the reason only say that initdb ended.
    const reasons = lines.filter((line) => /\b(FATAL|PANIC|error): /.test(line));
    const reason = (reasons.length > 0 ? reasons : lines).slice(-2).join(" / ");
    throw new StoreError(`Postgres could not make its data directory: ${reason}`, { cause });
  } finally {
    rmSync(secret, { force: true });
  }
  renameSync(unfinished, join(directory, "data"));
}

/**
 * Clears what a killed server leaves: its shared memory segment and, if certainly none of its
 * processes is left, its lock file. Postgres would take that file for a running server's until the
 * dead process is reaped, which the first process of a container may not do.
 */
export function clearAfterCrash(data: string): void {
  freeSharedMemory(data);
  if (process.platform === "linux") rmSync(join(data, "postmaster.pid"), { force: true });
}

/** Removes the shared memory segment of a killed server; an orderly stop leaves none. */
function freeSharedMemory(data: string): void {
  let segment: string | undefined;
  try {
    segment = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[6]?.trim().split(/\s+/)[1];
  } catch {
    return;
  }
  if (segment === undefined || !/^\d+$/.test(segment)) return;
  // The server wrote the number: runs as its user, so that no other user's segment is removed.
  const [program = "", ...args] = asServerUser(["ipcrm", "-m", segment]);
  spawnSync(program, args, { stdio: "ignore" });
}
