import { CofferError } from "../errors.ts";
import type { OfflineStorage } from "../offline-transport.ts";

// The part of IndexedDB that is used. The package's types are those of Node, which has none of it.
interface Asked<T> {
  result: T;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}
interface ObjectStore {
  get(key: string): Asked<unknown>;
  put(value: string, key: string): Asked<unknown>;
  delete(key: string): Asked<unknown>;
}
interface Transaction {
  objectStore(name: string): ObjectStore;
  oncomplete: (() => void) | null;
  onabort: (() => void) | null;
}
interface Database {
  createObjectStore(name: string): ObjectStore;
  transaction(name: string, mode: "readonly" | "readwrite", options: { durability: "strict" }): Transaction;
  close(): void;
}
interface Opening extends Asked<Database> {
  onupgradeneeded: (() => void) | null;
}
interface Factory {
  open(name: string, version: number): Opening;
}

const store = "coffer";

/**
 * Keeps what a device holds in the browser's IndexedDB, in a database of this name. What it is given is sealed.
 * Each method rejects with CofferError `configuration` where the browser lets nothing be kept, as in some private windows.
 */
export function indexedDbStorage(name: string): OfflineStorage {
  const key = "sealed";

  const within = async <T>(mode: "readonly" | "readwrite", work: (objects: ObjectStore) => Asked<T>): Promise<T> => {
    const database = await open(name);
    try {
      return await new Promise<T>((resolve, reject) => {
        // Throws for a database of this name that is another program's.
        const transaction = database.transaction(store, mode, { durability: "strict" });
        const asked = work(transaction.objectStore(store));
        // Only then is it written.
        transaction.oncomplete = () => resolve(asked.result);
        transaction.onabort = () => reject(unusable());
      });
    } catch (cause) {
      throw cause instanceof CofferError ? cause : unusable(cause);
    } finally {
      database.close();
    }
  };

  return {
    async load() {
      const text = await within("readonly", (objects) => objects.get(key));
      return typeof text === "string" ? text : undefined;
    },
    async save(text) {
      await within("readwrite", (objects) => objects.put(text, key));
    },
    async clear() {
      await within("readwrite", (objects) => objects.delete(key));
    },
  };
}

function open(name: string): Promise<Database> {
  const { indexedDB } = globalThis as { indexedDB?: Factory };
  if (indexedDB === undefined) return Promise.reject(unusable());
  return new Promise((resolve, reject) => {
    let opening: Opening;
    try {
      // Throws in a page of no origin, such as a sandboxed frame.
      opening = indexedDB.open(name, 1);
    } catch (cause) {
      reject(unusable(cause));
      return;
    }
    opening.onupgradeneeded = () => opening.result.createObjectStore(store);
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(unusable());
  });
}

function unusable(cause?: unknown): CofferError {
  return new CofferError("configuration", "the browser's IndexedDB cannot be used: nothing is kept on this device", {
    cause,
  });
}
