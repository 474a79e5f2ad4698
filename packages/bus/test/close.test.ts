import { testNats } from "@coffer/testkit";
import t from "tap";
import { echo, event, openBus, openBuses } from "./buses.ts";

const server = await testNats(t);

void t.test("closing lets a running handler answer, and takes no further request", async (t) => {
  const [vaults, auth] = await openBuses(t, server, "vaults", "auth-sm");
  if (vaults === undefined || auth === undefined) throw new Error("two buses");
  const reached = Promise.withResolvers<undefined>();
  const finish = Promise.withResolvers<undefined>();
  let calls = 0;
  auth.reply(echo, async (input) => {
    calls += 1;
    reached.resolve(undefined);
    await finish.promise;
    return input;
  });
  await auth.flush();
  const answer = vaults.request(echo, { text: "running" });
  await reached.promise;
  const closing = auth.close();
  // The responder is gone: this request fails before the running one is done.
  let refused = false;
  while (!refused)
    refused = await vaults.request(echo, { text: "new" }, { timeoutMilliseconds: 50 }).then(
      () => false,
      (error: unknown) => String((error as Error).cause).includes("has no responder"),
    );
  const callsWhenRefused = calls;
  finish.resolve(undefined);
  t.same(await answer, { text: "running" });
  await closing;
  t.equal(calls, callsWhenRefused);
  t.notOk(auth.connected);
});

void t.test("closing waits for a running request", async (t) => {
  const [vaults, auth] = await openBuses(t, server, "vaults", "auth-sm");
  const reached = Promise.withResolvers<undefined>();
  const finish = Promise.withResolvers<undefined>();
  auth?.reply(echo, async (input) => {
    reached.resolve(undefined);
    await finish.promise;
    return input;
  });
  await auth?.flush();
  const answer = vaults?.request(echo, { text: "x" });
  await reached.promise;
  const closing = vaults?.close();
  // A close that did not wait would be done by now.
  for (let trips = 0; trips < 50; trips += 1) await auth?.flush();
  t.ok(vaults?.connected);
  finish.resolve(undefined);
  t.same(await answer, { text: "x" });
  await closing;
});

void t.test("closing waits for a handler that hangs no longer than five seconds", async (t) => {
  const [vaults, auth] = await openBuses(t, server, "vaults", "auth-sm");
  const reached = Promise.withResolvers<undefined>();
  auth?.reply(echo, () => {
    reached.resolve(undefined);
    return new Promise(() => undefined);
  });
  await auth?.flush();
  const answer = vaults?.request(echo, { text: "x" }, { timeoutMilliseconds: 200 }).catch(() => "late");
  await reached.promise;
  const start = performance.now();
  await auth?.close();
  const waited = performance.now() - start;
  t.ok(waited >= 4900 && waited < 10_000, `${waited} ms`);
  t.equal(await answer, "late");
});

void t.test("an event that was published before the close arrives", async (t) => {
  const [auth, vaults] = await openBuses(t, server, "auth-sm", "vaults");
  const seen = Promise.withResolvers<string>();
  vaults?.subscribe(event, ({ text }) => seen.resolve(text));
  await vaults?.flush();
  auth?.publish(event, { text: "last words" });
  await auth?.close();
  t.equal(await seen.promise, "last words");
});

void t.test("after a close everything is unavailable, and another close has no effect", async (t) => {
  const [vaults, auth] = await openBuses(t, server, "vaults", "auth-sm");
  if (vaults === undefined || auth === undefined) throw new Error("two buses");
  await Promise.all([vaults.close(), vaults.close(), auth.close()]);
  await t.rejects(vaults.request(echo, { text: "x" }), { code: "unavailable" });
  t.throws(() => auth.publish(event, { text: "x" }), { code: "unavailable" });
  await t.rejects(vaults.flush(), { code: "unavailable" });
});

void t.test("a bus that never connected closes at once", async (t) => {
  const away = openBus(t, { ...server, url: "nats://127.0.0.1:9" }, "vaults");
  const start = performance.now();
  await away.close();
  t.ok(performance.now() - start < 4000);
});
