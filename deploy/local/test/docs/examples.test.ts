import { readFile } from "node:fs/promises";
import {
  type Context,
  contexts,
  decodeBase64,
  decodeRecord,
  decodeSecret,
  decodeText,
  keyCheck,
  openSealed,
  readAccessToken,
  unboxBound,
} from "@coffer/crypto";
import { extendAll, type HistoryState, holderOf, type Resource } from "@coffer/history";
import { loadDescription } from "@coffer/openapi";
import t, { type Test } from "tap";
import type { ExampleFile } from "../../../../packages/crypto/test/vectors/shapes.ts";

// A server that answers with the description's examples serves what a client can open with the
// published vectors' keys.

const file = new URL("../../../../docs/spec/vectors/example.json", import.meta.url);
const { ids, keys, public_keys, access_token, histories, vectors } = JSON.parse(
  await readFile(file, "utf8"),
) as ExampleFile;
const { folder = "", vault = "", secret = "", record = "", client = "", user = "" } = ids;
const key = (name: string): Uint8Array => new Uint8Array(Buffer.from(keys[name] ?? "", "hex"));
const privateKey = (name: string): Uint8Array => decodeBase64(keys[name] ?? "");

type Example = Record<string, unknown>;

/** The first example of an operation's success, or of its body. */
function exampleOf(id: string, of: "answer" | "body" = "answer"): Example {
  const { answers, body } = operation(id);
  const good = answers.get(200) ?? answers.get(201);
  return (of === "body" ? body?.examples[0] : good?.examples[0]) as Example; // the description has one of each
}

function operation(id: string) {
  const found = loadDescription().operations.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no operation is called ${id}`);
  return found;
}

const items = (id: string): Example[] => exampleOf(id)["data"] as Example[];
const state = async (res: string): Promise<HistoryState> =>
  (await extendAll(null, res as Resource, histories[res] ?? [])).state;

/** Opens a sealed key as its `encrypted_key_alg` says. */
function openKey(
  view: Example,
  box: { key: string; context: Context },
  holder: string,
  shared: Context,
): Promise<Uint8Array> {
  const sealed = view["encrypted_key"] as string;
  if (view["encrypted_key_alg"] === "jwe") return openSealed(privateKey(holder), sealed, shared);
  return unboxBound(key(box.key), sealed, box.context);
}

async function checkSecret(t: Test, view: Example, what: string): Promise<void> {
  t.match(view, "uid" in view ? { uid: secret } : {}, what);
  const dek = await unboxBound(key("folder"), view["wrapped_dek"] as string, contexts.dek(secret));
  t.strictSame(dek, key("dek"), `${what}: wrapped_dek`);
  const payload = (view["data_encrypted"] ?? view["encrypted_payload"]) as string | undefined;
  if (payload !== undefined)
    t.match(
      decodeSecret(await unboxBound(dek, payload, contexts.data(secret))),
      { name: "database", fields: { password: "s3cret" } },
      what,
    );
  const title = view["title_encrypted"] as string | undefined;
  if (title !== undefined)
    t.equal(decodeText(await unboxBound(key("folder"), title, contexts.title(secret))), "database", `${what}: title`);
  const fields = (view["fields"] ?? {}) as Record<string, string>;
  for (const [name, sealed] of Object.entries(fields))
    t.equal(
      decodeText(await unboxBound(key("folder"), sealed, contexts.field(secret, name))),
      "s3cret",
      `${what}: ${name}`,
    );
}

await t.test("the sealed texts open with the keys that they name", async (t) => {
  for (const { name, sealed, key: by, context, plaintext } of vectors) {
    const isJwe = sealed.includes(".");
    const opened = isJwe
      ? await openSealed(privateKey(by), sealed, context as Context)
      : await unboxBound(key(by), sealed, context as Context);
    t.equal(Buffer.from(opened).toString("hex"), plaintext, name);
  }
});

await t.test("a bootstrap, its folder and its history", async (t) => {
  const { token, tokenHash, wrapKey } = await readAccessToken(access_token.text);
  t.match(exampleOf("bootstrap", "body"), { token, client_id: client, public_key: public_keys.machine });
  t.equal((exampleOf("issueToken", "body") as { token_hash?: string }).token_hash, tokenHash);
  const sealed = (exampleOf("bootstrap")["encrypted_folder_keys"] as Record<string, string>)[folder] ?? "";
  const folderKey = await unboxBound(wrapKey, sealed, contexts.sharedFolderKey(folder));
  t.strictSame(folderKey, key("folder"));
  // The description's examples have no types; the assertions below check this one.
  const joined = await extendAll(null, `folder:${folder}`, items("readGrantedHistory") as unknown as string[]);
  t.equal(exampleOf("readGrantedHistory")["history_seq"], joined.state.head.seq);
  t.match(holderOf(joined.state, `client:${client}`), { key: public_keys.machine });
  t.equal(await keyCheck(folderKey, `folder:${folder}`, 1), joined.state.check);
  for (const view of items("listGrantedFolders")) {
    const opened = await openKey(
      view,
      { key: "wrap", context: contexts.sharedFolderKey(folder) },
      "machine",
      contexts.sharedFolderKey(folder),
    );
    t.strictSame(opened, key("folder"));
    t.match(view, { id: folder, history_seq: joined.state.head.seq, name: joined.state.name });
  }
});

await t.test("every history is one of the vectors'", (t) => {
  const { organization = "" } = ids;
  const shown = {
    readOrgHistory: `org:${organization}`,
    readInvitedHistory: `org:${organization}`,
    readFolderHistory: `folder:${folder}`,
    readGrantedHistory: `folder:${folder}`,
    readVaultHistory: `vault:${vault}`,
  };
  for (const [id, res] of Object.entries(shown)) t.strictSame(exampleOf(id)["data"], histories[res], id);
  const joins = exampleOf("joinFolderHistory", "body")["entry"];
  t.equal(joins, histories[`folder:${folder}`]?.at(-1), "the join is the machine's");
  t.end();
});

await t.test("secrets, as machines and people read and write them", async (t) => {
  for (const id of ["listSecrets", "searchSecrets", "listFolderSecrets"])
    for (const view of items(id)) await checkSecret(t, view, id);
  for (const id of ["readSecret", "readFolderSecret"]) await checkSecret(t, exampleOf(id), id);
  for (const id of ["createSecret", "createFolderSecret", "updateSecret", "updateFolderSecret"])
    await checkSecret(t, exampleOf(id, "body"), id);
  t.match(exampleOf("createSecret", "body"), { uid: secret }, "the writer binds what it seals to its own uid");
});

await t.test("a field, and a notation", async (t) => {
  for (const id of ["readField", "resolveNotation"]) {
    const view = exampleOf(id);
    await checkSecret(t, view, id);
    const context = contexts.field(secret, view["field"] as string);
    t.equal(decodeText(await unboxBound(key("folder"), view["value_encrypted"] as string, context)), "s3cret", id);
  }
});

await t.test("vaults and records", async (t) => {
  const { check, ver } = await state(`vault:${vault}`);
  t.equal(await keyCheck(key("vault"), `vault:${vault}`, ver ?? 0), check);
  for (const view of [...items("listVaults"), exampleOf("showVault")]) {
    const box = { key: "user", context: contexts.vaultKey(vault) };
    t.strictSame(await openKey(view, box, "person", contexts.vaultKey(vault)), key("vault"));
  }
  for (const view of [...items("listRecords"), exampleOf("readRecord"), exampleOf("createRecord", "body")]) {
    const opened = await unboxBound(key("vault"), view["encrypted_data"] as string, contexts.record(vault, record));
    t.match(decodeRecord(opened), { username: "ada" });
    t.match(view, { id: record });
  }
});

await t.test("a person's folders and keyring", async (t) => {
  for (const view of items("listFolders")) {
    const box = { key: "user", context: contexts.folderKey(folder) };
    t.strictSame(await openKey(view, box, "person", contexts.sharedFolderKey(folder)), key("folder"));
  }
  // As above.
  const { version, sealed } = exampleOf("showKeyring") as unknown as { version: number; sealed: string };
  const keyring = JSON.parse(
    decodeText(await unboxBound(key("user"), sealed, contexts.keyring(user, version))),
  ) as unknown;
  const { head } = await state(`folder:${folder}`);
  t.match(keyring, { pins: { [`folder:${folder}`]: [head.seq, head.hash] }, accepted: [`folder:${folder}`] });
});
