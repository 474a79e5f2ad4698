import { box, contexts, encodeBase64, newId, newKey, newKeyPair, seal } from "@coffer/crypto";
import t from "tap";
import { openFolderKey, personUnsealing } from "../../src/folders/folder-key.ts";
import type { PersonSession } from "../../src/index.ts";
import type { FolderView } from "../../src/views.ts";

const userKey = newKey();
const { publicKey, privateKey } = await newKeyPair();
const unsealing = personUnsealing({
  user_key: encodeBase64(userKey),
  encrypted_private_key: await box(userKey, privateKey, contexts.privateKey()),
} as PersonSession); // the rest of a session opens nothing

const view = (id: string, sealed: string | null, alg: string | null): FolderView => ({
  id,
  name: "production",
  permission: "read",
  key_version: 1,
  encrypted_key: sealed,
  encrypted_key_alg: alg,
});

await t.test("a person opens a folder key under the user key, and one sealed to the public key", async (t) => {
  const [id, key] = [newId(), newKey()];
  const own = view(id, await box(userKey, key, contexts.folderKey(id)), "box-user");
  t.same(await openFolderKey(own, unsealing), key);
  t.same(
    await openFolderKey(view(id, await seal(publicKey, key, contexts.sharedFolderKey(id)), "jwe"), unsealing),
    key,
  );
});

await t.test("a folder whose key was not sealed, or in a way that is not known, has none", async (t) => {
  for (const [sealed, alg] of [
    [null, null],
    ["AAAA", "box-token"],
    ["AAAA", "something new"],
  ] as const)
    t.equal(await openFolderKey(view(newId(), sealed, alg), unsealing), null, alg ?? "none");
});

await t.test("a key that was sealed for another folder or altered does not open", async (t) => {
  const [id, other] = [newId(), newId()];
  for (const [sealed, alg] of [
    [await box(userKey, newKey(), contexts.folderKey(other)), "box-user"],
    [await seal(publicKey, newKey(), contexts.sharedFolderKey(other)), "jwe"],
    ["not base64!", "box-user"],
  ] as const)
    await t.rejects(openFolderKey(view(id, sealed, alg), unsealing), { code: "not_decrypted" }, alg);
});
