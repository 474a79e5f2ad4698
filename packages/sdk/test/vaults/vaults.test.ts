import { contexts, decodeBase64, encodeText, newId, unboxBound } from "@coffer/crypto";
import t from "tap";
import { personClient } from "../../src/index.ts";
import { startVaultServer } from "../server/vault-server.ts";

const login = { type: "login", fields: { name: "Example", username: "you", password: "s3cret" } };

await t.test("a vault's key and its records are sealed here, bound to ids that are made here", async (t) => {
  const { url, session, received, records, vaults } = await startVaultServer(t);
  const me = personClient(session, url);
  const vault = await me.vaults.create("Private");
  t.match(vault, { name: "Private", type: "personal", permission: "manage", record_count: 0 });
  const made = await me.records.create(vault.id, login);
  t.match(made, { vault_id: vault.id, ...login });
  t.notMatch(JSON.stringify(received), /s3cret|Example/);

  const again = personClient(session, url);
  t.same(await again.records.list(vault.id), [made], "another device has the key from the service");
  t.same(await again.records.get(vault.id, made.id), made);
  t.same(await again.vaults.list(), [{ ...vault, record_count: 1 }]);

  const [stored] = [...records.values()];
  const moved = newId();
  records.set(moved, { ...(stored as typeof stored & object), id: moved });
  await t.rejects(again.records.get(vault.id, moved), { code: "not_decrypted" }, "moved to another id");
  const unreadable: string[] = [];
  const tolerant = personClient(session, url, { onUnreadable: (id) => unreadable.push(id) });
  t.same(await tolerant.records.list(vault.id), [made], "one that cannot be opened does not hide the others");
  t.same(unreadable, [moved]);

  const other = newId();
  vaults.set(other, { ...(vaults.get(vault.id) as NonNullable<ReturnType<typeof vaults.get>>), id: other });
  await t.rejects(personClient(session, url).records.create(other, login), { code: "not_decrypted" });
});

await t.test("a record of a client that binds nothing opens, since the interface alone requires no more", async (t) => {
  const { url, session, put, vaults } = await startVaultServer(t);
  const me = personClient(session, url);
  const { id: vaultId } = await me.vaults.create("Private");
  const key = await vaultKey(session.user_key, vaultId, vaults.get(vaultId)?.encrypted_key ?? "");
  const nonce = crypto.getRandomValues(new Uint8Array(12));
  const raw = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt"]);
  const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv: nonce }, raw, encodeText('{"name":"old"}'));
  const id = newId();
  put({
    id,
    vault_id: vaultId,
    type: "login",
    encrypted_data: Buffer.concat([nonce, Buffer.from(sealed)]).toString("base64"),
  });
  t.same((await me.records.get(vaultId, id)).fields, { name: "old" });
});

await t.test("the last writer wins, unless it requires the version that it read", async (t) => {
  const { url, session, received } = await startVaultServer(t);
  const me = personClient(session, url);
  const { id: vaultId } = await me.vaults.create("Private");
  const made = await me.records.create(vaultId, login);
  const changed = await me.records.update(vaultId, made.id, { fields: { name: "one" } });
  t.equal(changed.type, "login", "the type stays when none is given");
  const late = me.records.update(vaultId, made.id, { fields: { name: "two" } }, { unchangedSince: made.updated_at });
  await t.rejects(late, { code: "precondition_failed" });
  await me.records.update(vaultId, made.id, { fields: { name: "three" } }, { unchangedSince: changed.updated_at });

  let rounds = 0;
  const both = await me.records.change(vaultId, made.id, ({ fields }) => {
    rounds += 1;
    return { fields: { ...fields, round: String(rounds) } };
  });
  t.same(both.fields, { name: "three", round: "1" });
  const before = received.length;
  await me.records.remove(vaultId, made.id);
  t.match(received[before], { method: "DELETE" });
  await t.rejects(me.records.get(vaultId, made.id), { code: "not_found" });
});

await t.test("a change that another's write overtook starts over from what that one wrote", async (t) => {
  const server = await startVaultServer(t);
  const me = personClient(server.session, server.url);
  const { id: vaultId } = await me.vaults.create("Private");
  const made = await me.records.create(vaultId, login);
  let others = 2;
  server.instead.http = ({ method }) => {
    if (method === "PUT" && others > 0) {
      others -= 1;
      server.put(server.records.get(made.id) as NonNullable<ReturnType<typeof server.records.get>>);
    }
    return false;
  };
  const { fields } = await me.records.change(vaultId, made.id, (record) => ({
    fields: { ...record.fields, note: "n" },
  }));
  t.equal(fields["note"], "n");
  t.equal(others, 0);
});

await t.test("a write whose answer was lost is recognised when it is sent again", async (t) => {
  const server = await startVaultServer(t);
  const me = personClient(server.session, server.url);
  /** Lets the next request through and loses its answer. */
  const loseNext = (method: string): void => {
    server.instead.http = (request, response) => {
      if (request.method !== method) return false;
      delete server.instead.http;
      response.write = () => true;
      response.end = () => response.destroy();
      return false;
    };
  };
  loseNext("POST");
  const vault = await me.vaults.create("Private");
  t.equal(server.vaults.size, 1);
  loseNext("POST");
  const made = await me.records.create(vault.id, login);
  t.equal(server.records.size, 1);
  loseNext("PUT");
  const options = { unchangedSince: made.updated_at };
  t.match(await me.records.update(vault.id, made.id, { fields: { name: "n" } }, options), { fields: { name: "n" } });
  loseNext("POST");
  const imported = await me.records.import(vault.id, [login, { ...login, type: "NO" }, login]);
  t.match(imported, { imported: 2, failed: 1, errors: [{ index: 1, issue: "type" }] });
  t.equal(server.records.size, 3);
});

await t.test("another person's id is a conflict, not a success", async (t) => {
  const { url, session } = await startVaultServer(t);
  const me = personClient(session, url);
  const { id: vaultId } = await me.vaults.create("Private");
  const { id } = await me.records.create(vaultId, login);
  await t.rejects(me.records.create(vaultId, { ...login, id }), { code: "conflict" });
});

async function vaultKey(userKey: string, vaultId: string, sealed: string): Promise<Uint8Array<ArrayBuffer>> {
  return unboxBound(decodeBase64(userKey), sealed, contexts.ownVaultKey(vaultId));
}
