import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { emptyTrust, type TrustRecord, type TrustStorage } from "@coffer/sdk";
import { makePrivateDirectory, writePrivateFile } from "@coffer/sdk/node";
import { exitCodes, Failure } from "../failure.ts";
import { errorCode } from "../files/error-code.ts";
import { withFileLock } from "../files/file-lock.ts";
import { withHeldSignals } from "../files/held-signals.ts";
import { readWhenChanged } from "../files/read-when-changed.ts";
import { serviceKey } from "../service/same-service.ts";

/**
 * Stores this device's key pins, for one person at one service, in the profile's directory: a file
 * of mode 0600, changed under a lock. A logout does not delete it, so that a service cannot show an
 * older history to the next login.
 */
export function trustFile(directory: string, url: string, userId: string): TrustStorage {
  const name = createHash("sha256")
    .update(`${serviceKey(url)} ${userId}`)
    .digest("hex")
    .slice(0, 32);
  const path = join(directory, "histories", `${name}.json`);
  const load = readWhenChanged(path, async () => (await readTrust(path)) ?? emptyTrust());
  return {
    load,
    async change(change) {
      await makePrivateDirectory(dirname(path));
      return withFileLock(`${path}.lock`, async () => {
        const before = await load();
        const after = change(before);
        if (after === before) return after;
        await withHeldSignals(() => writePrivateFile(path, `${JSON.stringify(after)}\n`, { alone: true }));
        return after;
      });
    },
  };
}

async function readTrust(path: string): Promise<TrustRecord | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw new Failure(exitCodes.failure, `${path} cannot be read: ${(error as Error).message}`);
  }
  try {
    const record = JSON.parse(text) as { version?: unknown };
    if (record.version === 1) return record as TrustRecord; // nothing else writes it
  } catch {
    // Reported below.
  }
  throw new Failure(
    exitCodes.failure,
    `${path} is not what this version writes: move it away, and compare words with \`coffer keyring trust\``,
  );
}
