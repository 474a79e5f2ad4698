import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { box, contexts, encodeBase64, newId, newKey, newRecoveryKey, readRecoveryKey } from "@coffer/crypto";
import { type BackupItem, sealBackup } from "@coffer/sdk/backup";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { coffer } from "./command.ts";

await t.test("a vault whose name and id imitate another one's does not take the place of its file", async (t) => {
  const home = testDirectory(t);
  const userKey = newKey();
  const recoveryKey = newRecoveryKey();
  const seal = await box((await readRecoveryKey(recoveryKey)).wrapKey, userKey, contexts.userKey());
  const own = newId();
  // A member makes the id of a vault, and shares it.
  const imitated = `${own.slice(0, 8)}${newId().slice(8)}`;
  const at = "2026-11-25T00:00:00Z";
  async function* items(): AsyncGenerator<BackupItem> {
    for (const [id, type] of [
      [own, "personal"],
      [imitated, "shared"],
    ] as const) {
      yield { vault: { id, name: "Private", type, org_id: null } };
      const fields = { name: `of the ${type} vault` };
      yield { record: { id: newId(), vault_id: id, type: "login", fields, created_at: at, updated_at: at } };
    }
    await Promise.resolve();
  }
  const session = {
    user_key: encodeBase64(userKey),
    url: "https://coffer.example.com",
    user: { id: newId(), email: "you@example.com", name: null },
  };
  const lines: string[] = [];
  for await (const line of sealBackup(session, seal, items(), new Date())) lines.push(line);
  const [file, key, target] = [join(home, "you.backup"), join(home, "key"), join(home, "opened")];
  writeFileSync(file, `${lines.join("\n")}\n`);
  writeFileSync(key, recoveryKey);
  t.match(await coffer(home, ["backup", "extract", file, target, "--recovery-key-file", key]), {
    code: 0,
    stderr: /wrote 2 files/,
  });
  const texts = readdirSync(target).map((name) => readFileSync(join(target, name), "utf8"));
  t.equal(texts.length, 2);
  for (const type of ["personal", "shared"])
    t.ok(
      texts.some((text) => text.includes(`of the ${type} vault`)),
      type,
    );
});
