import type { Mutant } from "../mutant.ts";

const source = "packages/sdk/src";
const tests = "packages/sdk/test";
const asked = [`${tests}/answers-asked-for.test.ts`] as const;
const stored = [`${tests}/sync-storage.test.ts`] as const;
const renewal = [`${tests}/sync-renewal.test.ts`] as const;
const foreign = [`${tests}/foreign-answers.test.ts`] as const;
const keys = [`${tests}/known-vault-keys.test.ts`] as const;

/** What a client does not believe a service, and what it keeps. */
export const sdkMutants: readonly Mutant[] = [
  {
    name: "other-thing-taken-for-the-one-asked-for",
    file: `${source}/asked-for.ts`,
    find: "if (id !== undefined && shown[name] !== canonical(id))",
    replace: "if (id !== undefined && shown[name] === undefined)",
    tests: asked,
  },
  {
    name: "other-vault-taken-for-the-one-asked-for",
    file: `${source}/vaults/vault-store.ts`,
    find: 'seen(askedFor<VaultView>(await send({ method: "GET", path: vaultPath(id) }), { id }));',
    replace: 'seen(askedFor<VaultView>(await send({ method: "GET", path: vaultPath(id) }), {}));',
    tests: asked,
  },
  {
    name: "other-record-taken-for-the-one-asked-for",
    file: `${source}/vaults/change-record.ts`,
    find: "return askedFor<RecordView>(answer, { id, vault_id: vaultId });",
    replace: 'return askedFor<RecordView>(answer, id === "" ? { vault_id: vaultId } : {});',
    tests: asked,
  },
  {
    name: "record-of-another-vault-listed",
    file: `${source}/vaults/records-client.ts`,
    find: "if (views.some((view) => view.vault_id !== vault.vault.id))",
    replace: 'if (views.some((view) => view.vault_id === ""))',
    tests: asked,
  },
  {
    name: "vault-made-under-another-key-than-its-makers",
    file: `${source}/vaults/vaults-client.ts`,
    find: "askedFor<VaultView>(answer, { id, encrypted_key: encryptedKey })",
    replace: "askedFor<VaultView>(answer, { id })",
    tests: asked,
  },
  {
    name: "vault-changed-taken-from-the-answer",
    file: `${source}/vaults/vaults-client.ts`,
    find: "(await store.seen(askedFor<VaultView>(answer, { id }))).vault",
    replace: "(await store.seen(askedFor<VaultView>(answer, {}))).vault",
    tests: asked,
  },
  {
    name: "grant-of-somebody-else-believed",
    file: `${source}/vaults/vaults-client.ts`,
    find: "{ user_id: userId });",
    replace: "{});",
    tests: asked,
  },
  {
    name: "persons-secret-of-another-uid-taken",
    file: `${source}/person-store.ts`,
    find: "{ uid, folder_id: id });",
    replace: "{ folder_id: id });",
    tests: asked,
  },
  {
    name: "persons-secret-of-another-folder-taken",
    file: `${source}/person-store.ts`,
    find: "{ uid, folder_id: id });",
    replace: "{ uid });",
    tests: asked,
  },
  {
    name: "machines-secret-of-another-uid-taken",
    file: `${source}/machine-store.ts`,
    find: 'askedFor<SecretView>(await send({ method: "GET", path }), { uid })',
    replace: 'askedFor<SecretView>(await send({ method: "GET", path }), {})',
    tests: asked,
  },
  {
    name: "folder-chosen-by-a-name-that-is-an-id",
    file: `${source}/find-secret.ts`,
    find: "if (isUuid(name)) return folders.find(({ id }) => id === name);",
    replace: "if (isUuid(name) && folders.some(({ id }) => id === name)) return folders.find(({ id }) => id === name);",
    tests: asked,
  },
  {
    name: "vault-key-that-changed-used",
    file: `${source}/vaults/known-vault-keys.ts`,
    find: "if (before !== undefined && before !== mark) return false;",
    replace: 'if (before !== undefined && mark === "") return false;',
    tests: keys,
  },
  {
    name: "vault-key-used-of-which-no-mark-could-be-kept",
    file: `${source}/vaults/known-vault-keys.ts`,
    find: "        await keep(kept);",
    replace: "        void keep(kept).catch(() => undefined);",
    tests: keys,
  },
  {
    name: "vault-key-that-another-program-did-not-keep-used",
    file: `${source}/vaults/known-vault-keys.ts`,
    find: "if ((held.get(name) ?? mark) !== mark) return false;",
    replace: 'if ((held.get(name) ?? mark) === "") return false;',
    tests: keys,
  },
  {
    name: "mark-that-cannot-be-kept-fails-a-list-of-vaults",
    file: `${source}/vaults/vault-store.ts`,
    find: 'keyError = new CofferError("configuration", what, { cause });',
    replace: 'throw new CofferError("configuration", what, { cause });',
    tests: keys,
  },
  {
    name: "kept-vault-keys-that-cannot-be-read-are-none",
    file: `${source}/vaults/known-vault-keys.ts`,
    find: "      loading = undefined;\n      throw error;",
    replace: "      loading = undefined;\n      if (error === undefined) throw error;",
    tests: keys,
  },
  {
    name: "store-that-is-no-box-overwritten",
    file: `${source}/stored-box.ts`,
    find: 'if (!isBox(text)) throw refusedStorage(storage, "holds something that Coffer did not write");',
    replace: "if (!isBox(text)) return undefined;",
    tests: stored,
  },
  {
    name: "store-that-cannot-be-read-overwritten",
    file: `${source}/stored-box.ts`,
    find: '    throw refusedStorage(storage, `cannot be read: ${cause instanceof Error ? cause.message : "failed"}`, cause);',
    replace: "    return undefined;",
    tests: stored,
  },
  {
    name: "short-token-renewed-at-once",
    file: `${source}/person-session.ts`,
    find: "Math.min(longestMarginSeconds, life / 3)",
    replace: "Math.min(longestMarginSeconds, life)",
    tests: renewal,
  },
  {
    name: "machines-cache-forgotten-by-a-proxys-word",
    file: `${source}/offline-transport.ts`,
    find: "if (!error.foreign && (error.code",
    replace: "if ((error.code",
    tests: [`${tests}/offline.test.ts`],
  },
  {
    name: "import-waits-an-hour",
    file: `${source}/vaults/import-records.ts`,
    find: "|| delay > store.maxWaitSeconds * 1000) throw error;",
    replace: "|| delay > 1e9 * store.maxWaitSeconds) throw error;",
    tests: [`${tests}/import.test.ts`],
  },
  {
    name: "machines-new-key-discarded-by-a-proxys-word",
    file: `${source}/bootstrap.ts`,
    find: 'return error.foreign || error.code === "network"',
    replace: 'return error.code === "network"',
    tests: foreign,
  },
  {
    name: "machine-that-a-proxy-does-not-know-is-unknown",
    file: `${source}/bootstrap.ts`,
    find: 'error.code === "invalid_token" && !error.foreign) return undefined;',
    replace: 'error.code === "invalid_token") return undefined;',
    tests: foreign,
  },
  {
    name: "secret-said-removed-by-a-proxy",
    file: `${source}/change-secret.ts`,
    find: "error.status !== 404 || error.foreign) throw error;",
    replace: "error.status !== 404) throw error;",
    tests: foreign,
  },
];
