import { randomUUID } from "node:crypto";
import { readFile, rename, stat, unlink, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

const pollMilliseconds = 25;
/** Longer than anything that is done under a lock may take: an older one belongs to a process that is gone. */
const staleMilliseconds = 120_000;

/**
 * Runs `work` while no other process on this machine runs work under the same lock file. The lock of a process that
 * ended without giving it back is taken over. Throws what `work` throws.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const mine = `${process.pid} ${randomUUID()}`;
  while (!(await takes(path, mine))) {
    await giveUpStale(path);
    await delay(pollMilliseconds);
  }
  try {
    return await work();
  } finally {
    if ((await read(path)) === mine) await unlink(path);
  }
}

/** Makes the lock file where there is none. */
async function takes(path: string, content: string): Promise<boolean> {
  try {
    await writeFile(path, content, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Takes a lock away whose process is gone. Of several that try, one succeeds. */
async function giveUpStale(path: string): Promise<void> {
  const content = await read(path);
  if (content === undefined || !(await isStale(path, content))) return;
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  // Somebody may have taken it between the look and the move: then it goes back.
  const moved = await read(aside);
  if (moved !== undefined && moved !== content) await takes(path, moved);
  await unlink(aside);
}

async function isStale(path: string, content: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined && Date.now() - found.mtimeMs > staleMilliseconds) return true;
  const owner = Number.parseInt(content, 10);
  // Just made, and not written yet.
  if (Number.isNaN(owner)) return false;
  try {
    process.kill(owner, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

async function read(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(() => undefined);
}
