import t from "tap";
import { call } from "../support/call.ts";
import { ask, createFolder, createMachine, createSecret } from "../support/machines.ts";
import { register, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const owner = await register(service, { orgName: "Example" });
const folder = await createFolder(service, owner, "production");
const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

await t.test("one field is answered without the rest", async (t) => {
  const [value, title] = [sealed(), sealed()];
  const fields = { "pass/word": value, other: sealed() };
  const uid = await createSecret(service, machine, folder, { fields, title_encrypted: title });
  const answer = await ask(service, machine, "GET", `/secrets/${uid}/fields/pass%2Fword`);
  t.equal(answer.status, 200);
  const { updated_at, wrapped_dek, ...rest } = answer.body;
  t.match(updated_at, time);
  t.type(wrapped_dek, "string");
  t.strictSame(rest, {
    uid,
    field: "pass/word",
    title_encrypted: title,
    value_encrypted: value,
    folder_id: folder,
    secret_uid: uid,
    key_version: 1,
  });
  const missing = await ask(service, machine, "GET", `/secrets/${uid}/fields/missing`);
  t.equal(missing.status, 404);
  t.match(missing.body, { error: "secret_not_found" });
});

await t.test("a field is found by any valid name, and by no other", async (t) => {
  const longest = "\u{1f511}".repeat(128);
  const uid = await createSecret(service, machine, folder, { fields: { [longest]: sealed() } });
  const read = (field: string) => ask(service, machine, "GET", `/secrets/${uid}/fields/${field}`);
  t.match((await read(encodeURIComponent(longest))).body, { field: longest });
  for (const field of ["%00", "password%00", "%0A", encodeURIComponent(`${longest}a`)]) {
    const answer = await read(field);
    t.equal(answer.status, 404, field.slice(0, 20));
    t.match(answer.body, { error: "secret_not_found" });
  }
});

await t.test("a uid of the wrong form names nothing", async (t) => {
  for (const uid of ["short", "%2e%2e", "a".repeat(200), "%00", "-aaaaaaaaaaaaaaaaaaaaa"]) {
    const answer = await ask(service, machine, "GET", `/secrets/${uid}`);
    t.equal(answer.status, 404, uid);
    t.match(answer.body, { error: "secret_not_found" });
  }
});

await t.test("an unchanged secret is 304 without a body, and without an audit record", async (t) => {
  const uid = await createSecret(service, machine, folder);
  const first = await ask(service, machine, "GET", `/secrets/${uid}`);
  const etag = first.headers.get("etag") ?? "";
  const again = await ask(service, machine, "GET", `/secrets/${uid}`, { headers: { "if-none-match": etag } });
  t.equal(again.status, 304);
  t.equal(again.headers.get("content-type"), null, "no body");
  t.equal(again.headers.get("etag"), etag);
  await ask(service, machine, "PUT", `/secrets/${uid}`, {
    body: { encrypted_payload: sealed(), wrapped_dek: sealed() },
  });
  t.equal((await ask(service, machine, "GET", `/secrets/${uid}`, { headers: { "if-none-match": etag } })).status, 200);
  const reads = () =>
    service.observer.records.filter(({ action, target }) => action === "secret.read" && target.id === uid);
  await service.observer.record("the second read", () => reads().length >= 2);
  t.equal(reads().length, 2);
});

await t.test("a person's token is no machine's", async (t) => {
  const answer = await call(service, "GET", "/api/sm/v1/secrets", { token: owner.token });
  t.equal(answer.status, 401);
  t.match(answer.body, { error: "invalid_token" });
});
