import type { AuditDraft } from "@coffer/events";
import t from "tap";
import { type Answer, call } from "../support/call.ts";
import { ask, createFolder, createMachine, secretBody } from "../support/machines.ts";
import { insertSecrets } from "../support/many-secrets.ts";
import { execute, join, orgOf, share } from "../support/members.ts";
import { register, sealed } from "../support/people.ts";
import { rotate, rotationOf } from "../support/rotation.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const owner = await register(service, { orgName: "Example" });
const auditor = await register(service);
await join(service, await orgOf(service, owner), auditor, "auditor");
const { clock } = service;
// The tests move it by seconds: the tokens of machines and people stay valid.
clock.stop();

/** A folder and a machine that writes there. */
async function newPlace() {
  const folder = await createFolder(service, owner);
  const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
  const as = (method: string, path: string, options = {}) => ask(service, machine, method, path, options);
  const person = (method: string, path = "", options = {}) =>
    call(service, method, `/api/org/folders/${folder}/secrets${path}`, { token: owner.token, ...options });
  return { folder, machine, as, person };
}

const microseconds = (date: Date): string => date.toISOString().replace("Z", "000Z");
const later = (seconds: number): string => microseconds(new Date(clock.now().getTime() + seconds * 1000));
const content = (more: object = {}) => ({ encrypted_payload: sealed(), wrapped_dek: sealed(), ...more });
const uidsOf = ({ body }: Answer): string[] => body.data.map(({ uid }) => uid);
/** Uids in their order: secrets that are made while the clock stands still are listed by uid. */
let made = 0;
const nextUid = () => `${(made += 1)}`.padStart(22, "0");
const newSecret = (folder: string, more: object = {}) => secretBody(folder, { uid: nextUid(), ...more });
const tagOf = ({ headers }: Answer): string => headers.get("etag") ?? "";
const held = (tag: string) => ({ headers: { "if-none-match": tag } });

await t.test("a secret has the moment that was written, in UTC with microseconds, until it is removed", async (t) => {
  const { folder, as, person } = await newPlace();
  for (const [sent, stored] of [
    ["2099-12-31T23:59:59Z", "2099-12-31T23:59:59.000000Z"],
    ["2100-01-01T00:30:00.1+01:00", "2099-12-31T23:30:00.100000Z"],
    ["2099-12-31t12:00:00.1234569-12:00", "2100-01-01T00:00:00.123456Z"],
    ["9999-12-31T23:59:59.999999z", "9999-12-31T23:59:59.999999Z"],
    [null, null],
    [undefined, null],
  ] as const) {
    const made = await as("POST", "/secrets", { body: newSecret(folder, { expires_at: sent }) });
    t.match(made, { status: 201, body: { expires_at: stored } }, `${sent}`);
    const { uid } = made.body;
    t.match((await as("GET", `/secrets/${uid}`)).body, { expires_at: stored });
    t.match((await person("GET", `/${uid}`)).body, { expires_at: stored, expired: false });
  }
  t.notOk((await as("GET", "/secrets")).body.data.some((secret) => "expired" in secret));
});

await t.test("an update keeps the moment that it does not name, changes it, and removes it with null", async (t) => {
  const { folder, as, person } = await newPlace();
  const made = await as("POST", "/secrets", { body: newSecret(folder, { expires_at: later(60) }) });
  const { uid } = made.body;
  const first = made.body.expires_at;
  const path = `/secrets/${uid}`;
  t.match((await as("PUT", path, { body: content() })).body, { version: 2, expires_at: first });
  const second = later(90);
  t.match((await as("PUT", path, { body: content({ expires_at: second }) })).body, { version: 3, expires_at: second });
  t.match((await person("PUT", `/${uid}`, { body: content() })).body, { version: 4, expires_at: second });
  t.match((await person("PUT", `/${uid}`, { body: content({ expires_at: null }) })).body, { expires_at: null });
  t.match((await as("GET", path)).body, { version: 5, expires_at: null });
});

await t.test("a moment that is not in the future or is none is 400, and nothing is stored", async (t) => {
  const { folder, as, person } = await newPlace();
  const kept = (await as("POST", "/secrets", { body: newSecret(folder, { expires_at: later(60) }) })).body;
  const path = `/secrets/${kept.uid}`;
  const now = microseconds(clock.now());
  const past = "must be in the future";
  const none = "not an RFC 3339 timestamp";
  const years = "must be in the years 1 to 9999 in UTC";
  for (const [expires_at, issue] of [
    [now, past],
    [later(-0.001), past],
    ["1970-01-01T00:00:00Z", past],
    ["0001-01-01T00:00:00Z", past],
    ["0000-12-31T23:59:59Z", years],
    ["0001-01-01T00:00:00+00:01", years],
    ["9999-12-31T23:59:59-00:01", years],
    ["10000-01-01T00:00:00Z", none],
    ["2099-02-29T00:00:00Z", none],
    ["2099-13-01T00:00:00Z", none],
    ["2099-01-01T24:00:00Z", none],
    ["2099-01-01T00:00:60Z", none],
    ["2099-01-01T00:00:00+24:00", none],
    ["2099-01-01T00:00Z", none],
    ["2099-01-01 00:00:00Z", none],
    ["2099-01-01T00:00:00", none],
    ["2099-01-01", none],
    ["infinity", none],
    ["", none],
    [4_102_444_800, "must be a string"],
    [{}, "must be a string"],
  ] as const) {
    for (const [answer, what] of [
      [await as("POST", "/secrets", { body: newSecret(folder, { expires_at }) }), "a machine creates"],
      [await as("PUT", path, { body: content({ expires_at }) }), "a machine updates"],
      [await person("POST", "", { body: newSecret(folder, { expires_at }) }), "a person creates"],
      [await person("PUT", `/${kept.uid}`, { body: content({ expires_at }) }), "a person updates"],
    ] as const) {
      t.match(
        answer,
        { status: 400, body: { error: "invalid_request", details: [{ field: "expires_at" }] } },
        `${JSON.stringify(expires_at)}: ${what}`,
      );
      if (typeof expires_at === "string")
        t.strictSame(answer.body.details, [{ field: "expires_at", issue }], `${expires_at}: ${what}`);
    }
  }
  t.strictSame(uidsOf(await person("GET")), [kept.uid]);
  t.match((await as("GET", path)).body, { version: 1, expires_at: kept.expires_at });
  const soonest = later(0.001);
  t.match((await as("PUT", path, { body: content({ expires_at: soonest }) })).body, { expires_at: soonest });
});

await t.test("a caller without write permission is refused before the expiry is checked", async (t) => {
  const { folder } = await newPlace();
  const { machine: other } = await newPlace();
  const body = newSecret(folder, { expires_at: "1970-01-01T00:00:00Z" });
  t.equal((await ask(service, other, "POST", "/secrets", { body })).status, 403);
});

await t.test("from its moment on a machine has no such secret, by no way, and changes nothing of it", async (t) => {
  const { folder, as } = await newPlace();
  const more = { title: "brief", title_encrypted: sealed(), fields: { password: sealed() }, expires_at: later(10) };
  const { body: brief } = await as("POST", "/secrets", { body: newSecret(folder, more) });
  const lasting = (await as("POST", "/secrets", { body: newSecret(folder, { title: "briefly", fields: {} }) })).body;
  const path = `/secrets/${brief.uid}`;
  const notation = (title: string) =>
    as("POST", "/notation", { body: { notation: `coffer://${folder}/${title}/field/password` } });
  const single = [
    () => as("GET", path),
    () => as("GET", `${path}/fields/password`),
    () => notation("brief"),
    () => notation(brief.uid),
  ];
  const lists = ["/secrets", `/secrets?folder_id=${folder}`, "/secrets?limit=5", "/secrets/search?title=brief"];

  clock.advance(9_999);
  for (const read of single) t.equal((await read()).status, 200, "one millisecond before");
  for (const list of lists) t.strictSame(uidsOf(await as("GET", list)), [brief.uid, lasting.uid], list);

  clock.advance(1);
  for (const read of [
    ...single,
    () => as("PUT", path, { body: content({ expires_at: null }) }),
    () => as("PUT", path, { body: content(), headers: { "if-match": '"1"' } }),
    () => as("DELETE", path),
  ])
    t.match(await read(), { status: 404, body: { error: "secret_not_found" } });
  for (const list of lists) t.strictSame(uidsOf(await as("GET", list)), [lasting.uid], list);
  const next = await as("GET", "/secrets?limit=1");
  t.equal(next.body.next_cursor, null, "an expired secret is no next page");

  const taken = await as("POST", "/secrets", { body: newSecret(folder, { uid: brief.uid }) });
  t.match(taken, { status: 400, body: { error: "invalid_request" } }, "its uid is not free");
});

await t.test("a machine without a grant gets 404 for an expired secret, as for one that never was", async (t) => {
  const { folder, as } = await newPlace();
  const { machine: other } = await newPlace();
  const { uid } = (await as("POST", "/secrets", { body: newSecret(folder, { expires_at: later(1) }) })).body;
  t.equal((await ask(service, other, "GET", `/secrets/${uid}`)).status, 403);
  clock.advance(1_000);
  t.equal((await ask(service, other, "GET", `/secrets/${uid}`)).status, 404);
});

await t.test("no 304 hides from a machine that a secret has expired", async (t) => {
  const { folder, as } = await newPlace();
  const { uid } = (await as("POST", "/secrets", { body: newSecret(folder, { title: "poll", expires_at: later(5) }) }))
    .body;
  await as("POST", "/secrets", { body: newSecret(folder, { title: "poll too" }) });
  const second = await as("POST", "/secrets", { body: newSecret(folder, { title: "poll", expires_at: later(7) }) });
  const lists = [
    "/secrets",
    `/secrets?folder_id=${folder}`,
    "/secrets?record_type=login",
    "/secrets?limit=5",
    "/secrets?limit=1",
    "/secrets/search?title=poll",
    "/secrets/search?title=poll&limit=1",
  ];
  const tags = new Map<string, string>();
  const poll = async (path: string) => {
    const answer = await as("GET", path, held(tags.get(path) ?? '""'));
    if (answer.status === 200) tags.set(path, tagOf(answer));
    return answer;
  };
  for (const path of lists) {
    t.equal((await poll(path)).status, 200, path);
    t.equal((await poll(path)).status, 304, path);
  }
  const single = tagOf(await as("GET", `/secrets/${uid}`));

  clock.advance(4_999);
  for (const path of lists) t.equal((await poll(path)).status, 304, `${path}: before the moment`);
  t.equal((await as("GET", `/secrets/${uid}`, held(single))).status, 304);

  clock.advance(1);
  for (const path of lists) {
    const before = tags.get(path) ?? "";
    const changed = await poll(path);
    t.equal(changed.status, 200, `${path}: at the moment`);
    t.not(tagOf(changed), before);
    t.notOk(uidsOf(changed).includes(uid), path);
    t.equal((await poll(path)).status, 304, `${path}: the new answer is held`);
  }
  t.equal((await as("GET", `/secrets/${uid}`, held(single))).status, 404);

  clock.advance(2_000);
  for (const path of lists.filter((each) => !each.includes("limit=1"))) {
    const changed = await poll(path);
    t.equal(changed.status, 200, `${path}: when the next one expires`);
    t.notOk(uidsOf(changed).includes(second.body.uid), path);
    t.equal((await poll(path)).status, 304);
  }
});

await t.test("the tag of an expiry in a folder that a machine was not granted stays", async (t) => {
  const { folder, as } = await newPlace();
  const other = await newPlace();
  await as("POST", "/secrets", { body: newSecret(folder, { expires_at: later(1) }) });
  const tag = tagOf(await other.as("GET", "/secrets"));
  clock.advance(1_000);
  t.equal((await other.as("GET", "/secrets", held(tag))).status, 304);
});

await t.test("a title belongs to the secret that has not expired", async (t) => {
  const { folder, as } = await newPlace();
  const titled = (more: object) =>
    as("POST", "/secrets", { body: newSecret(folder, { title: "db", fields: { password: sealed() }, ...more }) });
  const notation = () => as("POST", "/notation", { body: { notation: `coffer://${folder}/db/field/password` } });
  await titled({ expires_at: later(3) });
  const { uid } = (await titled({})).body;
  t.equal((await notation()).status, 400, "two of that title");
  clock.advance(3_000);
  t.match(await notation(), { status: 200, body: { uid } });
});

await t.test("people see an expired secret as such, in the list and alone, also with a tag", async (t) => {
  const { folder, as, person } = await newPlace();
  const { uid } = (await as("POST", "/secrets", { body: newSecret(folder, { title: "old", expires_at: later(2) }) }))
    .body;
  const reader = await register(service);
  await join(service, await orgOf(service, owner), reader, "member");
  await share(service, folder, reader, "read");
  for (const { token } of [owner, reader, auditor]) {
    for (const path of ["", `/${uid}`, "?limit=5"]) {
      const read = (options = {}) => person("GET", path, { token, ...options });
      const viewOf = ({ body }: Answer) => (path.startsWith("/") ? body : body.data[0]);
      const before = await read();
      t.match(viewOf(before), { uid, expired: false });
      t.equal((await read(held(tagOf(before)))).status, 304);
      await execute(service, "UPDATE auth_sm.secrets SET expires_at = $2 WHERE uid = $1", [uid, later(0)]);
      const after = await read(held(tagOf(before)));
      t.match(after, { status: 200 }, `${path} with the tag of the time before`);
      t.match(viewOf(after), { uid, expired: true, version: 1 });
      t.equal((await read(held(tagOf(after)))).status, 304);
      await execute(service, "UPDATE auth_sm.secrets SET expires_at = $2 WHERE uid = $1", [uid, later(2)]);
    }
  }
});

await t.test("a person with write permission renews or deletes an expired secret, with any tag", async (t) => {
  const { folder, as, person } = await newPlace();
  const make = async () =>
    (await as("POST", "/secrets", { body: newSecret(folder, { title: "old", expires_at: later(2) }) })).body.uid;
  const [one, two, three] = [await make(), await make(), await make()];
  const before = tagOf(await person("GET", `/${one}`));
  clock.advance(2_000);
  const after = tagOf(await person("GET", `/${one}`));
  t.not(after, before);

  const put = (uid: string, more: object, tag?: string) =>
    person("PUT", `/${uid}`, { body: content(more), ...(tag !== undefined && { headers: { "if-match": tag } }) });
  t.match(await put(one, {}, before), { status: 200, body: { version: 2 } }, "the tag of a read before the moment");
  t.equal((await as("GET", `/secrets/${one}`)).status, 404, "without a new moment it stays expired");
  t.equal((await put(one, {}, after)).status, 412, "a tag of an earlier version");
  const renewed = later(60);
  const tag = tagOf(await person("GET", `/${one}`));
  t.match(await put(one, { expires_at: renewed }, tag), { status: 200, body: { expires_at: renewed } });
  t.match(await as("GET", `/secrets/${one}`), { status: 200, body: { version: 3, expires_at: renewed } });

  t.equal((await put(two, { expires_at: null })).status, 200);
  t.match(await as("GET", `/secrets/${two}`), { status: 200, body: { expires_at: null } });
  t.equal((await person("DELETE", `/${three}`)).status, 204);
  t.strictSame(uidsOf(await person("GET")), [one, two]);
});

await t.test("a rotation needs the expired secrets too, and keeps every moment", async (t) => {
  const { folder, as, person } = await newPlace();
  const [soon, far] = [later(2), later(90)];
  for (const expires_at of [soon, far, null])
    await as("POST", "/secrets", { body: newSecret(folder, { expires_at, fields: { password: sealed() } }) });
  clock.advance(2_000);
  const body = await rotationOf(service, owner, folder);
  t.equal(body.secrets.length, 3);
  t.equal((await rotate(service, owner, folder, { ...body, secrets: body.secrets.slice(1) })).status, 409);
  t.equal((await rotate(service, owner, folder, body)).status, 200);
  const { data } = (await person("GET")).body;
  t.strictSame(
    data.map(({ expires_at, version, key_version }) => ({ expires_at, version, key_version })),
    [soon, far, null].map((expires_at) => ({ expires_at, version: 2, key_version: 2 })),
  );
  t.equal((await as("GET", "/secrets")).body.data.length, 2);
});

await t.test("a folder with nothing but expired secrets is not empty", async (t) => {
  const { folder, as } = await newPlace();
  await as("POST", "/secrets", { body: newSecret(folder, { expires_at: later(1) }) });
  clock.advance(1_000);
  const remove = (query: string) =>
    call(service, "DELETE", `/api/org/folders/${folder}${query}`, { token: owner.token });
  t.equal((await remove("")).status, 409);
  t.equal((await remove("?force=true")).status, 204);
});

await t.test("the audit says to which moment an expiry was set, and when it was removed", async (t) => {
  const { folder, as } = await newPlace();
  const at = later(30);
  const { uid } = (await as("POST", "/secrets", { body: newSecret(folder, { expires_at: at }) })).body;
  await as("PUT", `/secrets/${uid}`, { body: content() });
  await as("PUT", `/secrets/${uid}`, { body: content({ expires_at: later(40) }) });
  await as("PUT", `/secrets/${uid}`, { body: content({ expires_at: null }) });
  const of = ({ target }: AuditDraft) => target.id === uid;
  const last = (each: AuditDraft) => of(each) && each.changes?.["version"] === 4;
  await service.observer.record("the last update", last);
  const changes = service.observer.records.filter(of).map((record) => record.changes);
  t.same(
    changes.sort((a, b) => Number(a?.["version"]) - Number(b?.["version"])),
    [
      { record_type: "login", version: 1, expires_at: at },
      { version: 2 },
      { version: 3, expires_at: later(40) },
      { version: 4, expires_at: null },
    ],
  );
});

await t.test("a long list leaves out expired secrets, in every part of the response", async (t) => {
  const { folder, as, person } = await newPlace();
  const uids = await insertSecrets(service, { owner, folder, count: 2_500 });
  const expired = uids.filter((_, n) => n % 500 === 7);
  await execute(service, "UPDATE auth_sm.secrets SET expires_at = $2 WHERE uid = ANY ($1)", [expired, later(1)]);
  t.strictSame(uidsOf(await as("GET", "/secrets")), uids);
  clock.advance(1_000);
  const left = uids.filter((uid) => !expired.includes(uid));
  t.strictSame(uidsOf(await as("GET", "/secrets")), left);
  t.strictSame(uidsOf(await as("GET", "/secrets/search?title=many")).sort(), left.toSorted());
  const all = (await person("GET")).body.data as unknown as { uid: string; expired: boolean }[];
  t.strictSame(
    all.filter((secret) => secret.expired).map(({ uid }) => uid),
    expired,
  );
  t.equal(all.length, uids.length);
});
