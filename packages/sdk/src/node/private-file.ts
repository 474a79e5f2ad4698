import { randomBytes } from "node:crypto";
import { lstat, mkdir, open, readdir, realpath, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** No write takes this long. */
const abandonedMilliseconds = 600_000;

/**
 * Writes a file atomically with mode 0600: a reader sees the old content or the new, also after a
 * crash. A symbolic link stays and its target is replaced. The directory must exist. The next write
 * removes temporary files of killed processes: when they are old, or at once with `alone`, which
 * asserts that no other process writes this file. Throws an error that names the path when it
 * cannot be written or is no ordinary file.
 */
export async function writePrivateFile(
  path: string,
  text: string | Uint8Array,
  { alone = false }: { alone?: boolean } = {},
): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const present = await stat(target).catch(() => undefined);
  if (present !== undefined && !present.isFile()) throw new Error(`${path} is not an ordinary file`);
  await removeAbandoned(target, alone ? -Infinity : abandonedMilliseconds);
  const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString("hex")}.tmp`);
  const file = await open(temporary, "wx", 0o600).catch((cause: unknown) => {
    throw new Error(`${path} cannot be written: ${(cause as NodeJS.ErrnoException).code ?? "unknown"}`, { cause });
  });
  try {
    await file.writeFile(text);
    await file.sync();
    await file.close();
    await rename(temporary, target);
  } catch (error) {
    await file.close().catch(() => undefined);
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncDirectory(dirname(target));
}

/** Removes abandoned temporary files, which may contain secrets in the clear. */
async function removeAbandoned(target: string, olderThanMilliseconds: number): Promise<void> {
  const directory = dirname(target);
  const [before, after] = [`.${basename(target)}.`, ".tmp"];
  const names = await readdir(directory).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(before) || !name.endsWith(after)) continue;
    if (!/^[0-9a-f]{12}$/.test(name.slice(before.length, -after.length))) continue;
    const path = join(directory, name);
    const found = await lstat(path).catch(() => undefined);
    const abandoned = found?.isFile() === true && Date.now() - found.mtimeMs > olderThanMilliseconds;
    if (abandoned) await unlink(path).catch(() => undefined);
  }
}

/** Creates a directory that only its owner can enter, with its parents. */
export async function makePrivateDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/** Makes the new name durable, where the file system supports syncing a directory. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r").catch(() => undefined);
  await directory?.sync().catch(() => undefined);
  await directory?.close();
}
