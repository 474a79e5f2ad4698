import { contexts, encodeBase64, encodeSecret, encodeText, newKey, newSecretUid, unboxBound } from "@coffer/crypto";
import t from "tap";
import type { SecretView } from "../../src/views.ts";
import { startCompany } from "../server/history-people.ts";
import { bareBox, newSecret } from "../server/machine.ts";

/** A folder with these secrets, and how to rotate it. */
async function filled(test: Parameters<typeof startCompany>[0], secretsOf: Parameters<typeof newSecret>[2][]) {
  const { alice, server } = await startCompany(test);
  const { id } = await alice.client().folders.create("production");
  const { key, key_version: keyVersion, ...folder } = await alice.client().folders.find("production");
  if (key === null) throw new Error("there is no key");
  const before = { ...folder, key, keyVersion };
  const stored = server.folders.get(id)?.secrets ?? [];
  for (const [n, fields] of secretsOf.entries()) stored.push(await newSecret(before, `secret ${n}`, fields));
  server.received.length = 0;
  return { alice, server, id, before, stored };
}

const rotationRequests = (received: { method: string; path: string; body: string }[]) =>
  received
    .filter(({ path }) => path.includes("/rotat"))
    .map(({ method, path, body }) => ({ what: `${method} ${path.split("/")[5] ?? ""}`, body, size: body.length }));

const dekOf = (key: Uint8Array, { uid, wrapped_dek }: SecretView): Promise<Uint8Array> =>
  unboxBound(key, wrapped_dek, contexts.dek(uid));

await t.test("a rotation seals each payload under a new DEK", async (t) => {
  const { alice, server, id, before, stored } = await filled(t, [{ password: "one" }, { password: "two" }]);
  const former = await Promise.all(stored.map((view) => dekOf(before.key, view)));
  t.match(await alice.client().folders.rotate(id), { key_version: 2, unopened: [] });
  const after = await alice.client().folders.find("production");
  for (const [n, view] of stored.entries()) {
    const dek = await dekOf(after.key ?? new Uint8Array(32), view);
    t.notSame(dek, former[n]);
    await t.rejects(unboxBound(former[n] ?? dek, view.data_encrypted, contexts.data(view.uid)));
    await t.resolves(unboxBound(dek, view.data_encrypted, contexts.data(view.uid)));
  }
  t.equal(await alice.client().secrets.read("coffer://production/secret 1/field/password"), "two");
  const requests = rotationRequests(server.received);
  t.same(
    requests.map(({ what }) => what),
    ["PUT rotation", "POST rotate"],
  );
  // A service that does not know payloads in rotations would lose them: it must refuse the request.
  t.notOk("secrets" in (JSON.parse(requests[1]?.body ?? "") as object), "no secrets in the rotation itself");
});

await t.test("the secrets of a large folder are staged in several requests", async (t) => {
  const value = "x".repeat(180_000);
  const { alice, server, id, stored } = await filled(
    t,
    Array.from({ length: 50 }, () => ({ password: value })),
  );
  // Too large for a single field: only in the payload.
  for (const view of stored) view.field_names = [];
  await alice.client().folders.rotate(id);
  const sizes = rotationRequests(server.received).filter(({ what }) => what === "PUT rotation");
  t.ok(sizes.length > 1);
  t.ok(sizes.every(({ size }) => size <= 8 * 1024 * 1024 + 1024));
  t.equal(stored.length, 50);
  t.ok(stored.every(({ key_version }) => key_version === 2));
  t.equal(await alice.client().secrets.read("coffer://production/secret 49/field/password"), value);
});

await t.test("an empty folder stages nothing", async (t) => {
  const { alice, server, id } = await filled(t, []);
  t.match(await alice.client().folders.rotate(id), { key_version: 2 });
  t.same(
    rotationRequests(server.received).map(({ what }) => what),
    ["POST rotate"],
  );
});

await t.test("a payload that does not open is reported, and its DEK stays under the former key", async (t) => {
  const { alice, id, before, stored } = await filled(t, [{}, { password: "two" }]);
  const [hidden, other] = stored;
  if (hidden === undefined || other === undefined) throw new Error("there are no secrets");
  const { wrapped_dek } = hidden;
  hidden.data_encrypted = other.data_encrypted;
  t.match((await alice.client().folders.rotate(id)).unopened, [{ uid: hidden.uid, parts: ["dek", "payload"] }]);
  t.equal(hidden.wrapped_dek, wrapped_dek);
  const after = await alice.client().folders.find("production");
  await t.rejects(dekOf(after.key ?? new Uint8Array(32), hidden));
  await t.resolves(dekOf(before.key, hidden));
});

await t.test("the largest payload of a client that knows the specification alone is sealed again", async (t) => {
  const { alice, id, before, stored } = await filled(t, []);
  const uid = newSecretUid();
  const view = await newSecret(before, "large", {}, uid);
  const empty = encodeSecret({ name: "", fields: { password: "" } }).length;
  // 256 KiB of base64: 28 bytes are the nonce and the tag.
  const value = "x".repeat(192 * 1024 - 28 - empty);
  const dek = await dekOf(before.key, view);
  view.data_encrypted = await bareBox(dek, encodeSecret({ name: "", fields: { password: value } }));
  t.equal(view.data_encrypted.length, 256 * 1024);
  stored.push(view);
  t.same((await alice.client().folders.rotate(id)).unopened, []);
  t.ok(view.data_encrypted.length > 256 * 1024);
  t.equal(await alice.client().secrets.read("coffer://production/large/field/password"), value);
  t.not(
    encodeBase64(await dekOf((await alice.client().folders.find("production")).key ?? dek, view)),
    encodeBase64(dek),
  );
});

await t.test("a bare title or field, whose text the service may know, is no DEK", async (t) => {
  const { alice, id, before, stored } = await filled(t, [{ password: "real" }]);
  const [secret] = stored;
  if (secret === undefined) throw new Error("there is no secret");
  const title = "database of the accounts, Berlin"; // 32 bytes, and the service shows titles
  const forged = encodeSecret({ name: "", fields: { password: "chosen by the service" } });
  const shown = { wrapped_dek: await bareBox(before.key, encodeText(title)) };
  Object.assign(secret, { ...shown, data_encrypted: await bareBox(encodeText(title), forged), field_names: [] });
  t.match((await alice.client().folders.rotate(id)).unopened, [{ uid: secret.uid, parts: ["dek", "payload"] }]);
  t.equal(secret.wrapped_dek, shown.wrapped_dek);

  const dek = newKey();
  const key = (await alice.client().folders.find("production")).key ?? dek;
  const payload = encodeSecret({ name: "", fields: { password: "of another client" } });
  Object.assign(secret, { wrapped_dek: await bareBox(key, dek), data_encrypted: await bareBox(dek, payload) });
  t.same((await alice.client().folders.rotate(id)).unopened, []);
  t.equal((await alice.client().secrets.get(secret.uid)).fields["password"], "of another client");
});
