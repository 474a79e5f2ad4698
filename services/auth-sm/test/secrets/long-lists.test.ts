import { randomUUID } from "node:crypto";
import type { AuditDraft } from "@coffer/events";
import { requestSlowly, until } from "@coffer/testkit";
import t from "tap";
import { type AnswerBody, call } from "../support/call.ts";
import { ask, bearer, createFolder, createMachine, type Machine } from "../support/machines.ts";
import { insertSecrets } from "../support/many-secrets.ts";
import { execute } from "../support/members.ts";
import { register } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

// Lists that do not fit into a part, which has at most 1,000 secrets and ends with the one that
// reaches 2 MiB.

const service = await startAuthSm(t);
const owner = await register(service, { orgName: "Example" });
const large = 256 * 1024;
const largeInPart = 8;

/** A folder with so many secrets, and a machine that may read it. */
async function filled(count: number, bytes?: number) {
  const folder = await createFolder(service, owner);
  const uids = await insertSecrets(service, { owner, folder, count, ...(bytes !== undefined && { bytes }) });
  const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "read" }]);
  return { folder, uids, machine };
}

const uidsOf = ({ data }: { data: { uid: string }[] }): string[] => data.map(({ uid }) => uid);

/** What the records of a request say, once the last one is there or there are so many of them. */
async function recorded(requestId: string, enough?: number): Promise<Partial<AuditDraft>[]> {
  const records = await until(`the records of ${requestId}`, () => {
    const found = service.observer.records.filter(({ request }) => request.id === requestId);
    return ((enough !== undefined && found.length >= enough) || found.some(({ reason }) => reason !== "part")) && found;
  });
  return records.map(({ action, outcome, count, reason }) => ({ action, outcome, count, reason }));
}

/** The records of an answer in parts of so many secrets. */
function parts(action: string, counts: number[]): object[] {
  return counts.map((count, n) => {
    return { action, outcome: "success", count, reason: n === counts.length - 1 ? undefined : "part" };
  });
}

interface Asked {
  body: AnswerBody;
  records: Partial<AuditDraft>[];
}

async function asked(machine: Machine, path: string): Promise<Asked> {
  const id = randomUUID();
  const { status, body } = await ask(service, machine, "GET", path, { headers: { "x-request-id": id } });
  if (status !== 200) throw new Error(`${path} was answered ${status}`);
  return { body, records: await recorded(id) };
}

await t.test("a list or search that is longer than a part is whole, and each part is on record", async (t) => {
  for (const [count, counts] of [
    [1000, [1000]],
    [1001, [1000, 1]],
  ] as const) {
    const { folder, uids, machine } = await filled(count);
    const list = await asked(machine, "/secrets");
    t.strictSame(uidsOf(list.body), uids);
    t.strictSame(Object.keys(list.body), ["data"]);
    t.strictSame(list.records, parts("secret.listed", [...counts]));

    const search = await asked(machine, "/secrets/search?title=MANY");
    t.strictSame(uidsOf(search.body).sort(), uids.toSorted());
    t.strictSame(search.records, parts("secret.searched", [...counts]));

    const id = randomUUID();
    const path = `/api/org/folders/${folder}/secrets`;
    const answer = await call(service, "GET", path, { token: owner.token, headers: { "x-request-id": id } });
    t.strictSame(uidsOf(answer.body), uids);
    t.strictSame(await recorded(id), parts("secret.listed", [...counts]));
  }
});

await t.test("so is one of large secrets", async (t) => {
  const { uids, machine } = await filled(2 * largeInPart + 1, large);
  const whole = await asked(machine, "/secrets");
  t.strictSame(uidsOf(whole.body), uids);
  t.strictSame(whole.records, parts("secret.listed", [largeInPart, largeInPart, 1]));
  t.equal(whole.body.data.at(-1)?.data_encrypted.length, large);

  const exact = await asked(machine, `/secrets?limit=${largeInPart}`);
  t.strictSame(exact.records, parts("secret.listed", [largeInPart]), "a page of one part is on record once");
});

await t.test(
  "a page is as long as its limit and goes on where it ends, also when it is longer than a part",
  async (t) => {
    const { uids, machine } = await filled(3 * largeInPart, large);
    for (const path of ["/secrets?", "/secrets/search?title=many&"]) {
      const limit = largeInPart + 2;
      const first = await asked(machine, `${path}limit=${limit}`);
      t.strictSame(
        first.records.map(({ count }) => count),
        [largeInPart, 2],
        path,
      );
      const second = await asked(machine, `${path}limit=${limit}&cursor=${first.body.next_cursor}`);
      const third = await asked(machine, `${path}limit=${limit}&cursor=${second.body.next_cursor}`);
      t.strictSame(
        [first, second, third].map(({ body }) => body.data.length),
        [limit, limit, 4],
      );
      t.equal(third.body.next_cursor, null);
      const all = [first, second, third].flatMap(({ body }) => uidsOf(body));
      t.strictSame(all.sort(), uids.toSorted());
      const exact = await asked(machine, `${path}limit=${uids.length}`);
      t.equal(exact.body.next_cursor, null, "a page that is the whole list is the last");
    }
  },
);

await t.test("the tag of a long list is the tag of the answer that its caller gets", async (t) => {
  const { folder, machine } = await filled(largeInPart + 1, large);
  for (const [path, token] of [
    ["/api/sm/v1/secrets", bearer(machine)],
    ["/api/sm/v1/secrets?limit=9", bearer(machine)],
    ["/api/sm/v1/secrets/search?title=many", bearer(machine)],
    [`/api/org/folders/${folder}/secrets`, owner.token],
  ] as const) {
    const first = await call(service, "GET", path, { token });
    t.equal(first.body.data.length, largeInPart + 1);
    const headers = { "if-none-match": first.headers.get("etag") ?? "" };
    t.equal((await call(service, "GET", path, { token, headers })).status, 304, path);
    const [last] = first.body.data.slice(-1);
    await execute(service, "UPDATE auth_sm.secrets SET version = version + 1 WHERE uid = $1", [last?.uid]);
    t.equal((await call(service, "GET", path, { token, headers })).status, 200, "also when its last secret changes");
  }
});

/** More than the connection buffers while the client does not read. */
const manyParts = 12;

/** Asks for a list of many parts and takes nothing yet. */
async function askedSlowly(path = "/secrets") {
  const count = manyParts * largeInPart;
  const { folder, uids, machine } = await filled(count, large);
  const id = randomUUID();
  const answer = await requestSlowly(`${service.url}/api/sm/v1${path}`, {
    authorization: `Bearer ${bearer(machine)}`,
    "x-request-id": id,
  });
  // The first part is on record before anything is answered.
  await recorded(id, 1);
  return { answer, id, folder, uids, machine };
}

await t.test(
  "a secret that is deleted before its part is read is left out, one that is new is not there yet",
  async (t) => {
    const { answer, id, folder, uids } = await askedSlowly();
    t.equal(answer.status, 200);
    await execute(service, "DELETE FROM auth_sm.secrets WHERE uid = $1", [uids.at(-1)]);
    await insertSecrets(service, { owner, folder, count: 1 });
    const { data } = JSON.parse(await answer.read()) as AnswerBody;
    t.strictSame(uidsOf({ data }), uids.slice(0, -1));
    const records = await recorded(id);
    t.equal(
      records.reduce((sum, { count = 0 }) => sum + count, 0),
      uids.length - 1,
    );
  },
);

await t.test("a secret that expires before its part is read is left out", async (t) => {
  const { answer, uids } = await askedSlowly();
  const last = uids.at(-1);
  await execute(service, "UPDATE auth_sm.secrets SET expires_at = $2 WHERE uid = $1", [last, service.clock.now()]);
  t.strictSame(uidsOf(JSON.parse(await answer.read()) as AnswerBody), uids.slice(0, -1));
});

await t.test("a machine that is revoked gets no further part, and no record says that it got all", async (t) => {
  const { answer, id, machine, uids } = await askedSlowly();
  await execute(service, "UPDATE auth_sm.clients SET revoked_at = now() WHERE id = $1", [machine.clientId]);
  await t.rejects(answer.read(), "the answer is cut off");
  const records = await recorded(id);
  t.match(records.at(-1), { action: "client.auth.failed", outcome: "failure", reason: "invalid_token" });
  const handedOut = records.slice(0, -1);
  t.ok(handedOut.every(({ reason }) => reason === "part"));
  t.ok(handedOut.reduce((sum, { count = 0 }) => sum + count, 0) < uids.length);
});

await t.test("a machine whose grant is revoked gets nothing more of that folder", async (t) => {
  const { answer, uids, machine } = await askedSlowly();
  await execute(service, "DELETE FROM auth_sm.client_folders WHERE client_id = $1", [machine.clientId]);
  const { data } = JSON.parse(await answer.read()) as AnswerBody;
  t.ok(data.length > 0 && data.length < uids.length);
});

await t.test("of a list that its caller does not take, no more is read than the connection holds", async (t) => {
  const { answer, id } = await askedSlowly();
  const seen = (): number => service.observer.records.filter(({ request }) => request.id === id).length;
  // Whatever could go on meanwhile would.
  for (let n = 0; n < 50; n += 1) await call(service, "GET", "/api/account", { token: owner.token });
  t.ok(seen() < manyParts, `${seen()} of ${manyParts} parts`);
  answer.leave();
  for (let n = 0; n < 50; n += 1) await call(service, "GET", "/api/account", { token: owner.token });
  t.ok(seen() < manyParts);
});

await t.test("many long lists at once take less memory than the secrets in them", async (t) => {
  const atOnce = 12;
  const { machine, uids } = await filled(15 * largeInPart, large);
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5);
  t.teardown(() => clearInterval(watch));
  const answers = Array.from({ length: atOnce }, async () => {
    const headers = { authorization: `Bearer ${bearer(machine)}` };
    const { body } = await fetch(`${service.url}/api/sm/v1/secrets`, { headers });
    let bytes = 0;
    for await (const chunk of body ?? []) bytes += (chunk as Uint8Array).byteLength; // what fetch reads
    return bytes;
  });
  for (const bytes of await Promise.all(answers)) t.ok(bytes > uids.length * large);
  t.ok(most - before < atOnce * uids.length * large, `${Math.round((most - before) / 1024 / 1024)} MiB`);
});
