import { link, readFile, rename, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

const pollMilliseconds = 25;
/** What is done under the lock takes seconds at most: an older lock belongs to a process that is gone. */
const staleMilliseconds = 60_000;

/**
 * Runs `work` while no other process on this machine runs work under the same lock file. The lock of a process that
 * ended without giving it back is taken over. Throws what `work` throws.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const id = randomUUID();
  const mine = `${process.pid} ${id}`;
  const draft = `${path}.${id}`;
  await writeFile(draft, mine, { mode: 0o600 });
  try {
    while (!(await taken(draft, path))) {
      await giveUpStale(path);
      await delay(pollMilliseconds);
      await utimes(draft, new Date(), new Date());
    }
  } finally {
    await unlink(draft);
  }
  try {
    return await work();
  } finally {
    if ((await read(path)) === mine) await unlink(path);
  }
}

/** A hard link appears with its content or not at all, and only where nothing is. */
async function taken(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path);
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
  // Somebody may have renewed it between the look and the move: then it goes back.
  if ((await read(aside)) !== content) await taken(aside, path);
  await unlink(aside);
}

async function isStale(path: string, content: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined && Date.now() - found.mtimeMs > staleMilliseconds) return true;
  try {
    process.kill(Number.parseInt(content, 10), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

async function read(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(() => undefined);
}
