import type { Mutant } from "../mutant.ts";

const source = "packages/sdk/src";
const newest = ["packages/sdk/test/newest-key.test.ts"] as const;
const tests = ["packages/sdk/test/vault-histories.test.ts"] as const;

/** A client's checks before it uses a vault's key, and the pins that devices share. */
export const vaultClientMutants: readonly Mutant[] = [
  {
    name: "vault-rotation-of-a-record-without-ciphertext",
    file: "packages/sdk/src/vaults/rotate-vault.ts",
    find: 'typeof data !== "string")',
    replace: 'typeof data === "symbol")',
    tests,
  },
  {
    name: "cached-vault-key-not-looked-at-again",
    file: `${source}/vaults/vault-store.ts`,
    find: "if (held?.isStillTrusted === undefined || (await held.isStillTrusted())) return held;",
    replace:
      "if (held?.isStillTrusted === undefined || (await held.isStillTrusted()) || held.key !== null) return held;",
    tests: newest,
  },
  {
    name: "older-view-brings-a-cached-key-back",
    file: `${source}/vaults/vault-store.ts`,
    find: "const newer = isLate ? await cached(view.id) : undefined;",
    replace: "const newer = isLate ? before : undefined;",
    tests: newest,
  },
  {
    name: "view-from-before-a-rotation-takes-the-key-away",
    file: `${source}/vaults/vault-store.ts`,
    find: "const newer = isLate ? await cached(view.id) : undefined;",
    replace: "const newer = isLate && before === undefined ? await cached(view.id) : undefined;",
    tests: newest,
  },
  {
    name: "personal-vault-opened-with-any-key",
    file: `${source}/vaults/open-vault.ts`,
    find: 'view.encrypted_key ?? "", contexts.ownVaultKey(view.id)',
    replace: 'view.encrypted_key ?? "", contexts.vaultKey(view.id)',
    tests,
  },
  {
    name: "shared-vault-used-without-its-history",
    file: `${source}/histories/trusted-vault.ts`,
    find: 'if (vault.type === "personal") {',
    replace: "if (view.history_seq === null) {",
    tests,
  },
  {
    name: "vault-of-ones-own-trusted-without-its-pin",
    file: `${source}/histories/person-trust.ts`,
    find: 'kindOf(state.res) !== "vault" && made ===',
    replace: 'kindOf(state.res) !== "org" && made ===',
    tests,
  },
  {
    name: "older-pin-of-a-vault-taken",
    file: `${source}/histories/vault-pins.ts`,
    find: "if (versionOf(shown) < known) throw pinRolledBack(view, shown?.version, known);",
    replace: "if (versionOf(shown) < known) return;",
    tests,
  },
  {
    name: "pin-of-a-vault-that-does-not-open-is-none",
    file: `${source}/histories/vault-pins.ts`,
    find: "if (here === undefined) throw pinMissing(view);",
    replace: "if (here === undefined) return;",
    tests,
  },
  {
    name: "pin-of-a-vault-not-shared",
    file: `${source}/histories/vault-pins.ts`,
    find: "if (told === undefined || told.seq < pin.seq || (accepted && !told.accepted)) return true;",
    replace: "if (told === undefined || told.seq < 0) return true;",
    tests,
  },
  {
    name: "vaults-in-the-keyring",
    file: `${source}/histories/keyring.ts`,
    find: '!res.startsWith("vault:")',
    replace: 'res !== "vault:"',
    tests,
  },
  {
    name: "hidden-vault-not-forgotten",
    file: `${source}/histories/vault-pins.ts`,
    find: 'res.startsWith("vault:") && !vaultIds',
    replace: 'res === "vault:" && !vaultIds',
    tests,
  },
  {
    name: "vault-taken-away-without-a-new-key",
    file: `${source}/vaults/share-vault.ts`,
    find: "return open?.accepted === undefined ? null : rotateVault(store, trust, id);",
    replace: "return open?.accepted === undefined || !leaves ? null : rotateVault(store, trust, id);",
    tests,
  },
  {
    name: "record-written-without-its-keys-version",
    file: `${source}/vaults/change-record.ts`,
    find: "encrypted_data: encryptedData, key_version: vault.vault.key_version };",
    replace: "encrypted_data: encryptedData };",
    tests,
  },
  {
    name: "write-under-an-earlier-key-given-up",
    file: `${source}/vaults/change-record.ts`,
    find: "if (vault.vault.key_version === before) throw error;",
    replace: "if (vault.vault.key_version >= before) throw error;",
    tests,
  },
  {
    name: "vault-adopted-whose-history-is-hidden",
    file: `${source}/histories/adopt.ts`,
    find: "if ((await trust.histories.learned(res)) !== undefined)",
    replace: 'if ((await trust.histories.known(res)) !== undefined && res === "org:")',
    tests,
  },
  {
    name: "name-of-a-vault-by-the-services-word",
    file: `${source}/histories/trusted-vault.ts`,
    find: "name: state.name, permission: perm };",
    replace: "name: vault.name, permission: perm };",
    tests,
  },
  {
    name: "removal-not-signed-for-a-vault-that-is-not-seen",
    file: `${source}/histories/organization.ts`,
    find: "if (!isGone) throw error;",
    replace: "throw error;",
    tests,
  },
  {
    name: "sync-store-trusts-vaults-hidden-by-travel-mode",
    file: `${source}/people/person-client.ts`,
    find: "forgetHidden: (ids) => trust.vaultPins.forgetAllBut(ids),",
    replace: "forgetHidden: () => Promise.resolve(),",
    tests: ["packages/cli/test/vault-trust.test.ts"],
  },
  {
    name: "hidden-vault-shown-again-in-an-older-state",
    file: `${source}/histories/vault-pins.ts`,
    find: "kept === undefined ? resources : { [res]: kept, ...resources };",
    replace: "kept === undefined ? resources : { ...resources };",
    tests,
  },
  {
    name: "hidden-pin-that-the-user-key-alone-opens",
    file: "packages/crypto/src/hidden-pin-key.ts",
    find: "`coffer/v1/hidden-pin/${vaultId}`",
    replace: "`coffer/v1/hidden-pin/${vaultId.slice(0, 0)}`",
    tests: ["packages/crypto/test/hidden-pin-key.test.ts"],
  },
];
