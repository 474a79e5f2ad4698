import t from "tap";
import {
  box,
  contexts,
  decodeBase64,
  decodeSecret,
  encodeSecret,
  encodeText,
  keyCheck,
  newKey,
  newKeyPair,
  newSecretUid,
  openSealed,
  seal,
  unboxBound,
} from "@coffer/crypto";
import { CofferError } from "@coffer/sdk";
import { testDirectory } from "@coffer/testkit";
import { attack, newScene } from "./attack.ts";
import { claimsOf, forge, forgeAfter, hashOf, mark } from "./attacker.ts";
import { all, eachItem, forgeSecrets, handOut, type Json, rewrite, storedHistory } from "./lies.ts";
import { limits } from "./limits.ts";
import type { Said } from "./oracle.ts";
import type { Stage } from "./stage.ts";
import { createWire, type Lie } from "./wire.ts";
import { npmStart } from "../npm-start.ts";

// Proves that the oracle detects a client that believes the service, for each way of believing it.

const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const wire = createWire(url);
const scene = await newScene(wire);
const { world, oracle } = scene;
const { attacker, people, folders, machines } = world;
const { olivia, bob, mallory, rita } = people;
const honestly: Lie = ({ answer }) => answer;

/** A client that trusts the service in everything. */
function naive({ lie, wire: { network } }: Stage) {
  const request = async (method: string, path: string, body?: object): Promise<Json> => {
    const headers = { authorization: `Bearer ${olivia.session.access_token}`, "content-type": "application/json" };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const answer = await network("olivia", lie)(url + path, init);
    return answer.status === 204 ? {} : ((await answer.json()) as Json);
  };
  const data = async (path: string): Promise<Json[]> => (await request("GET", path))["data"] as Json[];
  const keyOf = async (folder: string): Promise<Uint8Array> => {
    const item = (await data("/api/org/folders")).find(({ id }) => id === folder) ?? {};
    const sealed = String(item["encrypted_key"]);
    return sealed.includes(".")
      ? openSealed(olivia.privateKey, sealed, contexts.sharedFolderKey(folder))
      : unboxBound(decodeBase64(olivia.session.user_key), sealed, contexts.folderKey(folder));
  };
  return { request, data, keyOf };
}

const replaced = all(
  handOut(folders.production, attacker.key, olivia.publicKey),
  forgeSecrets(folders.production, attacker.key, attacker.dek),
);

/** Attacks, and expects a matching problem of the oracle, and none with an honest server. */
async function caught(
  title: string,
  lie: Lie,
  play: (stage: Stage) => Promise<Said[]>,
  problem: RegExp,
): Promise<void> {
  await t.test(title, async (t) => {
    const honest = await attack(scene, { lie: honestly, play });
    t.strictSame(honest.problems, [], "nothing with an honest server");
    const { problems } = await attack(scene, { lie, play });
    t.ok(
      problems.some((one) => problem.test(one)),
      "caught",
      { problems },
    );
  });
}

const reads = async (stage: Stage): Promise<Said[]> => {
  const { data, keyOf } = naive(stage);
  const key = await keyOf(folders.production);
  const said: Said[] = [];
  for (const item of await data(`/api/org/folders/${folders.production}/secrets`)) {
    const uid = String(item["uid"]);
    const dek = await unboxBound(key, String(item["wrapped_dek"]), contexts.dek(uid));
    const { fields } = decodeSecret(await unboxBound(dek, String(item["data_encrypted"]), contexts.data(uid)));
    for (const [field, value] of Object.entries(fields))
      said.push({ kind: "value", folder: folders.production, title: String(item["title"]), field, value });
  }
  return said;
};
const { publicKey: unknown } = await newKeyPair();
await caught("prints a value that the attacker chose", replaced, reads, /it says that .*chosen-by-the-attacker/);

const swappedTitles = eachItem(["GET /api/org/folders/{id}/secrets"], (item) => ({
  ...item,
  title: item["title"] === "api" ? "database" : item["title"] === "database" ? "api" : item["title"],
}));
await caught("prints a value under the title of another secret", swappedTitles, reads, /it says that /);

const writes =
  (more: { dek?: (stage: Stage, uid: string) => Promise<Uint8Array> } = {}) =>
  async (stage: Stage): Promise<Said[]> => {
    const { request, keyOf } = naive(stage);
    const key = await keyOf(folders.production);
    const uid = newSecretUid();
    const dek = (await more.dek?.(stage, uid)) ?? newKey();
    const title = `naive ${stage.run}`;
    const payload = encodeSecret({ name: title, fields: { password: "a new password" } });
    await request("POST", `/api/org/folders/${folders.production}/secrets`, {
      uid,
      title,
      title_encrypted: await box(key, encodeText(title), contexts.title(uid)),
      record_type: "login",
      encrypted_payload: await box(dek, payload, contexts.data(uid)),
      wrapped_dek: await box(key, dek, contexts.dek(uid)),
      fields: { password: await box(key, encodeText("a new password"), contexts.field(uid, "password")) },
    });
    return [];
  };
await caught(
  "encrypts under a key of the attacker",
  replaced,
  writes(),
  /encrypted under a folder key of the attacker/,
);

const oldKey = handOut(folders.production, world.oldKeys.production, olivia.publicKey);
await caught(
  "encrypts under the key that a removed manager has",
  oldKey,
  writes(),
  /encrypted under the old key of production/,
);

// The DEK of the response, under the true key of the folder: its former holders can still read.

const [, leaked] = [...oracle.known].find(([name]) => name.startsWith("an old DEK")) ?? [];
await t.test("encrypts under a DEK that a removed manager has", async (t) => {
  const { problems } = await attack(scene, {
    lie: honestly,
    play: writes({ dek: () => Promise.resolve(leaked ?? newKey()) }),
  });
  t.match(problems, [/encrypted under an old DEK/]);
});

/** Gives each holder of a list the key of the folder. */
const sealsMissing = async (stage: Stage): Promise<Said[]> => {
  const { request, data, keyOf } = naive(stage);
  const key = await keyOf(folders.staging);
  for (const item of await data(`/api/org/folders/${folders.staging}/members`)) {
    if (item["kind"] !== "user" || item["id"] === olivia.session.user.id) continue;
    await request("PUT", `/api/org/folders/${folders.staging}/members/${String(item["id"])}`, {
      permission: item["permission"],
      encrypted_key: await seal(String(item["public_key"]), key, contexts.sharedFolderKey(folders.staging)),
    });
  }
  return [];
};
const holders = (change: (item: Json) => Json): Lie => eachItem(["GET /api/org/folders/{id}/members"], change);
const withHolder = (publicKey: string): Lie =>
  rewrite(["GET /api/org/folders/{id}/members"], (body) => ({
    data: [
      ...(body["data"] as Json[]),
      { kind: "user", id: attacker.id, name: "a", permission: "read", public_key: publicKey, has_key: false },
    ],
  }));
const sealedToAttacker = /the key of folder:.* is sealed to a key of the attacker/;
await caught("seals a key to the attacker", withHolder(attacker.publicKey), sealsMissing, sealedToAttacker);
await caught("seals a key to a removed manager", withHolder(mallory.publicKey), sealsMissing, sealedToAttacker);
await caught("seals a key to a reader of another folder", withHolder(rita.publicKey), sealsMissing, sealedToAttacker);
const { public_key: stolenKey } = machines.stolen.configuration;
await caught("seals a key to a stolen machine", withHolder(stolenKey), sealsMissing, sealedToAttacker);
await caught(
  "seals a key to a key that the attacker substituted",
  holders((item) => ({ ...item, public_key: attacker.publicKey })),
  sealsMissing,
  sealedToAttacker,
);
await caught("seals a key to an unknown key", withHolder(unknown), sealsMissing, /that no honest actor has/);
await caught(
  "seals the attacker's key for others",
  handOut(folders.staging, attacker.key, olivia.publicKey),
  sealsMissing,
  /a folder key of the attacker is sealed for a holder/,
);

/** Signs what the service shows. */
const signs =
  (change: (stage: Stage) => Promise<object>) =>
  async (stage: Stage): Promise<Said[]> => {
    const res = `folder:${folders.staging}`;
    const history = await storedHistory(world, olivia, res);
    const place = {
      res,
      seq: history.length,
      prev: await hashOf(history.at(-1) ?? ""),
      by: `user:${olivia.session.user.id}`,
    };
    const entry = await forge({ ...place, ...(await change(stage)) }, olivia.privateKey);
    // The service must refuse it; the signature is disclosed.
    await naive(stage).request("POST", `/api/org/folders/${folders.staging}/history`, { entry });
    return [];
  };
const namesHolder = signs(async (stage) => {
  const items = await naive(stage).data(`/api/org/folders/${folders.staging}/members`);
  const { id, public_key: key, permission: perm } = items.find((item) => item["id"] === bob.session.user.id) ?? {};
  return { set: [{ who: `user:${String(id)}`, key, perm }] };
});
const substituted = holders((item) => ({ ...item, public_key: attacker.publicKey }));
await caught("signs a key that the attacker substituted", substituted, namesHolder, /with a key that is not theirs/);
const promoted = holders((item) => ({ ...item, permission: "manage" }));
await caught(
  "signs a permission without a grant",
  promoted,
  namesHolder,
  /the permission manage, which no manager gave/,
);
const rotates = signs(async (stage) => {
  const key = await naive(stage).keyOf(folders.staging);
  return { ver: 3, check: await keyCheck(key, `folder:${folders.staging}`, 3) };
});
const handedOut = handOut(folders.staging, attacker.key, olivia.publicKey);
await caught(
  "signs for a key of the attacker",
  handedOut,
  rotates,
  /an entry makes a folder key of the attacker the key/,
);

await t.test("signs after an entry that no honest actor has signed", async (t) => {
  const res = `folder:${folders.staging}`;
  const history = await storedHistory(world, olivia, res);
  const change = { set: [{ who: `user:${attacker.id}`, key: attacker.publicKey, perm: "manage" }] };
  const forged = await forgeAfter(history, res, [
    { by: `user:${attacker.id}`, privateKey: attacker.privateKey, change },
    { by: `user:${olivia.session.user.id}`, privateKey: olivia.privateKey, change: { name: "staging" } },
  ]);
  t.equal(claimsOf(forged.at(-1) ?? "").seq, history.length + 1);
  const play = async (stage: Stage): Promise<Said[]> => {
    await naive(stage).request("POST", `/api/org/folders/${folders.staging}/history`, { entry: forged.at(-1) });
    return [];
  };
  const { problems } = await attack(scene, { lie: honestly, play });
  t.ok(
    problems.some((one) => one.includes("follows one that no honest actor has signed")),
    "caught",
    { problems },
  );
});

await t.test("says a value, a token or a key in the clear", async (t) => {
  for (const text of [olivia.recoveryKey, olivia.session.user_key, "production api password"]) {
    const play = async (stage: Stage): Promise<Said[]> => {
      await naive(stage).request("POST", "/api/org/applications", { name: "a", description: text });
      return [];
    };
    const { problems } = await attack(scene, { lie: honestly, play });
    t.match(problems, [/in the clear/], text.slice(0, 5));
  }
});

await t.test("names, keys, trust and errors", async (t) => {
  const says = (said: Said) => async (): Promise<Said[]> => Promise.resolve([said]);
  const problemsOf = async (play: () => Promise<Said[]>): Promise<string[]> =>
    (await attack(scene, { lie: honestly, play })).problems;
  const res = `folder:${folders.production}`;
  t.match(await problemsOf(says({ kind: "name", res, name: "staging" })), [/it calls folder/]);
  const who = `user:${bob.session.user.id}`;
  t.match(await problemsOf(says({ kind: "key", who, publicKey: attacker.publicKey })), [/another key of user/]);
  t.match(await problemsOf(says({ kind: "text", text: `a ${mark} b` })), [/it says/]);
  t.strictSame(await problemsOf(says({ kind: "name", res, name: "production" })), []);
  t.match(await problemsOf(() => Promise.reject(new TypeError("undefined"))), [/no error of Coffer/]);
  const code = "surprise" as CofferError["code"];
  t.match(await problemsOf(() => Promise.reject(new CofferError(code, "a"))), [/surprise is not documented/]);
  t.strictSame(await problemsOf(() => Promise.reject(new CofferError("key_mismatch", "a"))), []);
  t.match(await oracle.verdict({ hangs: true }), [/does not end/]);
  t.match(await oracle.verdict({ pins: new Map([[res, "ab".repeat(32)]]) }), [/it trusts an entry of folder/]);
});
