import { testNats, until } from "@coffer/testkit";
import t from "tap";
import { z } from "zod";
import { type EventSubject, sessionRevoked } from "@coffer/events";
import { maxPayloadBytes } from "../src/index.ts";
import { event, openBus, openBuses } from "./buses.ts";

const server = await testNats(t);

void t.test("an event reaches every subscriber, in the order in which it was published", async (t) => {
  const [auth, vaults, sync] = await openBuses(t, server, "auth-sm", "vaults", "sync");
  const seen: string[][] = [[], []];
  vaults?.subscribe(event, ({ text }) => seen[0]?.push(text));
  sync?.subscribe(event, ({ text }) => seen[1]?.push(text));
  await Promise.all([vaults?.flush(), sync?.flush()]);
  const texts = Array.from({ length: 50 }, (_, index) => `event ${index}`);
  for (const text of texts) auth?.publish(event, { text });
  await auth?.flush();
  await until("every replica has received them", () => seen.every((list) => list.length >= 50));
  t.same(seen, [texts, texts]);
});

void t.test("with a queue an event reaches one of its subscribers", async (t) => {
  const [auth, first, second] = await openBuses(t, server, "auth-sm", "siem-forwarder", "siem-forwarder");
  let seen = 0;
  for (const bus of [first, second]) bus?.subscribe(event, () => (seen += 1), { queue: "siem-forwarder" });
  await Promise.all([first?.flush(), second?.flush()]);
  for (let index = 0; index < 40; index += 1) auth?.publish(event, { text: "x" });
  await auth?.flush();
  await Promise.all([first?.flush(), second?.flush()]);
  await until("all are received", () => seen >= 40);
  t.equal(seen, 40);
});

void t.test("two handlers of one service both see an event", async (t) => {
  const [auth, vaults] = await openBuses(t, server, "auth-sm", "vaults");
  let seen = 0;
  vaults?.subscribe(event, () => (seen += 1));
  vaults?.subscribe(event, () => (seen += 1));
  await vaults?.flush();
  auth?.publish(event, { text: "x" });
  await until("both are there", () => seen === 2);
  t.equal(seen, 2);
});

const wider = {
  ...event,
  payload: z.object({ text: z.unknown(), extra: z.string().optional() }),
} satisfies EventSubject<unknown>;

void t.test(
  "a consumer puts up with what a newer publisher says, and a publisher with nothing but its own",
  async (t) => {
    const [auth, vaults] = await openBuses(t, server, "auth-sm", "vaults");
    const newer = {
      ...sessionRevoked,
      payload: sessionRevoked.payload.extend({ reason: z.string() }),
    } satisfies EventSubject<unknown>;
    const seen: unknown[] = [];
    vaults?.subscribe(sessionRevoked, ({ session_id, reason }) => seen.push([session_id, reason]));
    await vaults?.flush();
    const ended = { user_id: "u", at: "2026-11-20T10:00:00.000001Z" };
    auth?.publish(newer, { ...ended, session_id: "a", reason: "of_the_future" });
    auth?.publish(sessionRevoked, { ...ended, session_id: "b", reason: "token_reused" });
    // Rows of the outbox may have any event type.
    const open: EventSubject<unknown> = sessionRevoked;
    t.throws(() => auth?.publish(open, { ...ended, session_id: "c", reason: "of_the_future" }), { name: "ShapeError" });
    await until("both are there", () => seen.length === 2);
    t.same(seen, [
      ["a", "user_revoked"],
      ["b", "token_reused"],
    ]);
  },
);

void t.test(
  "an event that cannot be read is dropped with a line in the log, and the next one is handled",
  async (t) => {
    const [auth, vaults] = await openBuses(t, server, "auth-sm", "vaults");
    const seen: unknown[] = [];
    vaults?.subscribe(event, (payload) => seen.push(payload));
    await vaults?.flush();
    auth?.publish(wider, { text: { canary: "c4n4ry" } });
    auth?.publish(wider, { text: "good", extra: "of a newer version" });
    await until("it is there", () => seen.length > 0);
    t.same(seen, [{ text: "good" }]);
    t.match(vaults?.logged(), /the payload of coffer\.evt\.session\.revoked/);
    t.notMatch(vaults?.logged(), "c4n4ry");
  },
);

void t.test("a handler that fails is logged, and the next event is handled", async (t) => {
  const [auth, vaults] = await openBuses(t, server, "auth-sm", "vaults");
  const seen: string[] = [];
  vaults?.subscribe(event, ({ text }) => {
    if (text === "sync") throw new Error("failed at once");
    if (text === "async") return Promise.reject(new Error("failed later"));
    return seen.push(text);
  });
  await vaults?.flush();
  for (const text of ["sync", "async", "fine"]) auth?.publish(event, { text });
  await until("the failure is logged", () => seen.length > 0 && /failed later/.test(vaults?.logged() ?? ""));
  t.same(seen, ["fine"]);
  t.match(vaults?.logged(), /failed at once/);
});

void t.test("an event of the wrong shape, too large, or of another service is never published", async (t) => {
  const [auth, vaults] = await openBuses(t, server, "auth-sm", "vaults");
  // The types would refuse the wrong shape.
  t.throws(() => auth?.publish(event, { text: 7 } as unknown as { text: string }), { name: "ShapeError" });
  const most = maxPayloadBytes - '{"text":""}'.length;
  t.doesNotThrow(() => auth?.publish(event, { text: "x".repeat(most) }));
  t.throws(() => auth?.publish(event, { text: "x".repeat(most + 1) }), { code: "payload_too_large" });
  t.throws(() => vaults?.publish(event, { text: "x" }), TypeError);
  t.throws(() => auth?.subscribe(event, () => undefined), TypeError);
});

void t.test("while the bus is away publishing is unavailable at once", async (t) => {
  const away = openBus(t, { ...server, url: "nats://127.0.0.1:9" }, "auth-sm");
  t.throws(() => away.publish(event, { text: "x" }), { code: "unavailable", retryAfterSeconds: 1 });
  await t.rejects(away.flush(), { code: "unavailable" });
});
