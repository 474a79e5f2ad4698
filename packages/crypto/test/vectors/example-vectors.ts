import { hkdfSync } from "node:crypto";
import {
  ada,
  begin,
  boxed,
  folder,
  grow,
  holder,
  invitation,
  joinPair,
  machine,
  org,
  tokenOf,
  vault,
} from "./history-chain.ts";
import { bytes, uid, uuid, type VectorKeyPair } from "./material.ts";
import { opaqueVectors } from "./opaque-vectors.ts";
import { jwe } from "./sealed-vectors.ts";
import type { ExampleFile, ExampleVector } from "./shapes.ts";

const seed = bytes("seed", 32);
const { token, tag, wrapKey } = tokenOf(seed, "ott");

const keys = {
  // Of the login of opaque.json that has all messages.
  password: Buffer.from(
    opaqueVectors().vectors.find(({ messages }) => messages !== null)?.user_key_seal_key ?? "",
    "hex",
  ),
  recovery: Buffer.from(hkdfSync("sha256", bytes("recovery", 32), "", "coffer/recovery/wrap/v1", 32)),
  user: bytes("user key", 32),
  folder: bytes("folder key", 32),
  vault: bytes("vault key", 32),
  dek: bytes("dek", 32),
  wrap: wrapKey,
};

function box(name: string, key: keyof typeof keys, context: string, plaintext: Buffer | string): ExampleVector {
  const content = Buffer.from(plaintext);
  const sealed = boxed(keys[key], bytes(`example/${name}`, 12), content, context);
  return { name, error: null, sealed, key, context, plaintext: content.toString("hex") };
}

function sealedTo(
  name: string,
  key: "machine" | "person",
  to: VectorKeyPair,
  context: string,
  content: Buffer,
): ExampleVector {
  const sealed = jwe({ header: { ctx: context }, to, content }).join(".");
  return { name, error: null, sealed, key, context, plaintext: content.toString("hex") };
}

/** The material of the examples in the OpenAPI description: a machine and a person of one organization. */
export function exampleVectors(): ExampleFile {
  const [folderId, vaultId] = [folder.slice("folder:".length), vault.slice("vault:".length)];
  const [secret, record] = [uid("secret"), uuid("record")];
  const first = begin(folder, ada);
  const invited = grow(first, folder, ada, { invite: [invitation(first, { tag, wrapKey })] });
  const joined = grow(invited, folder, { by: `invite:${tag}`, pair: joinPair }, { set: [holder(machine, "read")] });
  const members = begin(org, ada);
  const vaults = begin(vault, ada);
  const pins = { [org]: [0, members.state.head.hash], [folder]: [2, joined.state.head.hash] };
  const payload = JSON.stringify({ name: "database", fields: { password: "s3cret" } });
  return {
    about:
      "What the examples of the OpenAPI description are made of: ids, keys, sealed texts with what is in them, histories",
    ids: {
      organization: org.slice("org:".length),
      user: ada.who.slice("user:".length),
      folder: folderId,
      application: uuid("application"),
      client: machine.who.slice("client:".length),
      vault: vaultId,
      record,
      secret,
    },
    keys: {
      ...Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, key.toString("hex")])),
      machine: machine.pair.pkcs8.toString("base64"),
      person: ada.pair.pkcs8.toString("base64"),
    },
    public_keys: { machine: machine.key, person: ada.key },
    access_token: { text: `cft1_${seed.toString("base64url")}`, token, token_hash: tag },
    histories: { [org]: members.entries, [folder]: joined.entries, [vault]: vaults.entries },
    vectors: [
      box("user key", "password", "coffer/v1/user-key", keys.user),
      box("user key for the recovery key", "recovery", "coffer/v1/user-key", keys.user),
      box("private key", "user", "coffer/v1/private-key", ada.pair.pkcs8),
      box(
        "keyring",
        "user",
        `coffer/v1/keyring/${ada.who.slice("user:".length)}/1`,
        JSON.stringify({ pins, accepted: [folder] }),
      ),
      box("folder key for the token", "wrap", `coffer/v1/fk/${folderId}`, keys.folder),
      box("folder key for its creator", "user", `coffer/v1/folder-key/${folderId}`, keys.folder),
      sealedTo("folder key for the machine", "machine", machine.pair, `coffer/v1/fk/${folderId}`, keys.folder),
      sealedTo("folder key for a person", "person", ada.pair, `coffer/v1/fk/${folderId}`, keys.folder),
      box("wrapped_dek", "folder", `coffer/v1/dek/${secret}`, keys.dek),
      box("payload", "dek", `coffer/v1/data/${secret}`, payload),
      box("title", "folder", `coffer/v1/title/${secret}`, "database"),
      box("field", "folder", `coffer/v1/field/${secret}/password`, "s3cret"),
      box("vault key for its creator", "user", `coffer/v1/vault-key/${vaultId}`, keys.vault),
      sealedTo("vault key for a person", "person", ada.pair, `coffer/v1/vault-key/${vaultId}`, keys.vault),
      box(
        "record",
        "vault",
        `coffer/v1/record/${vaultId}/${record}`,
        JSON.stringify({ username: "ada", password: "s3cret" }),
      ),
      box(
        "pin of the vault",
        "user",
        `coffer/v1/vault-pin/${vaultId}/1`,
        JSON.stringify({ pins: { [vault]: [0, vaults.state.head.hash] }, accepted: [vault] }),
      ),
    ],
  };
}
