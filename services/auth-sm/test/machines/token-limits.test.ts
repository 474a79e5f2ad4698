import t from "tap";
import { call } from "../support/call.ts";
import { createApplication, createFolder, newKeyPair } from "../support/machines.ts";
import { insertFolders } from "../support/many-folders.ts";
import { logIn, type Person, register, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const { clock } = service;
clock.stop();
const owner = await register(service, { orgName: "Company" });
const application = await createApplication(service, owner);
const folder = await createFolder(service, owner);
const hour = 60 * 60 * 1000;

const path = `/api/org/applications/${application}/tokens`;
const issue = ({ token }: Person, body: object) =>
  call(service, "POST", path, { token, body: { name: "t", folders: [], ...body } });
const list = ({ token }: Person) => call(service, "GET", path, { token });
const bootstrap = (token: string) =>
  call(service, "POST", "/api/sm/v1/bootstrap", { body: { token, public_key: newKeyPair().spki } });
const inTime = (milliseconds: number): string => new Date(clock.now().getTime() + milliseconds).toISOString();

await t.test("missing or malformed fields are 400", async (t) => {
  const one = { folder_id: folder, permission: "read" };
  const wrong = [
    { name: undefined },
    { name: "" },
    { name: "n".repeat(129) },
    { folders: undefined },
    { folders: {} },
    { folders: [one, { ...one, permission: "write" }] },
    { folders: [{ ...one, permission: "manage" }] },
    { folders: [{ ...one, permission: undefined }] },
    { folders: [{ ...one, folder_id: "x" }] },
    { folders: [{ ...one, encrypted_folder_key: "" }] },
    { folders: [{ ...one, encrypted_folder_key: "no base64" }] },
    { token_hash: "" },
    { token_hash: "a".repeat(63) },
    { token_hash: "A".repeat(64) },
    { token_hash: "g".repeat(64) },
    { expires_at: "tomorrow" },
    { expires_at: 1_800_000_000 },
    { expires_at: "2026-11-20" },
    { client_expires_at: "never" },
    { client_expires_at: `9999-12-31T23:59:59.${"9".repeat(7)}Z` },
    { client_expires_at: `2100-01-01T00:00:00.${"0".repeat(300)}Z` },
    { allowed_cidrs: [] },
    { allowed_cidrs: "10.0.0.0/8" },
    { allowed_cidrs: Array(65).fill("10.0.0.0/8") },
  ];
  for (const body of wrong) {
    const answer = await issue(owner, body);
    t.equal(answer.status, 400, JSON.stringify(body).slice(0, 100));
    t.equal(answer.body.error, "invalid_request");
  }
  const sent = { encrypted_folder_key: sealed(3 * 1024) };
  t.equal((await issue(owner, { name: "n".repeat(128), folders: [{ ...one, ...sent }] })).status, 201);
  sent.encrypted_folder_key += "AAAA";
  t.equal((await issue(owner, { folders: [{ ...one, ...sent }] })).status, 413);
});

await t.test("a token lives for 24 hours by default, and for 7 days at most", async (t) => {
  t.equal((await issue(owner, { expires_at: inTime(0) })).status, 400, "now");
  t.equal((await issue(owner, { expires_at: inTime(-1) })).status, 400, "past");
  t.equal((await issue(owner, { expires_at: inTime(7 * 24 * hour + 1) })).status, 400, "too long");
  t.equal((await issue(owner, { expires_at: inTime(7 * 24 * hour) })).status, 201, "the longest");
  t.equal((await issue(owner, { client_expires_at: inTime(0) })).status, 400, "a client that never lived");
  t.equal((await issue(owner, { client_expires_at: inTime(1) })).status, 201);
  const { body } = await issue(owner, {});
  const short = await issue(owner, { expires_at: inTime(1) });
  clock.advance(1);
  t.equal((await bootstrap(short.body.token)).status, 401, "expires at that very moment");
  t.match(
    (await list(owner)).body.data.find(({ id }) => id === short.body.id),
    { status: "expired" },
  );
  clock.advance(24 * hour - 2);
  const later = await logIn(service, owner);
  t.match(
    (await list(later)).body.data.find(({ id }) => id === body.id),
    { status: "unused" },
  );
  t.equal((await bootstrap(body.token)).status, 200, "one millisecond before its end");
  clock.advance(1 - 24 * hour);
});

await t.test("networks are IPv4 or IPv6, by their own address", async (t) => {
  const stored: [string, string][] = [
    ["10.0.0.0/8", "10.0.0.0/8"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["192.0.2.7", "192.0.2.7/32"],
    ["192.0.2.6/31", "192.0.2.6/31"],
    ["2001:db8::/32", "2001:db8::/32"],
    ["2001:DB8:0:0::1", "2001:db8::1/128"],
    ["::/0", "::/0"],
    ["fe80::1.2.3.4/128", "fe80::102:304/128"],
    ["1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8/128"],
  ];
  const { body } = await issue(owner, { allowed_cidrs: stored.map(([sent]) => sent) });
  t.strictSame(
    body.allowed_cidrs,
    stored.map(([, kept]) => kept),
  );
  const wrong = [
    "",
    "x",
    "10.0.0.1/8",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/08",
    "10.0.0.0/-1",
    "10.0.0/8",
    "010.0.0.0/8",
    "10.0.0.0 /8",
    "10.0.0.0/8 ",
    "300.0.0.0/8",
    "2001:db8::1/32",
    "2001:db8::/129",
    "2001:db8:::/32",
    "fe80::1%eth0",
    "fe80::%eth0/64",
    "::ffff:10.0.0.0/104",
    "::ffff:10.0.0.1",
    "10.0.0.0/8,11.0.0.0/8",
  ];
  for (const cidr of wrong) t.equal((await issue(owner, { allowed_cidrs: [cidr] })).status, 400, cidr);
});

await t.test("a token names 500 folders at most, and its records name the first 50 and say how many", async (t) => {
  const large = await register(service, { orgName: "Large" });
  const folders = await insertFolders(service, { owner: large, count: 501 });
  const app = await createApplication(service, large);
  const named = folders.map((folder_id) => ({ folder_id, permission: "read" }));
  const send = (count: number) =>
    call(service, "POST", `/api/org/applications/${app}/tokens`, {
      token: large.token,
      body: { name: "t", folders: named.slice(0, count) },
    });
  t.match(await send(501), {
    status: 400,
    body: { error: "invalid_request", details: [{ field: "folders", issue: "must have at most 500 items" }] },
  });
  const signed = named.slice(0, 101).map((one) => ({ ...one, entry: "a.b.c" }));
  t.match(
    await call(service, "POST", `/api/org/applications/${app}/tokens`, {
      token: large.token,
      body: { name: "t", folders: signed },
    }),
    { status: 400, body: { details: [{ field: "folders", issue: "must have at most 100 items with an entry" }] } },
  );
  const { status, body } = await send(500);
  t.equal(status, 201);
  t.equal(body.folders.length, 500);
  const made = await bootstrap(body.token);
  t.equal(made.body.folders.length, 500);

  const few = await send(50);
  const expected = { folders: folders.slice(0, 50), folder_count: 500 };
  const changes = async (action: "token.issued" | "client.bootstrapped", id: string) =>
    (await service.observer.record(action, ({ target }) => target.id === id)).changes;
  t.match(await changes("token.issued", body.id), expected);
  t.match(await changes("client.bootstrapped", made.body.client_id), expected);
  t.match(await changes("token.issued", few.body.id), { folders: folders.slice(0, 50), folder_count: 50 });
});
