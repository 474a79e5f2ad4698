import { randomUUID } from "node:crypto";
import { folderCatchUpSince } from "@coffer/events";
import { createDatabase } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import { until } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { folderChangesSweep } from "../../src/folders/sweep-changes.ts";
import { call } from "../support/call.ts";
import { createFolder } from "../support/machines.ts";
import { execute, startCompany } from "../support/members.ts";
import type { FolderNews } from "../support/observer.ts";
import { startAuthSm } from "../support/service.ts";

// Published folder events, for a replica that missed them.

const service = await startAuthSm(t);
const { observer, postgres } = service;
const { owner } = await startCompany(service);
const telemetry = createTelemetry({ service: "auth-sm", level: "silent" });
const database = createDatabase({ url: postgres.url, schema: "auth_sm", telemetry });
t.teardown(() => database.close());

const ask = (since: string | null, after: string | null = null) =>
  observer.sync.request(folderCatchUpSince, { since, after }, { timeoutMilliseconds: 20_000 });
const now = async (): Promise<string> => (await ask(null)).until;
const rename = (folder: string, name = randomUUID()) =>
  call(service, "PATCH", `/api/org/folders/${folder}`, { token: owner.token, body: { name } });

/** All parts of an answer. */
async function newsSince(since: string): Promise<{ folders: FolderNews[]; sizes: number[]; until: string }> {
  const first = await ask(since);
  const parts = [first];
  for (let { after } = first; after !== null;) {
    const part = await ask(since, after);
    parts.push(part);
    ({ after } = part);
  }
  if (parts.some((part) => part.reset || part.until !== first.until))
    throw new Error("the parts are not of one answer");
  return {
    folders: parts.flatMap(({ folders }) => folders),
    sizes: parts.map((part) => part.folders.length),
    until: first.until,
  };
}

/** Notes news of a new folder, `count` times with so many people, over its own connection. */
async function note(client: pg.ClientBase, { count = 1, people = 0 } = {}): Promise<string> {
  const folder = randomUUID();
  await client.query(
    `INSERT INTO auth_sm.folder_news (server, news)
     SELECT (SELECT system_identifier FROM pg_control_system()) || '.' || (SELECT timeline_id FROM pg_control_checkpoint()),
       json_build_object('id', gen_random_uuid(), 'folder_id', $1::uuid, 'change', 'key', 'updated_at', '',
         'user_ids', ARRAY(SELECT gen_random_uuid() FROM generate_series(1, $3)))
     FROM generate_series(1, $2)`,
    [folder, count, people],
  );
  return folder;
}
async function connected(t: { teardown(work: () => unknown): unknown }): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  t.teardown(() => client.end());
  return client;
}

await t.test("the events since a time are returned as they were published", async (t) => {
  const since = await now();
  const folder = await createFolder(service, owner);
  await rename(folder);
  await call(service, "DELETE", `/api/org/folders/${folder}`, { token: owner.token });
  const heard = await until("three are heard", () => {
    const about = observer.folderNews.filter(({ folder_id }) => folder_id === folder);
    return about.length === 3 && about;
  });
  const told = await until("all are noted", async () => {
    const about = (await newsSince(since)).folders.filter(({ folder_id }) => folder_id === folder);
    return about.length === 3 && about;
  });
  t.strictSame(told, heard);
  t.equal(new Set(told.map(({ id }) => id)).size, 3);
  t.strictSame(told[2]?.user_ids, [owner.userId], "who lost it is named");
  await until("they are not told again since a later moment", async () => {
    const { folders } = await newsSince(await now());
    return !folders.some(({ folder_id }) => folder_id === folder);
  });
});

await t.test("an event that was being recorded at that time is returned", async (t) => {
  const client = await connected(t);
  await client.query("BEGIN");
  const folder = await note(client);
  // Others commit after it has begun.
  await createFolder(service, owner);
  const since = await now();
  t.notOk((await newsSince(since)).folders.some(({ folder_id }) => folder_id === folder));
  await client.query("COMMIT");
  t.ok((await newsSince(since)).folders.some(({ folder_id }) => folder_id === folder));
});

await t.test("many events come in parts, each once, and so do large ones", async (t) => {
  const client = await connected(t);
  let since = await now();
  const folder = await note(client, { count: 1_200 });
  const { folders, sizes } = await newsSince(since);
  const about = folders.filter(({ folder_id }) => folder_id === folder);
  t.equal(new Set(about.map(({ id }) => id)).size, 1_200);
  t.equal(about.length, 1_200);
  t.ok(sizes.every((size) => size <= 500));
  t.equal(sizes.at(-1), 0);

  since = await now();
  const large = await note(client, { count: 5, people: 5_000 });
  const told = (await newsSince(since)).folders.filter(({ folder_id }) => folder_id === large);
  t.strictSame(
    told.map(({ user_ids }) => user_ids.length),
    [5_000, 5_000, 5_000, 5_000, 5_000],
  );
});

await t.test("while the bus is away nothing is recorded; the event follows when the bus is back", async (t) => {
  const folder = await createFolder(service, owner);
  const since = await until("it is noted", async () => {
    const { folders, until: later } = await newsSince(await now());
    return folders.every(({ folder_id }) => folder_id !== folder) && later;
  });
  const count = async () =>
    (await execute(service, "SELECT FROM auth_sm.folder_news WHERE news ->> 'folder_id' = $1", [folder])).length;
  await until("the first is noted", async () => (await count()) === 1);
  await service.nats.stop();
  t.equal((await rename(folder)).status, 200);
  const waiting = "SELECT FROM auth_sm.outbox WHERE lane = 'event'";
  t.equal((await execute(service, waiting)).length, 1);
  t.equal(await count(), 1);
  await service.nats.start();
  await until("it is noted", async () => (await count()) === 2);
  await until("sync is back", () => observer.sync.connected && observer.bus.connected);
  t.ok((await newsSince(since)).folders.some(({ folder_id }) => folder_id === folder));
});

/** As if it had been noted more than an hour ago. */
async function grownOld(client: pg.ClientBase, folder: string): Promise<void> {
  await client.query(
    "UPDATE auth_sm.folder_news SET noted_at = noted_at - interval '61 minutes' WHERE news ->> 'folder_id' = $1",
    [folder],
  );
}

await t.test("a request for more than is stored, or with another server's time, starts over", async (t) => {
  const client = await connected(t);
  const since = await now();
  const folder = await note(client, { count: 2 });
  const sweep = folderChangesSweep({ database });
  for (let sweeps = 0; sweeps < 2; sweeps += 1) t.equal(await sweep.batch(), false);
  t.match(await ask(since), { reset: false }, "what is young stays");
  await grownOld(client, folder);
  await until("it is swept away", async () => {
    await sweep.batch();
    return (await ask(since)).reset;
  });
  t.match(await ask(since), { folders: [], reset: true, after: null });
  await until("the watermark is past them", async () => !(await ask(await now())).reset);
  t.match(await ask((await ask(since)).until), { reset: false }, "and goes on from there");

  const [system = "", timeline = "", x = ""] = (await now()).split(".");
  t.match(await ask([system, Number(timeline) + 1, x].join(".")), { folders: [], reset: true });
  t.match(await ask([`1${system.slice(0, -1)}`, timeline, x].join(".")), { folders: [], reset: true });
});

await t.test("while a transaction hangs, later events are still returned, however old they are", async (t) => {
  const [hanging, client] = [await connected(t), await connected(t)];
  await hanging.query("BEGIN");
  await hanging.query("SELECT pg_current_xact_id()");
  const folder = await note(client);
  const since = await now();
  await grownOld(client, folder);
  const sweep = folderChangesSweep({ database });
  for (let sweeps = 0; sweeps < 3; sweeps += 1) await sweep.batch();
  const { folders } = await newsSince(since);
  t.ok(folders.some(({ folder_id }) => folder_id === folder));

  await hanging.query("COMMIT");
  await until("the watermark goes on", async () => (await now()) !== since);
  await sweep.batch();
  t.match(await ask(since), { reset: false }, "nor when it has just ended");
  await until("it is swept away after that", async () => {
    await sweep.batch();
    return (await ask(since)).reset;
  });
  await until("who asks from then on goes on", async () => !(await ask(await now())).reset);
});

await t.test("a malformed time or position is refused", async (t) => {
  for (const since of ["", "x", "1.1", "1.1.-1", "1.1.1.1"]) await t.rejects(ask(since), { code: "invalid_request" });
  await t.rejects(ask(await now(), "x"), { code: "invalid_request" });
});
