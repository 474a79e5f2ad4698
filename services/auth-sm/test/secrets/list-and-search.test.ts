import t from "tap";
import { call } from "../support/call.ts";
import { ask, createFolder, createMachine, createSecret } from "../support/machines.ts";
import { register, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const owner = await register(service, { orgName: "Example" });
const stranger = await register(service, { orgName: "Elsewhere" });
const [a, b, hidden] = [
  await createFolder(service, owner),
  await createFolder(service, owner),
  await createFolder(service, owner),
];
const foreign = await createFolder(service, stranger);
const machine = await createMachine(service, owner, [
  { folder_id: a, permission: "write" },
  { folder_id: b, permission: "write" },
]);
const reader = await createMachine(service, owner, [{ folder_id: b, permission: "read" }]);
const hider = await createMachine(service, owner, [{ folder_id: hidden, permission: "write" }]);
const outsider = await createMachine(service, stranger, [{ folder_id: foreign, permission: "write" }]);

const titles = ["Database", "database of users", "The database", "100% sure", "1000 sure", "under_score", "underscore"];
const uids: string[] = [];
for (const [n, title] of titles.entries()) {
  uids.push(
    await createSecret(service, machine, n % 2 === 0 ? a : b, { title, record_type: n < 3 ? "database" : "note" }),
  );
}
const untitled = await createSecret(service, machine, a);
await createSecret(service, hider, hidden, { title: "database" });
await createSecret(service, outsider, foreign, { title: "database" });

const all = [...uids, untitled];
const list = (query = "", options = {}) => ask(service, machine, "GET", `/secrets${query}`, options);
const search = (query: string, options = {}) => ask(service, machine, "GET", `/secrets/search${query}`, options);
const uidsOf = (body: { data: { uid: string }[] }): string[] => body.data.map(({ uid }) => uid);
const titlesOf = (body: { data: { title: string }[] }): string[] => body.data.map(({ title }) => title);

await t.test("the list holds what the client may access and nothing else, in order of creation", async (t) => {
  const { status, body } = await list();
  t.equal(status, 200);
  t.strictSame(uidsOf(body), all);
  t.notOk("next_cursor" in body, "without a limit it is whole");
  t.strictSame(Object.keys(body.data[0] ?? {}).sort(), [
    "created_at",
    "data_encrypted",
    "expires_at",
    "field_names",
    "folder_id",
    "history_seq",
    "key_version",
    "record_type",
    "title",
    "title_encrypted",
    "uid",
    "updated_at",
    "version",
    "wrapped_dek",
  ]);
  const seen = await ask(service, reader, "GET", "/secrets");
  t.strictSame(uidsOf(seen.body), [uids[1], uids[3], uids[5]]);
});

await t.test("a list is on record with the number of its secrets", async (t) => {
  await list("", { headers: { "x-request-id": "list-1" } });
  const record = await service.observer.record("the list", ({ request }) => request.id === "list-1");
  t.match(record, { action: "secret.listed", count: all.length, actor: { id: machine.clientId } });
});

await t.test("folder_id, record_type and updated_since narrow the list", async (t) => {
  t.strictSame(uidsOf((await list(`?folder_id=${b}`)).body), [uids[1], uids[3], uids[5]]);
  t.strictSame(uidsOf((await list("?record_type=database")).body), uids.slice(0, 3));
  const { body } = await list();
  const since = body.data[5]?.updated_at ?? "";
  t.strictSame(uidsOf((await list(`?updated_since=${since}`)).body), all.slice(5), "the time itself is in");
});

await t.test("a folder that was not granted is 403, wherever it is", async (t) => {
  for (const folderId of [hidden, foreign]) {
    for (const path of [`/secrets?folder_id=${folderId}`, `/secrets/search?title=a&folder_id=${folderId}`]) {
      const answer = await ask(service, machine, "GET", path);
      t.equal(answer.status, 403);
      t.match(answer.body, { error: "access_denied" });
    }
  }
});

await t.test("pages of a list follow each other and end with null", async (t) => {
  const seen: string[] = [];
  let cursor = "";
  for (let pages = 0; pages < 10; pages += 1) {
    const { body } = await list(`?limit=3${cursor}`);
    seen.push(...uidsOf(body));
    if (body.next_cursor === null) break;
    cursor = `&cursor=${body.next_cursor}`;
  }
  t.strictSame(seen, all);
  t.equal((await list(`?limit=${all.length}`)).body.next_cursor, null, "an exact page is the last");
  t.type((await list(`?limit=${all.length - 1}`)).body.next_cursor, "string");
});

await t.test("limit is 1 to 1000, and malformed parameters are 400", async (t) => {
  for (const query of ["?limit=1", "?limit=1000"]) t.equal((await list(query)).status, 200, query);
  const bad = ["limit=0", "limit=1001", "limit=-1", "limit=1.5", "limit=", "limit=a", "limit=1&limit=2"];
  for (const query of [
    ...bad,
    "cursor=%00",
    "limit=1&cursor=bm9uZQ",
    "record_type=key",
    "updated_since=now",
    "updated_since=0000-01-01T00:00:00Z",
    `updated_since=2026-11-20T10:00:00.${"0".repeat(300)}Z`,
    "folder_id=7",
  ]) {
    for (const path of [`/secrets?${query}`, `/secrets/search?title=a&${query}`]) {
      const answer = await ask(service, machine, "GET", path);
      t.equal(answer.status, 400, path);
      t.match(answer.body, { error: "invalid_request" });
    }
  }
});

await t.test("an unchanged list is 304, until a secret or a grant changes", async (t) => {
  const poller = await createMachine(service, owner, [{ folder_id: b, permission: "write" }]);
  const poll = async (tag: string) => {
    const answer = await ask(service, poller, "GET", "/secrets", { headers: { "if-none-match": tag } });
    return { status: answer.status, tag: answer.headers.get("etag") ?? "" };
  };
  let { tag } = await poll("");
  t.equal((await poll(tag)).status, 304);
  const expectChange = async (what: string) => {
    const changed = await poll(tag);
    t.equal(changed.status, 200, what);
    t.not(changed.tag, tag);
    ({ tag } = changed);
    t.equal((await poll(tag)).status, 304);
  };
  const uid = await createSecret(service, poller, b);
  await expectChange("a creation");
  await ask(service, poller, "PUT", `/secrets/${uid}`, {
    body: { encrypted_payload: sealed(), wrapped_dek: sealed() },
  });
  await expectChange("an update");
  await ask(service, poller, "DELETE", `/secrets/${uid}`);
  await expectChange("a deletion");
  await ask(service, machine, "PUT", `/secrets/${all[0]}`, {
    body: { encrypted_payload: sealed(), wrapped_dek: sealed() },
  });
  t.equal((await poll(tag)).status, 304, "what it cannot see changes nothing for it");
  const base = `/api/org/applications/${poller.applicationId}/clients/${poller.clientId}/folders`;
  const jwe = "eyJh.a.b.c.d";
  const granted = await call(service, "PUT", `${base}/${hidden}`, {
    token: owner.token,
    body: { permission: "read", encrypted_key: jwe },
  });
  t.equal(granted.status, 200);
  await expectChange("a grant");
  t.equal((await call(service, "DELETE", `${base}/${hidden}`, { token: owner.token })).status, 204);
  await expectChange("a grant that was withdrawn");
});

await t.test("a tag does not bypass a refusal, and the refusal is audited", async (t) => {
  const { headers } = await list();
  const tag = headers.get("etag") ?? "";
  t.equal((await list("", { headers: { "if-none-match": tag } })).status, 304, "the tag of an answer to anybody");
  for (const folderId of [hidden, foreign]) {
    const id = `tagged-${folderId}`;
    const answer = await list(`?folder_id=${folderId}`, { headers: { "if-none-match": tag, "x-request-id": id } });
    t.equal(answer.status, 403);
    const record = await service.observer.record("the denial", ({ request }) => request.id === id);
    t.match(record, { action: "secret.listed", outcome: "denied" });
  }
  t.equal((await list(`?folder_id=${a}`, { headers: { "if-none-match": tag } })).status, 304);
  for (const cursor of ["abc", "e30"]) {
    t.equal((await list(`?cursor=${cursor}`, { headers: { "if-none-match": tag } })).status, 400, cursor);
  }
});

await t.test("a page and a search are 304 while they are the same", async (t) => {
  for (const path of ["/secrets?limit=2", "/secrets/search?title=sure"]) {
    const first = await ask(service, machine, "GET", path);
    const tag = first.headers.get("etag") ?? "";
    t.equal((await ask(service, machine, "GET", path, { headers: { "if-none-match": `"x", ${tag}` } })).status, 304);
    t.equal((await ask(service, machine, "GET", path, { headers: { "if-none-match": '"x"' } })).status, 200);
  }
});

await t.test(
  "search finds titles that hold the words without regard to case: exact first, then by beginning",
  async (t) => {
    const { status, body } = await search("?title=DATABASE");
    t.equal(status, 200);
    t.strictSame(titlesOf(body), ["Database", "database of users", "The database"]);
    t.notMatch(JSON.stringify(body), /"rank"|"title_folded"/, "a result is a read representation");
    t.strictSame(titlesOf((await search("?title=atab")).body).length, 3);
    t.strictSame((await search("?title=nothing")).body, { data: [] });
  },
);

await t.test("a percent sign, an underscore and a backslash are literal", async (t) => {
  t.strictSame(titlesOf((await search("?title=100%25")).body), ["100% sure"]);
  t.strictSame(titlesOf((await search("?title=under_")).body), ["under_score"]);
  t.strictSame(titlesOf((await search("?title=%5C")).body), []);
});

await t.test("search has pages, and is narrowed like a list", async (t) => {
  const first = await search("?title=database&limit=2");
  t.strictSame(titlesOf(first.body), ["Database", "database of users"]);
  const second = await search(`?title=database&limit=2&cursor=${first.body.next_cursor}`);
  t.strictSame(titlesOf(second.body), ["The database"]);
  t.equal(second.body.next_cursor, null);
  t.strictSame(titlesOf((await search(`?title=database&folder_id=${b}`)).body), ["database of users"]);
  t.strictSame(titlesOf((await search("?title=sure&record_type=database")).body), []);
});

await t.test("search has pages for all titles, each secret on one of them", async (t) => {
  const folder = await createFolder(service, owner);
  const own = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
  const longest = "\u{20bb7}".repeat(256);
  const alike = [longest, longest, `${"\u{20bb7}".repeat(255)}a`, `${'\\"'.repeat(127)}\u{20bb7}`];
  // Each character of it is eighteen when it is folded.
  const longer = `${"\ufdfa".repeat(255)}\u{20bb7}`;
  const made: string[] = [];
  for (const title of [...alike, longer, "x\u{20bb7}"]) made.push(await createSecret(service, own, folder, { title }));
  const [first = "", ...rest] = made;
  const seen: string[] = [];
  let cursor = "";
  for (let pages = 0; pages < 10; pages += 1) {
    const { status, body } = await ask(service, own, "GET", `/secrets/search?title=%F0%A0%AE%B7&limit=1${cursor}`);
    t.equal(status, 200);
    seen.push(...uidsOf(body));
    if (body.next_cursor === null) break;
    t.ok(body.next_cursor.length <= 512);
    cursor = `&cursor=${body.next_cursor}`;
    // The one that the cursor names is gone before the next page.
    if (pages === 1) await ask(service, own, "DELETE", `/secrets/${seen[1]}`);
  }
  t.strictSame(seen.sort(), [first, ...rest].sort());
});

await t.test("a cursor that no list could have given is 400", async (t) => {
  const [uid = ""] = uids;
  const encode = (position: object) => Buffer.from(JSON.stringify(position)).toString("base64url");
  const created_at = "2026-11-20T10:00:00.000000Z";
  t.equal((await list(`?limit=1&cursor=${encode({ created_at, uid })}`)).status, 200);
  for (const wrong of [
    { uid: "\0".repeat(22) },
    { uid: "" },
    { created_at: "0000-01-01T00:00:00Z" },
    { created_at: "10000-01-01T00:00:00Z" },
    { created_at: "infinity" },
  ]) {
    const answer = await list(`?limit=1&cursor=${encode({ created_at, uid, ...wrong })}`);
    t.equal(answer.status, 400, JSON.stringify(wrong));
  }
  const found = (position: object) =>
    search(`?title=a&limit=1&cursor=${encode({ rank: 2, title: "a", uid, ...position })}`);
  for (const right of [{}, { rank: 0 }, { title: "\u{20bb7}".repeat(64) }]) t.equal((await found(right)).status, 200);
  for (const wrong of [
    { title: "a\0" },
    { title: "" },
    { title: "a".repeat(65) },
    { uid: "\0".repeat(22) },
    { rank: -1 },
    { rank: 3 },
    { rank: 2 ** 53 - 1 },
    { rank: 0.5 },
  ]) {
    const answer = await found(wrong);
    t.equal(answer.status, 400, JSON.stringify(wrong));
    t.match(answer.body, { error: "invalid_request" });
  }
});

await t.test("an empty, missing or overlong title is 400", async (t) => {
  for (const query of ["", "?title=", `?title=${"a".repeat(257)}`]) {
    const answer = await search(query);
    t.equal(answer.status, 400, query.slice(0, 20));
    t.match(answer.body, { error: "invalid_request" });
  }
  t.equal((await search(`?title=${"a".repeat(256)}`)).status, 200);
});

await t.test("a search is on record with the number of its results, and without its words", async (t) => {
  await search("?title=canary-database", { headers: { "x-request-id": "search-1" } });
  const record = await service.observer.record("the search", ({ request }) => request.id === "search-1");
  t.match(record, { action: "secret.searched", count: 0 });
  t.notMatch(JSON.stringify(record), "canary");
});
