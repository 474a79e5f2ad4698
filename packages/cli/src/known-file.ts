import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { makePrivateDirectory, writePrivateFile } from "@coffer/sdk/node";
import { exitCodes, Failure } from "./failure.ts";
import { withFileLock } from "./file-lock.ts";

/** What is known of each service's things, by `serviceKey` of its address, and by whose it is where that matters. */
export type Known = Record<string, Record<string, string>>;

/** What is known, from a file; nothing when there is none. Throws Failure for a file that cannot be read. */
export async function readKnown(path: string): Promise<Known> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as Known; // nothing else writes it
  } catch (error) {
    const { code = "it is not JSON" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return {};
    throw new Failure(exitCodes.failure, `${path} cannot be read: ${code}; move it away`);
  }
}

/** Changes what is known of one service, under the file's lock, atomically. */
export async function changeKnown(
  path: string,
  service: string,
  change: (known: Record<string, string>) => Record<string, string>,
): Promise<void> {
  await makePrivateDirectory(dirname(path));
  await withFileLock(`${path}.lock`, async () => {
    const known = await readKnown(path);
    const changed = { ...known, [service]: change(known[service] ?? {}) };
    await writePrivateFile(path, `${JSON.stringify(changed, null, 2)}\n`);
  });
}
