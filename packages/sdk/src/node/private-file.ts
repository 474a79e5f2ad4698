import { randomBytes } from "node:crypto";
import { mkdir, open, realpath, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/**
 * Writes a file that only its owner can read (mode 0600), all of it or nothing: a reader sees the old content or the
 * new, also after a crash. A symbolic link stays and its target is replaced. The folder must exist.
 * Throws an error that names the path when it cannot be written or is no ordinary file.
 */
export async function writePrivateFile(path: string, text: string | Uint8Array): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const present = await stat(target).catch(() => undefined);
  if (present !== undefined && !present.isFile()) throw new Error(`${path} is not an ordinary file`);
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

/** Makes a folder that only its owner can enter, with the folders above it. */
export async function makePrivateDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/** Makes the new name durable, where the file system lets a directory be synced. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r").catch(() => undefined);
  await directory?.sync().catch(() => undefined);
  await directory?.close();
}
