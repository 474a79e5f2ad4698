import { resolve } from "node:path";
import type { PersonClient, Sync, SyncChange } from "@coffer/sdk";
import { CofferError } from "@coffer/sdk";
import { exitCodeOf } from "../../bin/pass-signals.mjs";
import { asPerson, sessionAt } from "../access.ts";
import type { AddressOptions, Call } from "../command-row.ts";
import { exitCodeFor, exitCodes, Failure, usage } from "../failure.ts";
import { onlyFails } from "../only-fails.ts";
import { jsonLine, printExact, tell, visible } from "../output.ts";
import { profileDirectory } from "../paths.ts";
import { forgetStores, rememberStore } from "../profile.ts";
import { serviceKey } from "../same-service.ts";
import { watchedStore } from "../watched-store.ts";

interface Options extends AddressOptions {
  watch?: boolean;
  store?: string;
  showValues?: boolean;
  json?: boolean;
}

/** `coffer sync`: prints what has changed, once, or with `--watch` until it is stopped. */
export async function sync({ options, env }: Call<Options>): Promise<void> {
  if (options.store === "") throw usage("--store names no file");
  const person = await asPerson(options, env);
  // Before anything is written into it: `logout` clears it.
  const forget = options.store === undefined ? undefined : await rememberOwn(options.store, person.url, env);
  const away = onlyFails();
  const leftOut = new Set<string>();
  const store = options.store === undefined ? undefined : watchedStore(options.store);
  const syncing = person.sync({
    storage: store?.storage,
    onStorageError: (error) =>
      tell(`coffer: ${options.store ?? ""}: ${error instanceof Error ? error.message : "failed"}`),
    onUnreadable(_id, error) {
      // What is said of a vault is the same for each of its records. They are printed once its key can be used.
      if (leftOut.has(error.message)) return;
      leftOut.add(error.message);
      tell(`coffer: left out: ${error.message}`);
      if (error.code !== "not_decrypted" && exitCodeFor(error) === exitCodes.failure)
        process.exitCode = exitCodes.failure;
    },
    onChange: (changes) => {
      for (const change of changes) printExact(lineOf(change, device, options));
    },
    onLive: () => tell(options.watch === true ? "up to date; waiting for changes" : "up to date"),
    onAway(error, seconds) {
      if (options.watch === true) tell(`coffer: ${error.message}; trying again in ${seconds} s`);
      else away.reject(error);
    },
  });
  // Nothing was written into what it refuses.
  const device: Sync = await syncing.catch(async (error: unknown) => {
    await forget?.();
    throw error;
  });
  let asked: NodeJS.Signals | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    asked = signal;
    void device.stop();
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    // Without a connection nobody waits for the next one.
    await (options.watch === true
      ? Promise.race([device.ready, device.ended])
      : Promise.race([device.ready, away.promise]));
    if (asked === undefined) await forgetHidden(person, device);
    if (options.watch === true) await device.ended;
  } catch (error) {
    if (asked === undefined) throw error;
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    await device.stop();
  }
  if (store?.failed() === true)
    throw new Failure(exitCodes.failure, "what was printed could not be kept: the next run prints it again");
  // To be stopped is how watching ends; the one look was cut off.
  if (asked !== undefined && options.watch !== true) process.exitCode = exitCodeOf(null, asked);
}

/** Remembers the file. Returns what forgets it again, where it was not remembered before. */
async function rememberOwn(store: string, url: string, env: NodeJS.ProcessEnv): Promise<() => Promise<void>> {
  const { user } = await sessionAt(url, env);
  const kept = { path: resolve(store), user_id: user.id, service: serviceKey(url) };
  const isNew = await rememberStore(profileDirectory(env), kept);
  return async () => {
    if (isNew) await forgetStores(profileDirectory(env), [kept]);
  };
}

/** Where its person travels, a device that is up to date has no trace left of what is hidden. */
async function forgetHidden(person: PersonClient, device: Sync): Promise<void> {
  const travelling = await person.travel.status().catch((error: unknown) => {
    if (!(error instanceof CofferError)) throw error;
    // What was asked for is done all the same.
    tell(`coffer: whether you travel could not be asked: ${error.message}`);
    return undefined;
  });
  if (travelling?.enabled === true) await device.forgetHidden();
}

/** One change as a line: what, the vault, the name, the type, the id. */
function lineOf(change: SyncChange, device: Sync, { json, showValues }: Options): string {
  if ("record" in change) {
    const { id, vault_id, type, fields, updated_at } = change.record;
    const name = fields["name"] ?? id;
    if (json === true) {
      const record = { id, vault_id, type, name, updated_at };
      return jsonLine({ action: change.action, record: showValues === true ? { ...record, fields } : record });
    }
    const values = showValues === true ? [jsonLine(fields)] : [];
    return columns([change.action, vaultName(device, vault_id), name, type, id, ...values]);
  }
  if (json === true) return jsonLine(change);
  if ("vault" in change) return columns([change.action, change.vault.name, "", change.vault.type, change.vault.id]);
  if (change.action === "folder_updated") return columns([change.action, "", change.change, "", change.folder_id]);
  if (change.action === "record_deleted")
    return columns([change.action, vaultName(device, change.vault_id), "", "", change.record_id]);
  return columns([change.action, "", "", "", change.vault_id]);
}

function vaultName(device: Sync | undefined, id: string): string {
  return device?.vaults().find((vault) => vault.id === id)?.name ?? id;
}

function columns(cells: readonly string[]): string {
  return cells.map(visible).join("\t");
}
