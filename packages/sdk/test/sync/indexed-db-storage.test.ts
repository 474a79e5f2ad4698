import t from "tap";
import type { Test } from "tap";
import { indexedDbStorage } from "../../src/browser/index.ts";

// What works is tested in a browser; here is what browsers refuse, each by the error that they throw.

const refused = { name: "CofferError", code: "configuration", message: /IndexedDB cannot be used/ };

async function isRefused(t: Test, indexedDB: unknown): Promise<void> {
  t.intercept(globalThis, "indexedDB" as keyof typeof globalThis, { value: indexedDB });
  const storage = indexedDbStorage("coffer");
  await t.rejects(storage.load(), refused);
  await t.rejects(storage.save("text"), refused);
  await t.rejects(storage.clear(), refused);
}

await t.test("a page of no origin, which may not open a database", (t) =>
  isRefused(t, {
    open() {
      throw new DOMException("access to the Indexed Database API is denied in this context", "SecurityError");
    },
  }),
);

await t.test("a database of that name that is another program's", async (t) => {
  let closed = 0;
  const database = {
    transaction() {
      throw new DOMException("One of the specified object stores was not found", "NotFoundError");
    },
    close: () => (closed += 1),
  };
  await isRefused(t, {
    open() {
      const opening = { result: database, onsuccess: () => undefined };
      queueMicrotask(() => opening.onsuccess());
      return opening;
    },
  });
  t.equal(closed, 3);
});

await t.test("no IndexedDB at all", (t) => isRefused(t, undefined));
