import { CofferError } from "../errors.ts";
import type { OfflineStorage } from "../http/offline-transport.ts";

// The used part of IndexedDB. The package is compiled with the types of Node, which has none of it.
interface PendingRequest<T> {
  result: T;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}
interface ObjectStore {
  get(key: string): PendingRequest<unknown>;
  put(value: string, key: string): PendingRequest<unknown>;
  delete(key: string): PendingRequest<unknown>;
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
interface Opening extends PendingRequest<Database> {
  onupgradeneeded: (() => void) | null;
}
interface Factory {
  open(name: string, version: number): Opening;
}

const store = "coffer";

/**
 * Stores a device's sealed data in the browser's IndexedDB, in a database of this name. Each method
 * rejects with CofferError `configuration` where the browser refuses to store data, as in some
 * private windows.
 */
export function indexedDbStorage(name: string): OfflineStorage {
  const key = "sealed";

  const within = async <T>(
    mode: "readonly" | "readwrite",
    work: (objects: ObjectStore) => PendingRequest<T>,
  ): Promise<T> => {
    const database = await open(name);
    try {
      return await new Promise<T>((resolve, reject) => {
        // Throws when another program owns a database of this name.
        const transaction = database.transaction(store, mode, { durability: "strict" });
        const request = work(transaction.objectStore(store));
        // The data is durable only now.
        transaction.oncomplete = () => resolve(request.result);
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
      // Throws in a page without an origin, such as a sandboxed frame.
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
  return new CofferError("configuration", "the browser's IndexedDB cannot be used: this device stores nothing", {
    cause,
  });
}
