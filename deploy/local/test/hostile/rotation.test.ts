import { readFileSync } from "node:fs";
import t from "tap";
import {
  box,
  contexts,
  decodeBase64,
  decodeText,
  encodeBase64,
  encodeSecret,
  encodeText,
  newKey,
  newSecretUid,
  openSealed,
  signMachineToken,
  unboxBound,
} from "@coffer/crypto";
import type { MachineConfiguration } from "@coffer/sdk";
import { testDirectory } from "@coffer/testkit";
import { bareBox } from "../../../../packages/sdk/test/server/machine.ts";
import { newMachine, newPerson } from "../cli/cli-person.ts";
import { npmStart } from "../npm-start.ts";

// A machine with the right to write stores secrets in shapes that an honest client would not write. None
// may stop a rotation of the folder, and readable values stay readable.

const { url } = await npmStart(t, { directory: testDirectory(t) }).ready;
const alice = await newPerson(t, url, "alice@example.com");
await alice.data(["folder", "create", "production"]);
await alice.data(["app", "create", "api"]);
const honest = "coffer://production/database/field/password";
await alice.data(["set", honest], { input: "s3cret" });
const hostileFile = await newMachine(alice, "api", ["production:write"]);
const readerFile = await newMachine(alice, "api", ["production:read"]);

const configurationOf = (file: string): MachineConfiguration =>
  JSON.parse(readFileSync(file, "utf8")) as MachineConfiguration;
const folderId = configurationOf(hostileFile).folders[0]?.id ?? "";
const folderKey = decodeBase64(configurationOf(hostileFile).folders[0]?.key ?? "");

async function request(file: string, method: string, path: string, body?: object) {
  const { client_id, private_key } = configurationOf(file);
  const machine = { clientId: client_id, privateKey: decodeBase64(private_key), audience: url };
  const { token } = await signMachineToken(machine, new Date());
  const answer = await fetch(`${url}/api/sm/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

interface Shape {
  uid?: string;
  payload?: Uint8Array;
  fields?: (uid: string) => Promise<Record<string, string>>;
  dek?: (uid: string, dek: Uint8Array) => Promise<string>;
  title?: (uid: string) => Promise<string>;
}

/** Stores a secret of this shape, as the machine. */
async function store({ uid = newSecretUid(), payload, fields, dek, title }: Shape): Promise<string> {
  const key = newKey();
  const content = payload ?? encodeSecret({ name: "a", fields: {} });
  const answer = await request(hostileFile, "POST", "/secrets", {
    uid,
    folder_id: folderId,
    record_type: "login",
    encrypted_payload: await bareBox(key, content),
    wrapped_dek: dek === undefined ? await box(folderKey, key, contexts.dek(uid)) : await dek(uid, key),
    ...(title === undefined ? {} : { title: "another", title_encrypted: await title(uid) }),
    ...(fields === undefined ? {} : { fields: await fields(uid) }),
  });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return uid;
}

const fieldOf = (name: string, value: string) => async (uid: string) => ({
  [name]: await box(folderKey, encodeText(value), contexts.field(uid, name)),
});
const noise = encodeBase64(new Uint8Array(64).fill(1));
/** The longest ciphertext that the service takes; the bare layout is a byte shorter than box v1. */
const longest = new Uint8Array(48 * 1024 - 28).fill(97);

const shapes = {
  "a field that the payload has not": { fields: fieldOf("password", "only here") },
  "a field that the payload has otherwise": {
    payload: encodeSecret({ name: "a", fields: { password: "in the payload" } }),
    fields: fieldOf("password", "in the field"),
  },
  "a field that does not open": { fields: () => Promise.resolve({ password: noise }) },
  "a field at its size limit": { fields: async () => ({ password: await bareBox(folderKey, longest) }) },
  "a field larger in the payload than its limit": {
    payload: encodeSecret({ name: "a", fields: { password: "a".repeat(80_000) } }),
    fields: fieldOf("password", "short"),
  },
  "half of a surrogate pair": {
    payload: encodeText('{"name":"a","fields":{"password":"\\ud800"}}'),
    fields: fieldOf("password", "whole"),
  },
  "a payload that is no secret": { payload: encodeText("no JSON"), fields: fieldOf("password", "still there") },
  "a DEK that does not open": { dek: () => Promise.resolve(noise), fields: fieldOf("password", "without a DEK") },
  "a bare DEK": { dek: (_uid, dek) => bareBox(folderKey, dek), fields: fieldOf("password", "bare") },
  "a DEK that is no key": {
    dek: (uid) => box(folderKey, encodeText("short"), contexts.dek(uid)),
    fields: fieldOf("password", "no key"),
  },
  "a uid with bits that no byte uses": { uid: `${newSecretUid().slice(0, -1)}B`, dek: () => Promise.resolve(noise) },
  "a title that does not open": { title: () => Promise.resolve(noise) },
  "a title and a name that differ": { title: (uid) => box(folderKey, encodeText("third"), contexts.title(uid)) },
} satisfies Record<string, Shape>;

const uids = new Map<string, string>();
for (const [name, shape] of Object.entries<Shape>(shapes)) uids.set(name, await store(shape));
const uidOf = (name: keyof typeof shapes): string => uids.get(name) ?? "";

await t.test("no shape stops the rotation, and each that did not open is named", async (t) => {
  const { code, stdout, stderr } = await alice.run(["folder", "rotate", "production", "--json"]);
  t.equal(code, 0, stderr);
  const { unopened } = JSON.parse(stdout) as { unopened: { uid: string; parts: string[] }[] };
  const expected: Partial<Record<keyof typeof shapes, string[]>> = {
    "a field that does not open": ["field password"],
    "a field at its size limit": ["field password"],
    "a DEK that does not open": ["dek", "payload"],
    "a DEK that is no key": ["dek", "payload"],
    "a uid with bits that no byte uses": ["dek", "payload"],
    "a title that does not open": ["title"],
  };
  const found = Object.fromEntries(unopened.map(({ uid, parts }) => [uid, parts]));
  t.strictSame(
    found,
    Object.fromEntries(Object.entries(expected).map(([name, parts]) => [uids.get(name) ?? "", parts])),
  );
  for (const { uid } of unopened) t.match(stderr, uid, "and on the terminal");
});

await t.test("the honest secret reads as before, and each value that opened opens with the new key", async (t) => {
  t.equal(await alice.data(["read", "--config", readerFile, honest]), "s3cret");
  const { body } = await request(readerFile, "GET", "/folders");
  const [folder] = body["data"] as { encrypted_key: string }[];
  const privateKey = decodeBase64(configurationOf(readerFile).private_key);
  const key = await openSealed(privateKey, folder?.encrypted_key ?? "", contexts.sharedFolderKey(folderId));
  const values: Partial<Record<keyof typeof shapes, string>> = {
    "a field that the payload has not": "only here",
    "a field that the payload has otherwise": "in the payload",
    "a field larger in the payload than its limit": "short",
    "half of a surrogate pair": "whole",
    "a payload that is no secret": "still there",
    "a DEK that does not open": "without a DEK",
    "a bare DEK": "bare",
    "a DEK that is no key": "no key",
  };
  for (const [name, value] of Object.entries(values)) {
    const uid = uids.get(name) ?? "";
    const field = await request(readerFile, "GET", `/secrets/${uid}/fields/password`);
    const opened = await unboxBound(key, String(field.body["value_encrypted"]), contexts.field(uid, "password"));
    t.equal(decodeText(opened), value, name);
  }
  const unchanged = await request(readerFile, "GET", `/secrets/${uidOf("a field that does not open")}/fields/password`);
  t.equal(unchanged.body["value_encrypted"], noise, "an unreadable value stays unchanged");
  const bare = await request(readerFile, "GET", `/secrets/${uidOf("a bare DEK")}`);
  const dek = await unboxBound(key, String(bare.body["wrapped_dek"]), contexts.dek(uidOf("a bare DEK")));
  t.equal(dek.length, 32, "a bare DEK is bound to its secret from now on");
  for (const name of ["half of a surrogate pair", "a payload that is no secret"] as const) {
    const { body } = await request(readerFile, "GET", `/secrets/${uidOf(name)}`);
    const own = await unboxBound(key, String(body["wrapped_dek"]), contexts.dek(uidOf(name)));
    const payload = await unboxBound(own, String(body["data_encrypted"]), contexts.data(uidOf(name)));
    t.same(payload, shapes[name].payload, `${name} is sealed again as it is`);
  }
});
