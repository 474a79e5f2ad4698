import { readFile } from "node:fs/promises";
import {
  type MachineConfiguration,
  memoryTrust,
  parseConfiguration,
  type Trusted,
  type TrustRecord,
  type TrustStorage,
  withExpected,
} from "@coffer/sdk";
import { saveConfiguration, writePrivateFile } from "@coffer/sdk/node";
import { exitCodes, Failure } from "../failure.ts";
import { errorCode } from "../files/error-code.ts";
import { withFileLock } from "../files/file-lock.ts";
import { withHeldSignals } from "../files/held-signals.ts";
import { readWhenChanged } from "../files/read-when-changed.ts";

/** The errors of a read-only mount, such as a secret in a cluster. */
const unwritable = new Set<string | undefined>(["EACCES", "EROFS", "EPERM", "ENOSPC", "EBUSY"]);

/**
 * Stores a machine's key pins in its configuration file, under a lock. If the file is not writable,
 * they stay in memory, and the next start begins with the file's content. Later pins that another
 * process stores in the file count too.
 * @param mustStore a change throws Failure instead of staying in memory
 */
export function configurationTrust(
  path: string,
  configuration: MachineConfiguration,
  { mustStore = false }: { mustStore?: boolean } = {},
): TrustStorage {
  const empty: TrustRecord = { version: 1, keyring: 0, unsaved: false, resources: {} };
  let memory: TrustStorage | undefined;
  let latest = configuration.histories ?? empty;
  const read = readWhenChanged(path, async () => parseConfiguration(await readFile(path, "utf8")));
  return {
    async load() {
      try {
        latest = (await read()).histories ?? empty;
      } catch (error) {
        // A running program continues without its file.
        if (!isMissing(error) && !isUnwritable(error)) throw error;
      }
      return memory === undefined ? latest : memory.change((own) => withLater(own, latest));
    },
    async change(change) {
      if (memory !== undefined) return memory.change(change);
      try {
        return await withFileLock(`${path}.lock`, async () => {
          const present = await read();
          const before = present.histories ?? empty;
          const after = change(before);
          if (after !== before) await withHeldSignals(() => saveConfiguration(path, { ...present, histories: after }));
          return (latest = after);
        });
      } catch (error) {
        if (!isUnwritable(error)) throw error;
        if (mustStore) throw unstored(path);
        memory = memoryTrust(latest);
        return memory.change(change);
      }
    },
  };
}

/** Throws Failure when nothing can be stored in a machine's configuration file. Writes the same bytes to it. */
export async function requireWritable(path: string): Promise<void> {
  const rewrite = async (): Promise<void> => writePrivateFile(path, await readFile(path));
  try {
    await withFileLock(`${path}.lock`, () => withHeldSignals(rewrite));
  } catch (error) {
    throw isUnwritable(error) ? unstored(path) : error;
  }
}

function unstored(path: string): Failure {
  return new Failure(exitCodes.failure, `${path} cannot be written, so nothing is trusted: run this where it can`);
}

/** A process's own record, whose histories must contain the later pins of the file. */
function withLater(own: TrustRecord, { resources }: TrustRecord): TrustRecord {
  const later = Object.entries(resources).flatMap(([res, there]): [string, Trusted][] => {
    const here = Object.hasOwn(own.resources, res) ? own.resources[res] : undefined;
    if (here === undefined) return [[res, there]];
    const expecting = withExpected(here, there.pin);
    return expecting === here ? [] : [[res, expecting]];
  });
  return later.length === 0 ? own : { ...own, resources: { ...own.resources, ...Object.fromEntries(later) } };
}

function isMissing(error: unknown): boolean {
  return errorCode(error) === "ENOENT";
}

function isUnwritable(error: unknown): boolean {
  const { code, cause } = error as { code?: string; cause?: unknown };
  return unwritable.has(code) || (cause instanceof Error && unwritable.has(errorCode(cause)));
}
