import { randomUUID } from "node:crypto";
import { readlinkSync } from "node:fs";
import { link, open, readFile, rename, stat, unlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { printNotice } from "../output/output.ts";
import { errorCode } from "./error-code.ts";

const pollMilliseconds = 25;
/** Longer than any operation under a lock: an older lock belongs to a dead process. */
const staleMilliseconds = 120_000;
/**
 * The limit for a lock without an owner: its process ended, or the disk was full, before it had
 * written it.
 */
const emptyMilliseconds = 5_000;
/** After this wait, print the reason. */
const silentMilliseconds = 2_000;
/** Errors of file systems without hard links. */
const linkless = new Set<string | undefined>(["EPERM", "EACCES", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"]);

/**
 * Runs `work` while no other process holds the same lock file, also one in another container or on
 * another host that shares the folder. Takes over the lock of a dead process. Throws what `work` throws.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const mine = `${process.pid} ${randomUUID()} ${place()}`;
  const begin = performance.now();
  let said = false;
  while (!(await takes(path, mine))) {
    await giveUpStale(path);
    if (!said && performance.now() - begin > silentMilliseconds) {
      said = true;
      await printReason(path);
    }
    await delay(pollMilliseconds);
  }
  try {
    return await work();
  } finally {
    if ((await read(path)) === mine) await unlink(path);
  }
}

/** Where the number of a process means this process: the host, and on Linux the PID namespace. */
function place(): string {
  try {
    return `${hostname()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}

async function printReason(path: string): Promise<void> {
  const owner = Number.parseInt((await read(path)) ?? "", 10);
  const whose = Number.isNaN(owner) ? "another process" : `the process ${owner}`;
  printNotice(`coffer: waiting for ${whose}, which holds ${path}`);
}

/** Creates the lock file with its content atomically, so that it always has an owner. */
async function takes(path: string, content: string): Promise<boolean> {
  if ((await stat(path).catch(() => undefined)) !== undefined) return false;
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, content, { flag: "wx", mode: 0o600 });
    await link(draft, path);
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === "EEXIST") return false;
    if (linkless.has(code)) return await takesWithoutLink(path, content);
    throw error;
  } finally {
    await unlink(draft).catch(() => undefined);
  }
}

async function takesWithoutLink(path: string, content: string): Promise<boolean> {
  const file = await open(path, "wx", 0o600).catch((error: unknown) => {
    if (errorCode(error) === "EEXIST") return undefined;
    throw error;
  });
  if (file === undefined) return false;
  try {
    await file.writeFile(content);
    return true;
  } catch (error) {
    await unlink(path).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
}

/** Removes the lock of a dead process. Of several processes that try, one succeeds. */
async function giveUpStale(path: string): Promise<void> {
  const content = await read(path);
  if (content === undefined || !(await isStale(path, content))) return;
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  // If another process has taken the lock in between, restores it.
  const moved = await read(aside);
  if (moved !== undefined && moved !== content) await takes(path, moved);
  await unlink(aside);
}

async function isStale(path: string, content: string): Promise<boolean> {
  const owner = Number.parseInt(content, 10);
  const found = await stat(path).catch(() => undefined);
  const most = Number.isNaN(owner) ? emptyMilliseconds : staleMilliseconds;
  if (found !== undefined && Date.now() - found.mtimeMs > most) return true;
  // Elsewhere, the process with that number is another one.
  if (Number.isNaN(owner) || content.split(" ").slice(2).join(" ") !== place()) return false;
  try {
    process.kill(owner, 0);
    return false;
  } catch (error) {
    return errorCode(error) === "ESRCH";
  }
}

async function read(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(() => undefined);
}
