import { randomUUID } from "node:crypto";
import { createDatabase } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import t from "tap";
import { stagedSweep } from "../../src/folders/sweep-staged.ts";
import { call } from "../support/call.ts";
import { ask, createFolder, createMachine, createSecret, secretBody } from "../support/machines.ts";
import { execute, share, startCompany } from "../support/members.ts";
import { type Person, sealed } from "../support/people.ts";
import { rotate, rotationOf, sealedWith } from "../support/rotation.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const { owner, member } = await startCompany(service);
const conflict = { status: 409, body: { error: "conflict" } };
const invalid = { status: 400, body: { error: "invalid_request" } };

/** A folder with a machine and two secrets, and a rotation of it with new DEKs. */
async function filled() {
  const id = await createFolder(service, owner);
  const machine = await createMachine(service, owner, [{ folder_id: id, permission: "write" }]);
  const whole = { title: "t", title_encrypted: sealed(), fields: { password: sealed(), "user name": sealed() } };
  const uids = [await createSecret(service, machine, id, whole), await createSecret(service, machine, id)] as const;
  return { id, machine, uids, ...(await newDeks(id)) };
}

/** A rotation of the folder as it is, without its secrets, and these with payloads. */
async function newDeks(id: string, by = owner) {
  const { secrets, ...rotation } = await rotationOf(service, by, id);
  return { rotation, secrets: secrets.map((secret) => ({ ...secret, encrypted_payload: sealedWith(0) })) };
}

const stage = (id: string, rotation: string, secrets: object[], { token }: Pick<Person, "token"> = owner) =>
  call(service, "PUT", `/api/org/folders/${id}/rotation/${rotation}`, { token, body: { secrets } });

async function stagedIn(id: string): Promise<number> {
  const text = "SELECT count(*)::integer AS count FROM auth_sm.staged_secrets WHERE folder_id = $1";
  const [row] = (await execute(service, text, [id])) as { count: number }[];
  return row?.count ?? -1;
}

await t.test("a rotation replaces each payload that it has, with its DEK, and no other", async (t) => {
  const { id, machine, uids, rotation, secrets } = await filled();
  const before = await ask(service, machine, "GET", `/secrets/${uids[1]}`);
  const list = await ask(service, machine, "GET", "/secrets");
  const sent = secrets.map((secret) => (secret.uid === uids[0] ? secret : { ...secret, encrypted_payload: undefined }));
  t.match(await rotate(service, owner, id, { ...rotation, secrets: sent }), { status: 200, body: { key_version: 2 } });
  const first = sent.find(({ uid }) => uid === uids[0]);
  t.match((await ask(service, machine, "GET", `/secrets/${uids[0]}`)).body, {
    data_encrypted: first?.encrypted_payload,
    wrapped_dek: first?.wrapped_dek,
    version: 2,
    key_version: 2,
  });
  t.match((await ask(service, machine, "GET", `/secrets/${uids[1]}`)).body, {
    data_encrypted: before.body.data_encrypted,
    version: 2,
    key_version: 2,
  });
  const headers = { "if-none-match": list.headers.get("etag") ?? "" };
  t.equal((await ask(service, machine, "GET", "/secrets", { headers })).status, 200, "a poller sees the change");
});

await t.test("secrets are staged in several requests, and rotated at once", async (t) => {
  const { id, machine, uids, rotation, secrets } = await filled();
  const rotation_id = randomUUID();
  const [first, second] = [secrets.slice(0, 1), secrets.slice(1)];
  const before = await ask(service, machine, "GET", `/secrets/${uids[0]}`);
  t.match(await stage(id, rotation_id, first), { status: 200, body: { rotation_id, staged: 1 } });
  t.match(await rotate(service, owner, id, { ...rotation, rotation_id }), conflict, "one is missing");
  t.match(await rotate(service, owner, id, { ...rotation, rotation_id: randomUUID() }), conflict, "none is staged");
  t.match(await stage(id, rotation_id, second), { status: 200, body: { staged: 2 } });
  t.match(await stage(id, rotation_id, second), { status: 200, body: { staged: 2 } }, "again");
  t.strictSame((await ask(service, machine, "GET", `/secrets/${uids[0]}`)).body, before.body, "nothing has changed");

  t.match(await rotate(service, owner, id, rotation), invalid, "neither form");
  t.match(await rotate(service, owner, id, { ...rotation, rotation_id, secrets }), invalid, "both forms");
  t.match(await rotate(service, owner, id, { ...rotation, rotation_id }), { status: 200, body: { key_version: 2 } });
  for (const sent of secrets) {
    const { body } = await ask(service, machine, "GET", `/secrets/${sent.uid}`);
    t.match(body, {
      data_encrypted: sent.encrypted_payload,
      wrapped_dek: sent.wrapped_dek,
      title_encrypted: sent.title_encrypted ?? "",
      field_names: Object.keys(sent.fields ?? {}).sort(),
      version: 2,
      key_version: 2,
    });
    for (const [name, value] of Object.entries(sent.fields ?? {})) {
      const field = await ask(service, machine, "GET", `/secrets/${sent.uid}/fields/${encodeURIComponent(name)}`);
      t.match(field.body, { value_encrypted: value });
    }
  }
  t.equal(await stagedIn(id), 0, "nothing stays staged");
  const record = await service.observer.record(
    "the rotation",
    ({ action, outcome, target }) => action === "folder.key.rotated" && outcome === "success" && target.id === id,
  );
  t.equal(record.count, 2);
});

await t.test("only secrets as they are now are staged, and only while they stay so", async (t) => {
  const { id, machine, uids, rotation, secrets } = await filled();
  const other = await filled();
  const rotation_id = randomUUID();
  const titled = secrets.find(({ uid }) => uid === uids[0]);
  const foreign = other.secrets[0];
  if (titled === undefined || foreign === undefined) throw new Error("there are no secrets");
  t.match(await stage(id, rotation_id, [{ ...titled, uid: "A".repeat(22) }]), conflict, "one that is not there");
  t.match(await stage(id, rotation_id, [foreign]), conflict, "one of another folder");
  t.match(await stage(id, rotation_id, [{ ...titled, version: 2 }]), conflict, "another version");
  t.match(await stage(id, rotation_id, [titled, titled]), invalid, "one twice");
  t.match(await stage(id, rotation_id, [{ ...titled, title_encrypted: undefined }]), invalid, "no title");
  t.match(await stage(id, rotation_id, [{ ...titled, fields: {} }]), invalid, "no fields");
  t.match(await stage(id, rotation_id, [{ ...titled, encrypted_payload: "" }]), invalid, "an empty payload");
  t.match(await stage(id, rotation_id, [{ ...titled, wrapped_dek: undefined }]), invalid, "no DEK");
  t.equal(await stagedIn(id), 0);

  t.match(await stage(id, rotation_id, secrets), { status: 200 });
  await ask(service, machine, "PUT", `/secrets/${uids[1]}`, { body: secretBody(id, { key_version: 1 }) });
  t.match(await rotate(service, owner, id, { ...rotation, rotation_id }), conflict, "one was written meanwhile");
  const now = await newDeks(id);
  t.match(await stage(id, rotation_id, now.secrets), { status: 200, body: { staged: 2 } });
  t.match(await rotate(service, owner, id, { ...now.rotation, rotation_id }), { status: 200 });
});

await t.test("each manager rotates what they have staged themselves", async (t) => {
  const { id } = await filled();
  await share(service, id, member, "manage");
  const { rotation, secrets } = await newDeks(id);
  const rotation_id = randomUUID();
  t.match(await stage(id, rotation_id, secrets), { status: 200 });
  t.match(await rotate(service, member, id, { ...rotation, rotation_id }), conflict);
  t.match(await stage(id, rotation_id, secrets.slice(1), member), { status: 200, body: { staged: 1 } });
  t.match(await rotate(service, owner, id, { ...rotation, rotation_id }), { status: 200 });
  t.equal(await stagedIn(id), 0, "also what the other had staged is dropped");
});

await t.test("secrets that were staged an hour ago, or for another rotation of the person, are dropped", async (t) => {
  const { id, secrets } = await filled();
  await stage(id, randomUUID(), secrets);
  t.match(await stage(id, randomUUID(), secrets.slice(1)), { status: 200, body: { staged: 1 } });
  t.equal(await stagedIn(id), 1);
  const telemetry = createTelemetry({ service: "auth-sm", level: "silent" });
  const database = createDatabase({ url: service.postgres.url, schema: "auth_sm", telemetry });
  t.teardown(() => database.close());
  const later = (milliseconds: number) =>
    stagedSweep({ database, now: () => new Date(service.clock.now().getTime() + milliseconds) }).batch();
  const minute = 60 * 1000;
  t.equal(await later(59 * minute), false);
  t.equal(await stagedIn(id), 1);
  t.equal(await later(61 * minute), false, "there is no further batch");
  t.equal(await stagedIn(id), 0);
});

await t.test("a folder whose payloads exceed one body is rotated in stages", async (t) => {
  const id = await createFolder(service, owner);
  const machine = await createMachine(service, owner, [{ folder_id: id, permission: "write" }]);
  const largest = "A".repeat(256 * 1024);
  const count = 130;
  for (let n = 0; n < count; n += 10)
    await Promise.all(
      Array.from({ length: 10 }, () => createSecret(service, machine, id, { encrypted_payload: largest })),
    );
  const { rotation, secrets } = await newDeks(id);
  // Longer than a write takes: a payload at that limit in the bare layout grows.
  const grown = secrets.map((secret) => ({ ...secret, encrypted_payload: `${largest}AAAA` }));
  t.equal((await rotate(service, owner, id, { ...rotation, secrets: grown })).status, 413, "over 32 MiB");
  const over = { ...grown[0], encrypted_payload: "A".repeat(257 * 1024 + 4) };
  const rotation_id = randomUUID();
  t.equal((await stage(id, rotation_id, [over])).status, 413);
  for (let n = 0; n < count; n += 65) t.equal((await stage(id, rotation_id, grown.slice(n, n + 65))).status, 200);
  const started = performance.now();
  t.equal((await rotate(service, owner, id, { ...rotation, rotation_id })).status, 200);
  t.comment(`${Math.round(performance.now() - started)} ms`);
  const stored = await execute(
    service,
    "SELECT length(encrypted_payload) AS length, count(*)::integer FROM auth_sm.secrets WHERE folder_id = $1 GROUP BY 1",
    [id],
  );
  t.strictSame(stored, [{ length: largest.length + 4, count }]);
});
