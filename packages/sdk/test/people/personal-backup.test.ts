import { box, contexts, encodeBase64, newKey, newRecoveryKey, readRecoveryKey } from "@coffer/crypto";
import t from "tap";
import { type BackupItem, checkRecoverySeal, openBackup, sealBackup } from "../../src/people/personal-backup.ts";

const userKey = newKey();
const session = {
  user_key: encodeBase64(userKey),
  url: "https://coffer.example.com",
  user: { id: "01900000-0000-7000-8000-000000000000", email: "you@example.com", name: null },
};
const recoveryKey = newRecoveryKey();
const sealOf = async (key: Uint8Array): Promise<string> =>
  box((await readRecoveryKey(recoveryKey)).wrapKey, key, contexts.userKey());
const seal = await sealOf(userKey);

async function* recordsOf(count: number): AsyncGenerator<BackupItem> {
  yield { vault: { id: "v", name: "Vault", type: "personal", org_id: null } };
  for (let n = 0; n < count; n += 1) {
    const times = { created_at: "2026-11-25T00:00:00Z", updated_at: "2026-11-25T00:00:00Z" };
    yield { record: { id: String(n), vault_id: "v", type: "login", fields: { name: "n".repeat(1000) }, ...times } };
    await Promise.resolve();
  }
}

async function fileOf(count: number): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of sealBackup(session, seal, recordsOf(count), new Date())) lines.push(line);
  return lines;
}

await t.test("a seal is right when the recovery key opens it to one's own user key", async (t) => {
  await t.resolves(checkRecoverySeal(session, { seal, recoveryKey }));
  // A service that knows another user key of the person could have sealed this one.
  await t.rejects(checkRecoverySeal(session, { seal: await sealOf(newKey()), recoveryKey }), { code: "bad_answer" });
  await t.rejects(checkRecoverySeal(session, { seal, recoveryKey: newRecoveryKey() }), { code: "not_decrypted" });
});

await t.test("a large backup has several parts, in their order, and none may be missing", async (t) => {
  const lines = await fileOf(1000);
  t.ok(lines.length > 4);
  const { about, items } = await openBackup(lines, `${recoveryKey}\n`);
  t.match(about, { coffer_personal_backup: 1, email: "you@example.com", url: "https://coffer.example.com" });
  t.notOk("key" in about || "recovery" in about);
  t.same(items.length, 1001);
  t.same(
    items.slice(1).map((item) => "record" in item && item.record.id),
    Array.from({ length: 1000 }, (_, index) => String(index)),
  );
  const [header = "", first = "", second = "", ...rest] = lines;
  for (const changed of [
    [header, first, second, ...rest.slice(0, -1)],
    [header, second, first, ...rest],
    [header, first, ...rest],
    [header, first, second, first, ...rest],
  ])
    await t.rejects(openBackup(changed, recoveryKey), { code: "not_decrypted" });
});

await t.test("an empty backup is whole too", async (t) => {
  const { items } = await openBackup(await fileOf(0), recoveryKey);
  t.equal(items.length, 1);
});
