import { AsyncLocalStorage } from "node:async_hooks";
import t from "tap";
import { createGroupCommit } from "../src/index.ts";
import { gate } from "./support.ts";

/** A write that is under way until it is told how it ends. */
interface Write {
  items: number[];
  succeed: () => void;
  fail: (reason: Error) => void;
}

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

void t.test("the first goes at once, and all that wait go in one write after it", async (t) => {
  const { write, writes } = heldWrites();
  const commit = createGroupCommit({ write });
  const first = commit(1);
  t.same(
    writes.map(({ items }) => items),
    [[1]],
  );
  const others = [commit(2), commit(3), commit(4)];
  t.equal(writes.length, 1, "at most one write is under way");
  writes[0]?.succeed();
  await first;
  t.same(writes[1]?.items, [2, 3, 4]);
  writes[1]?.succeed();
  await Promise.all(others);
  const later = commit(5);
  t.same(writes[2]?.items, [5], "and when nothing is under way the next goes at once again");
  writes[2]?.succeed();
  await later;
});

void t.test("a write that fails rejects each of its callers, and the later ones work", async (t) => {
  const { write, writes } = heldWrites();
  const commit = createGroupCommit({ write });
  const first = commit(1);
  const second = [commit(2), commit(3)];
  writes[0]?.succeed();
  await first;
  const third = commit(4);
  const reason = new Error("disk full");
  const failed = Promise.allSettled(second);
  writes[1]?.fail(reason);
  t.same(await failed, [
    { status: "rejected", reason },
    { status: "rejected", reason },
  ]);
  t.same(writes[2]?.items, [4], "the one that arrived meanwhile was not part of it");
  writes[2]?.succeed();
  await third;
});

void t.test("nobody is told before the write has ended", async (t) => {
  const { write, writes } = heldWrites();
  const commit = createGroupCommit({ write });
  let told = false;
  const done = commit(1).then(() => (told = true));
  await new Promise(setImmediate);
  t.equal(told, false);
  writes[0]?.succeed();
  await done;
});

void t.test("a write takes at most the number it is given, and the rest goes with the next", async (t) => {
  const { write, writes } = heldWrites();
  const commit = createGroupCommit({ write, most: 2 });
  const all = [1, 2, 3, 4, 5, 6].map((item) => commit(item));
  const sizes: number[] = [];
  for (let index = 0; index < 4; index += 1) {
    sizes.push(writes[index]?.items.length ?? 0);
    writes[index]?.succeed();
    await new Promise(setImmediate);
  }
  await Promise.all(all);
  t.same(sizes, [1, 2, 2, 1]);
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

void t.test("a write runs in nobody's asynchronous context", async (t) => {
  const context = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];
  const held = gate();
  const commit = createGroupCommit<number>({
    write: async () => {
      seen.push(context.getStore());
      await held.opened;
    },
  });
  const both = context.run("a transaction", () => [commit(1), commit(2)]);
  held.open();
  await Promise.all(both);
  t.same(seen, [undefined, undefined]);
});
