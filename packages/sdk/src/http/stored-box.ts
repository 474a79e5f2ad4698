import { decodeBase64 } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import type { OfflineStorage } from "./offline-transport.ts";

const boxVersion = 0x01;

/**
 * The box in a storage; undefined when the storage is empty. Unreadable or foreign content may be
 * any file of the person, which the next save would replace. A crash cannot cause it, because saves
 * are atomic. Throws CofferError `configuration` for both.
 */
export async function storedBox(storage: OfflineStorage): Promise<string | undefined> {
  let text: string | undefined;
  try {
    text = (await storage.load())?.trim();
  } catch (cause) {
    if (cause instanceof CofferError && cause.code === "configuration") throw cause;
    throw refusedStorage(storage, `cannot be read: ${cause instanceof Error ? cause.message : "failed"}`, cause);
  }
  if (text === undefined || text === "") return undefined;
  if (!isBox(text)) throw refusedStorage(storage, "holds something that Coffer did not write");
  return text;
}

/** The error that leaves a storage unchanged, with advice. */
export function refusedStorage(storage: OfflineStorage, what: string, cause?: unknown): CofferError {
  const name = storage.name ?? "the storage";
  return new CofferError("configuration", `${name} ${what}. It is left as it is: name another place, or remove it`, {
    cause,
  });
}

function isBox(text: string): boolean {
  try {
    return decodeBase64(text)[0] === boxVersion;
  } catch {
    return false;
  }
}
