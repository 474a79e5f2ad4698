import { AsyncLocalStorage } from "node:async_hooks";
import t from "tap";
import { createGroupCommit } from "../src/index.ts";
import { latch } from "./support.ts";

/** A write that ends when the test says so. */
interface Write {
  items: number[];
  succeed: () => void;
  fail: (reason: Error) => void;
}

const items = (writes: readonly Write[]) => writes.map((each) => each.items);

function heldWrites(): { write: (items: number[]) => Promise<void>; writes: Write[] } {
  const writes: Write[] = [];
  return {
    writes,
    write: (items) =>
      new Promise((resolve, reject) => {
        writes.push({ items, succeed: resolve, fail: reject });
      }),
  };
}

/** The end of this turn of the event loop, when a first batch runs. */
const turn = () => new Promise(setImmediate);

void t.test("the first item is written at once, and all waiting items in one write after it", async (t) => {
  const { write, writes } = heldWrites();
  const commit = createGroupCommit({ write });
  const first = commit(1);
  await turn();
  t.same(items(writes), [[1]]);
  const others = [commit(2), commit(3), commit(4)];
  await turn();
  t.equal(writes.length, 1, "at most one write is under way");
  writes[0]?.succeed();
  await first;
  t.same(items(writes), [[1], [2, 3, 4]]);
  writes[1]?.succeed();
  await Promise.all(others);
  const later = commit(5);
  await turn();
  t.same(items(writes).slice(2), [[5]], "and when nothing is under way the next goes at once again");
  writes[2]?.succeed();
  await later;
});

void t.test("items of one event loop turn share the first batch", async (t) => {
  const { write, writes } = heldWrites();
  const commit = createGroupCommit({ write });
  const all = [1, 2, 3].map((item) => commit(item));
  await turn();
  t.same(items(writes), [[1, 2, 3]]);
  writes[0]?.succeed();
  await Promise.all(all);
});

void t.test("a write that fails rejects each of its callers, and the later ones work", async (t) => {
  const { write, writes } = heldWrites();
  const commit = createGroupCommit({ write });
  const first = [commit(1), commit(2)];
  await turn();
  const second = commit(3);
  const reason = new Error("disk full");
  const failed = Promise.allSettled(first);
  writes[0]?.fail(reason);
  t.same(await failed, [
    { status: "rejected", reason },
    { status: "rejected", reason },
  ]);
  t.same(items(writes).slice(1), [[3]], "the one that arrived meanwhile was not part of it");
  writes[1]?.succeed();
  await second;
  const third = commit(4);
  await turn();
  writes[2]?.succeed();
  await third;
});

void t.test("no promise resolves before the write has ended", async (t) => {
  const { write, writes } = heldWrites();
  const commit = createGroupCommit({ write });
  let resolved = false;
  const done = commit(1).then(() => (resolved = true));
  await turn();
  t.equal(writes.length, 1);
  await turn();
  t.equal(resolved, false);
  writes[0]?.succeed();
  await done;
});

void t.test("a write has at most `most` items, and the rest goes with the next", async (t) => {
  const { write, writes } = heldWrites();
  const commit = createGroupCommit({ write, most: 2 });
  const all = [1, 2, 3, 4, 5].map((item) => commit(item));
  const sizes: number[] = [];
  for (let index = 0; index < 3; index += 1) {
    await turn();
    sizes.push(writes[index]?.items.length ?? 0);
    writes[index]?.succeed();
  }
  await Promise.all(all);
  t.same(sizes, [2, 2, 1]);
});

void t.test("a write that throws at once is a write that fails", async (t) => {
  const commit = createGroupCommit<number>({
    write: () => {
      throw new Error("at once");
    },
  });
  await t.rejects(commit(1), /at once/);
  await t.rejects(commit(2), /at once/);
});

void t.test("a write runs in no caller's asynchronous context", async (t) => {
  const context = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];
  const held = latch();
  const commit = createGroupCommit<number>({
    write: async () => {
      seen.push(context.getStore());
      await held.opened;
    },
  });
  const both = context.run("a transaction", () => [commit(1), commit(2)]);
  held.open();
  await Promise.all(both);
  t.same(seen, [undefined]);
});
