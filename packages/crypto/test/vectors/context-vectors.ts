import { uid, uuid } from "./material.ts";
import type { ContextVector, VectorFile } from "./shapes.ts";

function made(what: string, context: string, ...args: ContextVector["arguments"]): ContextVector {
  return { name: `${what}: ${context}`, error: null, what, arguments: args, context };
}

function refused(name: string, what: string, ...args: ContextVector["arguments"]): ContextVector {
  return { name, error: "invalid_input", what, arguments: args, context: null };
}

/** Every row of the table, and ids that would give two objects one context. */
export function contextVectors(): VectorFile<ContextVector> {
  const secret = uid("secret");
  const folder = uuid("folder");
  const vault = uuid("vault");
  const record = uuid("record");
  return {
    about: "Contexts: what a ciphertext is, as the text that its authentication covers",
    vectors: [
      made("data", `coffer/v1/data/${secret}`, secret),
      made("dek", `coffer/v1/dek/${secret}`, secret),
      made("title", `coffer/v1/title/${secret}`, secret),
      made("field", `coffer/v1/field/${secret}/password`, secret, "password"),
      made("field", `coffer/v1/field/${secret}/a/b`, secret, "a/b"),
      made("field", `coffer/v1/field/${secret}/Schlüssel 🔑`, secret, "Schlüssel 🔑"),
      made("field", `coffer/v1/field/${secret}/${"n".repeat(128)}`, secret, "n".repeat(128)),
      made("field", `coffer/v1/field/${secret}/${"🔑".repeat(128)}`, secret, "🔑".repeat(128)),
      made("sharedFolderKey", `coffer/v1/fk/${folder}`, folder),
      made("record", `coffer/v1/record/${vault}/${record}`, vault, record),
      made("vaultKey", `coffer/v1/vault-key/${vault}`, vault),
      made("ownVaultKey", `coffer/v1/own-vault-key/${vault}`, vault),
      made("folderKey", `coffer/v1/folder-key/${folder}`, folder),
      made("join", `coffer/v1/join/folder:${folder}/0/null`, `folder:${folder}`, 0, null),
      made("join", `coffer/v1/join/org:${record}/12/${"ab".repeat(32)}`, `org:${record}`, 12, "ab".repeat(32)),
      made("keyring", `coffer/v1/keyring/${record}/1`, record, 1),
      made("vaultPin", `coffer/v1/vault-pin/${vault}/1`, vault, 1),
      made("backupKey", `coffer/v1/backup-key/${record}`, record),
      made("backupPart", `coffer/v1/backup/${record}/0`, record, 0),
      made("privateKey", "coffer/v1/private-key"),
      made("userKey", "coffer/v1/user-key"),
      refused("a uid with a slash", "data", `${secret.slice(0, 10)}/${secret.slice(11)}`),
      refused("a uid that begins with -", "data", `-${secret.slice(1)}`),
      refused("a uid of 21 characters", "dek", secret.slice(1)),
      refused("a uid of 23 characters", "title", `${secret}A`),
      refused("a uid with a line end after it", "data", `${secret}\n`),
      refused("a uid with bits that no byte uses", "data", `${secret.slice(0, -1)}B`),
      refused("an empty uid", "field", "", "password"),
      refused("an empty field name", "field", secret, ""),
      refused("a field name of 129 characters", "field", secret, "n".repeat(129)),
      refused("a field name with a control character", "field", secret, "pass\u0000word"),
      refused("a field name of 129 characters outside the basic plane", "field", secret, "🔑".repeat(129)),
      refused("a field name with a control character of C1", "field", secret, "pass\u0085word"),
      refused("a field name with the last control character of C1", "field", secret, "pass\u009fword"),
      refused("a field name with half of a surrogate pair", "field", secret, "pass\ud800word"),
      refused("a field name with a line end after it", "field", secret, "password\n"),
      refused("a UUID in upper case", "folderKey", folder.toUpperCase()),
      refused("a UUID in braces", "vaultKey", `{${vault}}`),
      refused("a path in place of a UUID", "sharedFolderKey", `../user-key`),
      refused("a record id that is no UUID", "record", vault, "1"),
      refused("a join into what has no history", "join", `secret:${folder}`, 0, null),
      refused("a join after a hash that is none", "join", `folder:${folder}`, 1, "AB".repeat(32)),
      refused("a join in a negative place", "join", `folder:${folder}`, -1, null),
      refused("a keyring's version with a fraction", "keyring", record, 1.5),
      refused("a part of a backup before the first", "backupPart", record, -1),
      refused("a vault id that carries a record id", "record", `${vault}/${record}`, record),
    ],
  };
}
