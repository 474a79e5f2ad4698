import { randomBytes, randomUUID } from "node:crypto";
import { ServiceError } from "@coffer/errors";
import t from "tap";
import { until } from "@coffer/testkit";
import { connectRaw } from "./support/raw-device.ts";
import type { Message } from "./support/device.ts";
import { startSync } from "./support/start.ts";
import { type ChangesRequest, moment, nothing, type Part } from "./support/vaults.ts";

const sync = await startSync(t);
const { authSm, vaults, connect, url, logged } = sync;
/** How many connections were closed with a code. */
const closes = async (code: number, { metrics } = sync): Promise<number> =>
  Number(new RegExp(`closes_total\\{service="sync",code="${code}"\\} (\\d+)`).exec(await metrics())?.[1] ?? 0);
t.afterEach(() => {
  vaults.changes = nothing;
});

const vaultId = randomUUID();
const changeOf = (id: string, bytes: number): Part["changes"][number] => {
  const [time, type] = [moment(), "login"];
  const encrypted_data = randomBytes(Math.ceil(bytes / 4) * 3).toString("base64");
  return { id, vault_id: vaultId, action: "created", type, encrypted_data, updated_at: time, server_timestamp: time };
};
const deletionOf = (id: string): Part["deleted"][number] => ({ id, vault_id: vaultId, deleted_at: moment() });

/** A response in `count` parts; part `n` is requested with `after` "n". */
function inParts(parts: readonly Partial<Part>[], before: (index: number) => unknown = () => undefined) {
  return async ({ after }: ChangesRequest): Promise<Part> => {
    const index = after === null ? 0 : Number(after);
    await before(index);
    return { ...nothing(), after: index + 1 < parts.length ? String(index + 1) : null, ...parts[index] };
  };
}

await t.test("each request for changes names its connection, whatever the client's request id", async (t) => {
  const person = authSm.person();
  const connectAs = async (id: string) =>
    connect(person, { token: await authSm.token(person), options: { headers: { "x-request-id": id } } });
  vaults.changes = inParts([{}, {}]);
  const before = vaults.requests.length;
  const [first, second] = [await connectAs("mine"), await connectAs("mine")];
  await first.sync();
  await second.sync();
  await first.sync();
  const ids = vaults.requests.slice(before).map(({ connection_id }) => connection_id);
  t.equal(ids.length, 6);
  t.equal(new Set([ids[0], ids[1], ids[4], ids[5]]).size, 1, "one connection");
  t.equal(new Set([ids[2], ids[3]]).size, 1, "another one");
  t.equal(new Set(ids).size, 2);
});

await t.test("a response of many parts is one message, in fragments of about 64 KiB cut between records", async (t) => {
  const parts = Array.from({ length: 5 }, (_, part) => ({
    changes: Array.from({ length: 50 }, (_, index) => changeOf(`r${part}-${index}`, 5_000)),
    deleted: [deletionOf(`d${part}`)],
  }));
  vaults.changes = inParts(parts);
  const device = await connectRaw(t, url, await authSm.token(authSm.person()));
  device.send({ type: "sync_request" });
  await until("the last fragment is there", () => device.frames.at(-1)?.fin);
  const texts = device.frames.map(({ payload }) => payload.toString("utf8"));
  t.ok(texts.length > 15, `${texts.length} fragments`);
  t.same(
    device.frames.map(({ opcode, fin }) => [opcode, fin]),
    texts.map((_, index) => [index === 0 ? 1 : 0, index === texts.length - 1]),
    "one message",
  );
  for (const text of texts.slice(0, -1)) {
    t.ok(text.length >= 64 * 1024 && text.length < 72 * 1024, `${text.length}`);
    t.match(text, /\}$/);
  }
  const answer = JSON.parse(texts.join("")) as Message;
  t.same(
    answer.changes,
    parts.flatMap(({ changes }) => changes),
  );
  t.same(
    answer.deleted,
    parts.flatMap(({ deleted }) => deleted),
  );
});

await t.test("a record that is larger than a fragment is not cut", async (t) => {
  const changes = [changeOf("small", 100), changeOf("large", 256 * 1024), changeOf("small too", 100)];
  vaults.changes = inParts([{ changes }]);
  const device = await connect(authSm.person());
  t.same((await device.sync()).changes, changes);
});

await t.test("one part is prefetched while another is sent", async (t) => {
  const parts = Array.from({ length: 4 }, (_, part) => ({
    // More than a socket buffers without a reader.
    changes: Array.from({ length: 2 }, (_, index) => changeOf(`r${part}-${index}`, 200_000)),
  }));
  const requested: number[] = [];
  vaults.changes = inParts(parts, (index) => requested.push(index));
  const device = await connect(authSm.person());
  const answer = await device.sync();
  t.equal(answer.changes?.length, 8);
  t.same(requested, [0, 1, 2, 3]);
});

await t.test("a device that does not read: no more parts are requested, and it is closed with 1013", async (t) => {
  const part = { changes: Array.from({ length: 4 }, (_, index) => changeOf(`r${index}`, 100_000)), after: "0" };
  let requested = 0;
  // A short limit for this service only: a slow machine needs the usual one.
  const hasty = await startSync(t, { timings: { taken: 400 } });
  hasty.vaults.changes = inParts([part], () => (requested += 1));
  const device = await connectRaw(t, hasty.url, await hasty.authSm.token(hasty.authSm.person()));
  device.socket.pause();
  device.send({ type: "sync_request" });
  let seen = -1;
  await until("no more parts are requested", async () => {
    const stalled = requested > 0 && seen === requested;
    seen = requested;
    if (!stalled) await new Promise((resolve) => setTimeout(resolve, 50));
    return stalled;
  });
  // The buffers of the system hold some parts, not a gigabyte.
  t.ok(requested < 60, `${requested} parts were requested`);
  await until("it is given up", async () => (await closes(1013, hasty)) > 0);
  device.socket.resume();
  await device.closed();
  t.notOk(
    device.frames.some(({ fin, opcode }) => fin && opcode <= 1),
    "no end of the message",
  );
});

await t.test("limit, has_more and reset are passed on, and each page is a message", async (t) => {
  const person = authSm.person();
  const device = await connect(person);
  vaults.changes = inParts([
    { changes: [changeOf("a", 10)], reset: true, has_more: true, server_time: "2026-11-20T10:00:00.000001Z" },
  ]);
  const first = await device.sync({ limit: 1 });
  t.match(first, { has_more: true, reset: true, server_time: "2026-11-20T10:00:00.000001Z" });
  vaults.changes = inParts([{ changes: [changeOf("b", 10)], reset: true }]);
  t.match(await device.sync({ limit: 1, last_sync: String(first.server_time) }), { has_more: false, reset: true });
  t.match(vaults.requests.at(-1), { limit: 1, last_sync: "2026-11-20T10:00:00.000001Z" });
});

await t.test("has_more and server_time are those of the last part, reset that of any", async (t) => {
  const device = await connect(authSm.person());
  vaults.changes = inParts([
    { changes: [changeOf("a", 10)], reset: true, server_time: "2026-11-20T10:00:00.000001Z" },
    { changes: [changeOf("b", 10)], has_more: true, server_time: "2026-11-20T10:00:00.000002Z" },
  ]);
  t.match(await device.sync(), { reset: true, has_more: true, server_time: "2026-11-20T10:00:00.000002Z" });
});

await t.test("deletions beyond the buffer are requested again, and all follow the changes", async (t) => {
  const count = 10;
  const parts = Array.from({ length: count }, (_, part) => ({
    changes: [changeOf(`c${part}`, 10)],
    deleted: Array.from({ length: 2_500 }, (_, index) => deletionOf(`d${part}-${index}`)),
  }));
  const requested: number[] = [];
  vaults.changes = inParts(parts, (index) => requested.push(index));
  const device = await connect(authSm.person());
  const answer = await device.sync();
  t.equal(answer.changes?.length, count);
  t.same(
    answer.deleted?.map(({ id }) => id),
    parts.flatMap(({ deleted }) => deleted.map(({ id }) => id)),
  );
  t.same(requested.slice(0, count), [...parts.keys()]);
  const [from = 0] = requested.slice(count);
  t.ok(from > 0 && from < count, "some were buffered");
  t.same(requested.slice(count), [...parts.keys()].slice(from), "from there to the end, so that none is missed");
  const flags = vaults.requests.slice(-requested.length).map(({ only_deleted }) => only_deleted === true);
  t.same([flags.indexOf(true), flags.lastIndexOf(false)], [count, count - 1], "and without what was changed");
});

await t.test("if a part is missing, the connection is closed before the end of the message", async (t) => {
  const parts = Array.from({ length: 3 }, (_, part) => ({ changes: [changeOf(`r${part}`, 100_000)] }));
  for (const [error, code] of [
    [new ServiceError("unavailable", "not now"), 1013],
    [new TypeError("a bug"), 1011],
  ] as const) {
    vaults.changes = inParts(parts, (index) => {
      if (index === 2) throw error;
    });
    const device = await connect(authSm.person());
    device.send({ type: "sync_request" });
    t.match(await device.closed(), { code });
    t.same(device.messages, []);
  }
  t.match(logged(), /"level":"error".*a sync failed/);
});

await t.test("a part with wrong change lengths fails the response", async (t) => {
  const changes = [changeOf("a", 10), changeOf("b", 10)];
  const [one = 0, other = 0] = changes.map((change) => JSON.stringify(change).length);
  for (const change_lengths of [[one + 1, other], [one], [], [0, one + other]]) {
    vaults.changes = inParts([{ changes, change_lengths }]);
    const device = await connect(authSm.person());
    device.send({ type: "sync_request" });
    t.match(await device.closed(), { code: 1011 });
    t.same(device.messages, []);
  }
});

await t.test("a person's devices get eight responses at a time; others do not wait for them", async (t) => {
  const [many, other] = [authSm.person(), authSm.person()];
  const latch = Promise.withResolvers<undefined>();
  vaults.changes = async ({ user_id }) => {
    if (user_id === many.userId) await latch.promise;
    return nothing();
  };
  const devices = await Promise.all(Array.from({ length: 12 }, () => connect(many)));
  const requestsOfMany = (): number => vaults.requests.filter(({ user_id }) => user_id === many.userId).length;
  for (const device of devices) device.send({ type: "sync_request" });
  await until("eight are requested", () => requestsOfMany() === 8);
  t.match(await (await connect(other)).sync(), { type: "sync_response" });
  t.equal(requestsOfMany(), 8);
  const gone = await closes(1006);
  devices.at(-1)?.socket.terminate();
  await until("it is known to have gone", async () => (await closes(1006)) === gone + 1);
  latch.resolve(undefined);
  for (const device of devices.slice(0, -1)) await until("it is answered", () => device.messages.length === 1);
  t.equal(requestsOfMany(), 11, "and none for a closed connection");
});
