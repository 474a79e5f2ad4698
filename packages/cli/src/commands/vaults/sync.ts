import { resolve } from "node:path";
import { CofferError, type PersonClient, type Sync, type SyncChange } from "@coffer/sdk";
import { exitCodeOf } from "../../../bin/pass-signals.mjs";
import type { AddressOptions, Call } from "../../command-row.ts";
import { exitCodeFor, exitCodes, Failure, usage } from "../../failure.ts";
import { jsonLine, printExact, printNotice, visible } from "../../output/output.ts";
import { onlyFails } from "../../profile/only-fails.ts";
import { profileDirectory } from "../../profile/paths.ts";
import { forgetStores, rememberStore } from "../../profile/profile.ts";
import { watchedStore } from "../../profile/watched-store.ts";
import { asPerson, sessionAt } from "../../service/access.ts";
import { serviceKey } from "../../service/same-service.ts";

interface Options extends AddressOptions {
  watch?: boolean;
  store?: string;
  showValues?: boolean;
  json?: boolean;
}

/** `coffer sync`: prints changes, once, or with `--watch` until it is stopped. */
export async function sync({ options, env }: Call<Options>): Promise<void> {
  if (options.store === "") throw usage("--store names no file");
  const person = await asPerson(options, env);
  // Before anything is written into it, because `logout` clears it.
  const forget = options.store === undefined ? undefined : await rememberOwn(options.store, person.url, env);
  const away = onlyFails();
  const leftOut = new Set<string>();
  const store = options.store === undefined ? undefined : watchedStore(options.store);
  const syncing = person.sync({
    storage: store?.storage,
    onStorageError: (error) =>
      printNotice(`coffer: ${options.store ?? ""}: ${error instanceof Error ? error.message : "failed"}`),
    onUnreadable(_id, error) {
      // The error of a vault is the same for each of its records. They are printed once its key can
      // be used.
      if (leftOut.has(error.message)) return;
      leftOut.add(error.message);
      printNotice(`coffer: left out: ${error.message}`);
      if (error.code !== "not_decrypted" && exitCodeFor(error) === exitCodes.failure)
        process.exitCode = exitCodes.failure;
    },
    onChange: (changes) => {
      for (const change of changes) printExact(lineOf(change, device, options));
    },
    onLive: () => printNotice(options.watch === true ? "up to date; waiting for changes" : "up to date"),
    onAway(error, seconds) {
      if (options.watch === true) printNotice(`coffer: ${error.message}; trying again in ${seconds} s`);
      else away.reject(error);
    },
  });
  // Nothing was written into a refused file.
  const device: Sync = await syncing.catch(async (error: unknown) => {
    await forget?.();
    throw error;
  });
  let received: NodeJS.Signals | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    received = signal;
    void device.stop();
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    // Without a connection, fail instead of waiting for the next one.
    await (options.watch === true
      ? Promise.race([device.ready, device.ended])
      : Promise.race([device.ready, away.promise]));
    if (received === undefined) await forgetHidden(person, device);
    if (options.watch === true) await device.ended;
  } catch (error) {
    if (received === undefined) throw error;
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    await device.stop();
  }
  if (store?.failed() === true)
    throw new Failure(exitCodes.failure, "the printed changes could not be stored: the next run prints them again");
  // A stop is the normal end of watching, but interrupts a single sync.
  if (received !== undefined && options.watch !== true) process.exitCode = exitCodeOf(null, received);
}

/** Stores the file in the profile. Returns a function that removes it, if it is new. */
async function rememberOwn(store: string, url: string, env: NodeJS.ProcessEnv): Promise<() => Promise<void>> {
  const { user } = await sessionAt(url, env);
  const file = { path: resolve(store), user_id: user.id, service: serviceKey(url) };
  const isNew = await rememberStore(profileDirectory(env), file);
  return async () => {
    if (isNew) await forgetStores(profileDirectory(env), [file]);
  };
}

/** A travelling person's device must keep no trace of hidden vaults once it is up to date. */
async function forgetHidden(person: PersonClient, device: Sync): Promise<void> {
  const travelling = await person.travel.status().catch((error: unknown) => {
    if (!(error instanceof CofferError)) throw error;
    // The main operation has succeeded.
    printNotice(`coffer: whether you travel could not be received: ${error.message}`);
    return undefined;
  });
  if (travelling?.enabled === true) await device.forgetHidden();
}

/** One change as a line: action, vault, name, type, id. */
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
