import t, { type Test } from "tap";
import { call } from "../support/call.ts";
import { ask, bearer, createFolder, createMachine, secretBody } from "../support/machines.ts";
import { register, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const owner = await register(service, { orgName: "Example" });
const folder = await createFolder(service, owner);
const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
const kibibyte = 1024;
const create = (more: object) => ask(service, machine, "POST", "/secrets", { body: secretBody(folder, more) });
/** Base64 of exactly so many characters, a multiple of four. */
const base64 = (characters: number): string => "A".repeat(characters);
const fields = (count: number, value = "QUJD"): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`field ${n}`, value]));

async function edge(t: Test, what: string, within: object, beyond: object, status: 400 | 413): Promise<void> {
  t.equal((await create(within)).status, 201, `${what}: at the limit`);
  const refused = await create(beyond);
  t.equal(refused.status, status, `${what}: over it`);
  t.equal(refused.body.error, status === 413 ? "payload_too_large" : "invalid_request");
}

await t.test("a payload has at most 256 KiB, everything else that is encrypted 64 KiB: more is 413", async (t) => {
  const payload = 256 * kibibyte;
  await edge(t, "payload", { encrypted_payload: base64(payload) }, { encrypted_payload: base64(payload + 4) }, 413);
  const other = 64 * kibibyte;
  for (const name of ["wrapped_dek", "title_encrypted"]) {
    await edge(t, name, { [name]: base64(other) }, { [name]: base64(other + 4) }, 413);
  }
  await edge(t, "a field", { fields: { a: base64(other) } }, { fields: { a: base64(other + 4) } }, 413);
});

await t.test("names, titles and the number of fields are limited: more is 400", async (t) => {
  await edge(t, "fields", { fields: fields(64) }, { fields: fields(65) }, 400);
  const name = "n".repeat(128);
  await edge(t, "a field's name", { fields: { [name]: "QUJD" } }, { fields: { [`${name}n`]: "QUJD" } }, 400);
  await edge(t, "title", { title: "t".repeat(256) }, { title: "t".repeat(257) }, 400);
  await edge(t, "characters, not bytes", { title: "🗝".repeat(256) }, { title: "🗝".repeat(257) }, 400);
});

await t.test("an invalid field is 400, and details names it", async (t) => {
  const bad: [string, unknown][] = [
    ["encrypted_payload", ""],
    ["encrypted_payload", "no base64"],
    ["encrypted_payload", "QUJ"],
    ["encrypted_payload", "QUI-"],
    ["encrypted_payload", 7],
    ["encrypted_payload", null],
    ["wrapped_dek", ["QUJD"]],
    ["record_type", "unknown"],
    ["folder_id", "production"],
    ["title", ""],
    ["title", "line\nbreak"],
    ["title", 7],
    ["key_version", 0],
    ["key_version", 1.5],
    ["key_version", "1"],
    ["fields", []],
    ["fields", "password"],
    ["fields", { "": "QUJD" }],
    ["fields", { "a\u0000b": "QUJD" }],
    ["fields", { a: "" }],
    ["fields", { a: 7 }],
  ];
  for (const [field, value] of bad) {
    const answer = await create({ [field]: value });
    t.equal(answer.status, 400, `${field}: ${JSON.stringify(value)}`);
    t.equal(answer.body.error, "invalid_request");
    t.ok(answer.body.details[0]?.field.startsWith(field), JSON.stringify(answer.body.details));
  }
});

await t.test("a refused body stores nothing", async (t) => {
  const { body } = await ask(service, machine, "GET", "/secrets");
  const count = body.data.length;
  await create({ encrypted_payload: base64(256 * kibibyte + 4) });
  await create({ fields: fields(65) });
  t.equal((await ask(service, machine, "GET", "/secrets")).body.data.length, count);
});

await t.test("a body has at most 1 MiB, and anything but a JSON object is 400", async (t) => {
  const token = bearer(machine);
  const send = (body: string, headers = {}) => call(service, "POST", "/api/sm/v1/secrets", { token, body, headers });
  const whole = JSON.stringify(secretBody(folder, { ignored: "" }));
  const padded = (bytes: number): string =>
    whole.replace('"ignored":""', `"ignored":"${"x".repeat(bytes - whole.length)}"`);
  t.equal((await send(padded(kibibyte * kibibyte))).status, 201, "unknown fields are ignored, up to the limit");
  t.equal((await send(padded(kibibyte * kibibyte + 1))).status, 413);
  for (const body of ["{", "[]", "null", "7", '"text"', "{}}", '{"a":}', " "])
    t.equal((await send(body)).status, 400, body);
  t.equal((await send(whole, { "content-type": "text/plain" })).status, 400);
  t.equal((await send(whole, { "content-type": "application/x-www-form-urlencoded" })).status, 400);
});

await t.test("a uid that is not text, and a prototype's name as a field, do no harm", async (t) => {
  t.equal((await create({ uid: { $ne: 1 } })).status, 400);
  const token = bearer(machine);
  const text = JSON.stringify(secretBody(folder)).replace("{", '{"fields":{"__proto__":"QUJD"},');
  t.equal((await call(service, "POST", "/api/sm/v1/secrets", { token, body: text })).status, 400);
  const made = await create({ fields: { constructor: sealed() } });
  t.equal((await ask(service, machine, "GET", `/secrets/${made.body.uid}/fields/constructor`)).status, 200);
  t.equal((await ask(service, machine, "GET", `/secrets/${made.body.uid}/fields/toString`)).status, 404);
});
