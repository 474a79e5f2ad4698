import { EventEmitter } from "node:events";
import { until } from "@coffer/testkit";
import type { Redis } from "ioredis";
import t from "tap";
import { createLink } from "../src/link.ts";
import type { Store } from "../src/store.ts";

await t.test("a late store is probed at once, and not by every failure", async (t) => {
  let calls = 0;
  const store: Pick<Store, "prepare"> = {
    prepare: () => {
      calls += 1;
      return Promise.resolve(0);
    },
  };
  const redis = Object.assign(new EventEmitter(), { status: "ready", disconnect: () => undefined });
  const link = createLink({
    redis: redis as unknown as Redis, // what a link uses of it
    store: store as Store, // the same
    clock: () => 0,
    window: 1,
    deadlineMilliseconds: 10_000,
    onChange: () => undefined,
  });
  t.teardown(() => link.close());
  await until("the link is up", () => link.up);
  t.equal(calls, 1);
  link.fail();
  t.notOk(link.up);
  t.equal(calls, 2, "before any time has passed");
  link.fail();
  t.equal(calls, 2);
  await until("the link is up again", () => link.up);
});
