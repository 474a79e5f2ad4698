import { createHash } from "node:crypto";
import t from "tap";
import { contexts, keyCheck, newId } from "@coffer/crypto";
import { memoryTrust } from "@coffer/sdk";
import { testDirectory } from "@coffer/testkit";
import { expectAttack, newScene } from "./hostile/attack.ts";
import { claimsOf, forge, forgeAfter, hashOf, malleated, mark, sealedKey } from "./hostile/attacker.ts";
import { saidOf } from "./hostile/journey.ts";
import {
  all,
  eachItem,
  folderLists,
  forgeSecrets,
  handOut,
  type Json,
  refuse,
  replay,
  rewrite,
  secretLists,
  showHistory,
  storedHistory,
} from "./hostile/lies.ts";
import type { Said } from "./hostile/oracle.ts";
import type { Stage } from "./hostile/stage.ts";
import { createWire, kindOf, type Lie } from "./hostile/wire.ts";
import { bootstrapped, emailOf, newPerson, type Person } from "./hostile/world.ts";
import { npmStart } from "./npm-start.ts";
import { limits } from "./hostile/limits.ts";

// Attacks on people by a server that works with a removed manager (Mallory), a present reader (Rita) and a stolen machine.
// Each names the allowed errors of the client; the oracle decides whether anything was printed, encrypted
// or sealed wrongly.

const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const wire = createWire(url);
const scene = await newScene(wire);
const { world } = scene;
const { attacker, people, folders, oldKeys } = world;
const { olivia, anna, bob, rita, mallory } = people;
const idOf = ({ session }: Person): string => session.user.id;
const by = (person: Person): string => `user:${idOf(person)}`;
const production = `folder:${folders.production}`;
const org = `org:${world.org}`;
const password = "coffer://production/database/field/password";

/** The actions of a reader and writer of production. */
const reads =
  (who: Person) =>
  async (stage: Stage): Promise<Said[]> => {
    const value = await stage.person(who).secrets.read(password);
    return [{ kind: "value", folder: folders.production, title: "database", field: "password", value }];
  };
const lists =
  (who: Person) =>
  async (stage: Stage): Promise<Said[]> =>
    saidOf(await stage.person(who).secrets.list("production"));
const writes =
  (who: Person) =>
  async (stage: Stage): Promise<Said[]> => {
    world.truth.value(folders.production, "database", "password", `written in run ${stage.run}`);
    await stage.person(who).secrets.set(password, `written in run ${stage.run}`);
    return [];
  };
const rotates =
  (who: Person) =>
  async (stage: Stage): Promise<Said[]> => {
    await stage.person(who).folders.rotate(folders.production);
    return [];
  };
const shares =
  (holder: () => string) =>
  async (stage: Stage): Promise<Said[]> => {
    await stage.person(olivia).folders.share(folders.staging, { userId: holder(), permission: "read" });
    return [];
  };
/** On a device with this trust. */
const onDevice = (trust: Person["trust"], person: Person): Person => ({ ...person, trust });
const before = (person: Person): Person => {
  const record = world.before.get(person.name);
  if (record === undefined) throw new Error(`nothing is known of ${person.name}'s device`);
  return onDevice(memoryTrust(record), person);
};

const history = await storedHistory(world, olivia, production);
const orgHistory = await storedHistory(world, olivia, org);
const newest = history.length - 1;

/** The number of entries before the rotation that ends this version of the key. */
function endOfVersion(version: number): number {
  return history.findIndex((entry) => claimsOf(entry).ver === version + 1);
}

/** The claims of a rotation to a key of the attacker. */
const rotation = async (res: string, ver: number): Promise<object> => ({
  ver,
  check: await keyCheck(attacker.key, res, ver),
});
const version = 3;

/** The attacker's key for production, and every value of the folder sealed under it. */
const replaced = (who: Person, more: Json = {}): Lie =>
  all(
    handOut(folders.production, attacker.key, who.publicKey, more),
    forgeSecrets(folders.production, attacker.key, attacker.dek, more),
  );

await t.test("a replaced folder key", async (t) => {
  for (const who of [olivia, anna, bob]) {
    await expectAttack(t, scene, `${who.name} reads`, { lie: replaced(who), play: reads(who) }, ["key_mismatch"]);
    await expectAttack(t, scene, `${who.name} lists`, { lie: replaced(who), play: lists(who) }, ["key_mismatch"]);
  }
  await expectAttack(t, scene, "olivia writes", { lie: replaced(olivia), play: writes(olivia) }, ["key_mismatch"]);
  await expectAttack(t, scene, "olivia rotates", { lie: replaced(olivia), play: rotates(olivia) }, ["key_mismatch"]);
  const later = replaced(olivia, { key_version: version });
  await expectAttack(t, scene, "as a later version", { lie: later, play: reads(olivia) }, [
    "key_mismatch",
    "key_rolled_back",
  ]);
  const bare = all(replaced(olivia), showHistory(production, []));
  await expectAttack(t, scene, "and no history", { lie: bare, play: writes(olivia) }, ["history_rolled_back"]);
  await expectAttack(t, scene, "and no history, at a new device", { lie: bare, play: newDeviceReads(olivia) }, [
    "history_rolled_back",
  ]);
});

/** A device without pins, with the person's keyring. */
function newDeviceReads(who: Person) {
  return async (stage: Stage): Promise<Said[]> => saidOf(await stage.newDevice(who).secrets.list("production"));
}

await t.test("the key from before the rotation, which the removed manager has", async (t) => {
  const kinds = [...folderLists, ...secretLists];
  // The history ends where it ended then.
  const shown = showHistory(production, history.slice(0, endOfVersion(1)));
  const oldState = all(replay(world, kinds), shown);
  const oldKey = replay(world, folderLists);
  const codes = ["history_rolled_back", "key_rolled_back", "key_mismatch"];
  for (const who of [olivia, bob]) {
    await expectAttack(t, scene, `${who.name} reads the old state`, { lie: oldState, play: reads(who) }, codes);
    await expectAttack(t, scene, `${who.name} reads with the old key`, { lie: oldKey, play: reads(who) }, codes);
  }
  await expectAttack(t, scene, "olivia writes", { lie: oldKey, play: writes(olivia) }, codes);
  await expectAttack(t, scene, "olivia writes to the old state", { lie: oldState, play: writes(olivia) }, codes);
  await expectAttack(t, scene, "at a new device", { lie: oldState, play: newDeviceReads(bob) }, codes);
  const mine = all(
    handOut(folders.production, oldKeys.production, olivia.publicKey),
    forgeSecrets(folders.production, oldKeys.production, attacker.dek),
  );
  await expectAttack(t, scene, "sealed again to olivia", { lie: mine, play: reads(olivia) }, ["key_mismatch"]);
});

await t.test("another public key for the person who rotates", async (t) => {
  const lie = all(
    eachItem(["GET /api/org/folders/{id}/members"], (item) =>
      item["id"] === idOf(olivia) ? { ...item, public_key: attacker.publicKey } : item,
    ),
    rewrite(["GET /api/users/{id}/public_key"], () => ({
      public_key: attacker.publicKey,
      fingerprint: "00".repeat(32),
    })),
    rewrite(["GET /api/account"], (body) => ({ ...body, public_key: attacker.publicKey })),
  );
  await expectAttack(t, scene, "rotates", { lie, play: rotates(olivia) }, ["as honest"]);
  await expectAttack(
    t,
    scene,
    "another public key for all members",
    {
      lie: eachItem(["GET /api/org/folders/{id}/members"], (item) => ({ ...item, public_key: attacker.publicKey })),
      play: rotates(olivia),
    },
    ["as honest"],
  );
});

await t.test("one's own fingerprint comes from one's own private key", async (t) => {
  const lie: Lie = rewrite(["GET /api/users/{id}/public_key"], () => ({
    public_key: attacker.publicKey,
    fingerprint: "00".repeat(32),
  }));
  const play = async (stage: Stage): Promise<Said[]> => {
    const shown = await stage.person(olivia).fingerprint();
    const confirmed = await stage.compare({
      kind: "user",
      id: idOf(olivia),
      name: "olivia",
      public_key: "",
      fingerprint: shown,
    });
    return confirmed ? [] : [{ kind: "text", text: mark }];
  };
  await expectAttack(t, scene, "shows it", { lie, play }, ["as honest"]);
});

await t.test("entries by those who may not sign", async (t) => {
  const codes = ["history_invalid"];
  const after = async (title: string, changes: Parameters<typeof forgeAfter>[2], who: Person = bob): Promise<void> => {
    const entries = await forgeAfter(history, production, changes);
    const lie = all(
      showHistory(production, entries),
      replaced(who, { key_version: version, history_seq: entries.length - 1 }),
    );
    await expectAttack(t, scene, `${title}: read`, { lie, play: reads(who) }, codes);
    await expectAttack(t, scene, `${title}: written`, { lie, play: writes(olivia) }, codes);
  };
  const change = await rotation(production, version);
  await after("a reader signs a version", [{ by: by(rita), privateKey: rita.privateKey, change }]);
  await after("a removed manager signs on", [{ by: by(mallory), privateKey: mallory.privateKey, change }]);
  await after("the attacker signs as the owner", [{ by: by(olivia), privateKey: attacker.privateKey, change }]);
  const promotion = { set: [{ who: by(rita), key: rita.publicKey, perm: "manage" }] };
  await after("a reader makes herself a manager", [
    { by: by(rita), privateKey: rita.privateKey, change: promotion },
    { by: by(rita), privateKey: rita.privateKey, change },
  ]);
  const accomplice = { set: [{ who: `user:${attacker.id}`, key: attacker.publicKey, perm: "manage" }] };
  await after("a broken chain of managers", [
    { by: by(rita), privateKey: rita.privateKey, change: accomplice },
    { by: `user:${attacker.id}`, privateKey: attacker.privateKey, change },
  ]);
  await after("a chain from a removed manager", [
    { by: by(mallory), privateKey: mallory.privateKey, change: accomplice },
    { by: `user:${attacker.id}`, privateKey: attacker.privateKey, change },
  ]);
  await after("an invitation without an entry", [
    { by: `invite:${"ab".repeat(32)}`, privateKey: attacker.privateKey, change: accomplice },
  ]);
});

await t.test("a fork by a manager who was removed", async (t) => {
  // Where Mallory still managed production: the entries before the one that rotated.
  const early = history.slice(0, endOfVersion(1));
  const change = await rotation(production, 2);
  const signed = { by: by(mallory), privateKey: mallory.privateKey };
  // Longer than the genuine one, so that clients read on.
  const more = Array.from({ length: history.length }, () => ({ ...signed, change: { name: "production" } }));
  const entries = await forgeAfter(early, production, [{ ...signed, change }, ...more]);
  const forked = (who: Person): Lie =>
    all(showHistory(production, entries), replaced(who, { key_version: 2, history_seq: entries.length - 1 }));
  for (const who of [olivia, anna, bob])
    await expectAttack(t, scene, `${who.name} has seen the rotation`, { lie: forked(who), play: reads(who) }, [
      "history_forked",
      "history_invalid",
    ]);
  for (const who of [anna, bob])
    await expectAttack(t, scene, `${who.name} has not seen it`, { lie: forked(who), play: reads(before(who)) }, [
      "signer_removed",
      "history_forked",
      "history_rolled_back",
    ]);
  await expectAttack(t, scene, "at a new device", { lie: forked(bob), play: newDeviceReads(bob) }, [
    "signer_removed",
    "history_forked",
    "history_rolled_back",
  ]);
  // Without the keyring, the organization's history alone says who signs.
  const alone = all(forked(anna), refuse(["GET /api/account/keyring"], 404, "not_found"));
  await expectAttack(t, scene, "and the keyring is withheld", { lie: alone, play: reads(before(anna)) }, [
    "signer_removed",
    "keyring_missing",
    "keyring_rolled_back",
    "history_forked",
    "history_rolled_back",
  ]);
});

await t.test("a removal that is withheld", async (t) => {
  const cut = orgHistory.findIndex((entry) => claimsOf(entry).drop?.includes(by(mallory)) === true);
  t.not(cut, -1, "the organization's history has the removal");
  const lie = all(
    showHistory(org, orgHistory.slice(0, cut)),
    eachItem(["GET /api/org/members"], (item) => item),
  );
  for (const who of [olivia, anna, bob]) {
    await expectAttack(
      t,
      scene,
      `${who.name} rotates or requests`,
      {
        lie,
        play: async (stage) => {
          await stage.person(who).members.confirmed();
          return [];
        },
      },
      ["history_rolled_back"],
    );
  }
  const shared = all(
    lie,
    eachItem(["GET /api/org/folders/{id}/members"], (item) => item),
  );
  await expectAttack(t, scene, "a folder for the removed member", { lie: shared, play: shares(() => idOf(mallory)) }, [
    "history_rolled_back",
  ]);
  const listed = (item: Json): Json => ({ ...item });
  const member: Lie = rewrite(["GET /api/org/members"], (body) => ({
    data: [
      ...(body["data"] as Json[]),
      {
        user_id: idOf(mallory),
        name: "mallory",
        email: mallory.email,
        role: "admin",
        status: "active",
        joined_at: new Date().toISOString(),
      },
    ].map(listed),
  }));
  await expectAttack(t, scene, "listed as a member again", { lie: member, play: shares(() => idOf(mallory)) }, [
    "holder_unconfirmed",
  ]);
});

await t.test("holders that the service invents", async (t) => {
  const added = (item: Json): Lie =>
    rewrite(["GET /api/org/folders/{id}/members"], (body) => ({ data: [...(body["data"] as Json[]), item] }));
  const machine = {
    kind: "client",
    id: attacker.id,
    name: "api",
    permission: "read",
    public_key: attacker.publicKey,
    has_key: false,
  };
  const person = { ...machine, kind: "user", name: "anna" };
  const removed = { ...person, id: idOf(mallory), name: "mallory", public_key: mallory.publicKey };
  const stolen = {
    ...machine,
    id: world.machines.stolen.configuration.client_id,
    public_key: world.machines.stolen.configuration.public_key,
  };
  for (const [title, holder] of Object.entries({
    "a forged machine": machine,
    "a forged person": person,
    "the removed manager": removed,
    "the stolen machine": stolen,
  })) {
    await expectAttack(t, scene, `${title} at a rotation`, { lie: added(holder), play: rotates(olivia) }, [
      "as honest",
      "conflict",
      "invalid_request",
    ]);
    await expectAttack(t, scene, `${title} waits for a key`, { lie: added(holder), play: reads(olivia) }, [
      "as honest",
    ]);
    await expectAttack(
      t,
      scene,
      `${title} waits for a key, and olivia writes`,
      { lie: added(holder), play: writes(olivia) },
      ["as honest"],
    );
  }
  const waiting: Lie = eachItem(["GET /api/org/folders/{id}/members"], (item) => ({
    ...item,
    public_key: attacker.publicKey,
    has_key: false,
  }));
  await expectAttack(t, scene, "all wait for a key, under other keys", { lie: waiting, play: reads(olivia) }, [
    "as honest",
  ]);
  const forged: Lie = rewrite(["GET /api/org/applications/{id}/clients"], (body) => ({
    data: [
      ...(body["data"] as Json[]),
      { ...(body["data"] as Json[])[0], client_id: attacker.id, public_key: attacker.publicKey },
    ],
  }));
  const give = async (stage: Stage): Promise<Said[]> => {
    await stage
      .person(olivia)
      .machines.share(
        world.application,
        { clientId: attacker.id, folderId: folders.staging, permission: "read" },
        stage.compare,
      );
    return [];
  };
  await expectAttack(t, scene, "a folder for a forged machine", { lie: forged, play: give }, [
    "access_denied",
    "holder_unconfirmed",
  ]);
  const other: Lie = eachItem(["GET /api/org/applications/{id}/clients"], (item) => ({
    ...item,
    public_key: attacker.publicKey,
  }));
  world.truth.grant(`folder:${folders.staging}`, `client:${world.machines.worker.configuration.client_id}`, "read");
  await expectAttack(
    t,
    scene,
    "another key for a known machine",
    {
      lie: other,
      play: async (stage) => {
        const { client_id: clientId } = world.machines.worker.configuration;
        await stage
          .person(olivia)
          .machines.share(
            world.application,
            { clientId, folderId: folders.staging, permission: "read" },
            stage.compare,
          );
        return [];
      },
    },
    ["as honest", "bad_answer", "access_denied", "holder_unconfirmed"],
  );
  await expectAttack(
    t,
    scene,
    "a folder for a forged person",
    { lie: added(person), play: shares(() => attacker.id) },
    ["holder_unconfirmed", "not_found"],
  );
});

await t.test("the places and versions of entries", async (t) => {
  // The attacker has no manager's key; even with one, entries out of order are refused.
  const own = async (title: string, claims: object): Promise<void> => {
    const last = history.at(-1) ?? "";
    const place = { res: production, seq: newest + 1, prev: await hashOf(last), by: by(olivia) };
    const entries = [...history, await forge({ ...place, ...claims }, olivia.privateKey)];
    const lie = all(
      showHistory(production, entries),
      eachItem([...folderLists, ...secretLists], (item) => item),
    );
    await expectAttack(t, scene, title, { lie, play: reads(bob) }, ["history_invalid"]);
  };
  const check = "ab".repeat(32);
  await own("a version is skipped", { ver: 4, check });
  await own("a version stays", { ver: 2, check });
  await own("a version falls", { ver: 1, check });
  await own("an entry is skipped", { seq: newest + 2, ver: 3, check });
  await own("an entry follows another one", { prev: await hashOf(history[newest - 1] ?? ""), ver: 3, check });
  await own("an entry of another folder", { res: `folder:${folders.staging}`, ver: 3, check });
  await own("a claim that there is not", { ver: 3, check, also: true });
  const reversed = showHistory(production, history.toReversed());
  await expectAttack(
    t,
    scene,
    "entries are reversed, at a device without pins",
    { lie: reversed, play: reads(before(bob)) },
    ["history_invalid", "history_forked", "history_rolled_back"],
  );
  await expectAttack(
    t,
    scene,
    "entries are repeated",
    { lie: showHistory(production, [...history, history.at(-1) ?? ""]), play: reads(bob) },
    ["history_invalid"],
  );
  await expectAttack(
    t,
    scene,
    "the newest entry is dropped",
    { lie: showHistory(production, history.slice(0, -1)), play: writes(bobWrites()) },
    ["history_rolled_back"],
  );
  await expectAttack(
    t,
    scene,
    "the entries of staging",
    {
      lie: showHistory(production, await storedHistory(world, olivia, `folder:${folders.staging}`)),
      play: writes(olivia),
    },
    ["history_invalid", "history_rolled_back", "history_forked"],
  );
});

/** A writer reads the newer entries first. */
function bobWrites(): Person {
  return olivia;
}

await t.test("a malleated signature changes nothing", async (t) => {
  const [ofFolder, ofOrg] = [await storedHistory(world, olivia, production), await storedHistory(world, olivia, org)];
  const lie = all(showHistory(production, ofFolder.map(malleated)), showHistory(org, ofOrg.map(malleated)));
  await expectAttack(t, scene, "on a device with older pins", { lie, play: reads(before(bob)) }, ["as honest"]);
  await expectAttack(t, scene, "at a new device", { lie, play: newDeviceReads(bob) }, ["as honest"]);
});

await t.test("two managers rotate at the same time", async (t) => {
  const both = await Promise.allSettled(
    [olivia, anna].map((who) => scene.honest(who).folders.rotate(folders.production)),
  );
  t.ok(
    both.some(({ status }) => status === "fulfilled"),
    "one of them at least",
  );
  for (const one of both) if (one.status === "rejected") t.match(one.reason, { code: "conflict" });
  // The loser's rotation is acknowledged as if it had been stored.
  const lie: Lie = async (exchange) => {
    if (!exchange.path.endsWith("/rotate")) return exchange.answer;
    const { folder } = (await rotationAnswer(exchange.answer.body)) ?? {};
    return { status: 200, body: folder };
  };
  await expectAttack(
    t,
    scene,
    "and the loser believes to have won",
    {
      lie,
      play: async (stage) => {
        const [first, second] = [stage.person(olivia), stage.person(anna)];
        await Promise.all([first, second].map((me) => me.folders.rotate(folders.production)));
        return saidOf(await second.secrets.list("production"));
      },
    },
    ["as honest", "history_forked", "history_rolled_back", "key_mismatch", "conflict", "bad_answer"],
  );
  await expectAttack(t, scene, "and all members read afterwards", { lie: ({ answer }) => answer, play: lists(bob) }, [
    "as honest",
  ]);
});

/** The service's view of a folder after a stored rotation, made from a refusal. */
async function rotationAnswer(body: unknown): Promise<{ folder: unknown } | undefined> {
  if (typeof body === "object" && body !== null && "id" in body) return { folder: body };
  const { data } = (await scene.ask(olivia, "GET", "/api/org/folders")) as { data: Json[] };
  const folder = data.find(({ id }) => id === folders.production);
  return { folder: { ...folder, key_version: Number(folder?.["key_version"] ?? 0) + 1 } };
}

await t.test("keyrings", async (t) => {
  const past = wire.exchanges.filter(
    ({ path, method, answer }) => path === "/api/account/keyring" && method === "GET" && answer.status === 200,
  );
  const first = past.find(({ from }) => from === "olivia")?.answer ?? { status: 404, body: {} };
  const foreign = past.find(({ from }) => from === "anna")?.answer ?? { status: 404, body: {} };
  const keyring =
    (answer: { status: number; body: unknown }): Lie =>
    (exchange) =>
      exchange.path === "/api/account/keyring" && exchange.method === "GET" ? answer : exchange.answer;
  const missing = refuse(["GET /api/account/keyring"], 404, "not_found");
  await expectAttack(t, scene, "missing at a new device", { lie: missing, play: newDeviceReads(olivia) }, [
    "keyring_missing",
  ]);
  await expectAttack(
    t,
    scene,
    "another person's at a new device",
    { lie: keyring(foreign), play: newDeviceReads(olivia) },
    ["keyring_missing"],
  );
  const noise = { status: 200, body: { version: 1, sealed: Buffer.alloc(80, 1).toString("base64") } };
  await expectAttack(t, scene, "noise at a new device", { lie: keyring(noise), play: newDeviceReads(olivia) }, [
    "keyring_missing",
  ]);
  const older = async (stage: Stage): Promise<Said[]> => {
    const me = stage.person(olivia);
    const { id } = await me.folders.create(`folder ${stage.run}`);
    world.truth.name(`folder:${id}`, `folder ${stage.run}`);
    return saidOf(await me.secrets.list("production"));
  };
  const codes = ["keyring_rolled_back", "as honest", "precondition_failed"];
  await expectAttack(t, scene, "an older one than this device has seen", { lie: keyring(first), play: older }, codes);
  // With no keyring the attacker shows an organization of its own, under the same id.
  const forged = await forgeAfter([], org, [
    {
      by: by(olivia),
      privateKey: attacker.privateKey,
      change: {
        name: "Example",
        set: [{ who: by(olivia), key: attacker.publicKey, perm: "manage", email: olivia.email }],
      },
    },
  ]);
  await expectAttack(
    t,
    scene,
    "missing, with another organization",
    { lie: all(missing, showHistory(org, forged)), play: newDeviceReads(bob) },
    ["keyring_missing", "history_invalid"],
  );
});

await t.test("names", async (t) => {
  const swapped: Lie = eachItem(folderLists, (item) =>
    item["id"] === folders.production
      ? { ...item, name: "staging" }
      : item["id"] === folders.staging
        ? { ...item, name: "production" }
        : item,
  );
  await expectAttack(t, scene, "two folders change names: read", { lie: swapped, play: reads(olivia) }, ["as honest"]);
  await expectAttack(t, scene, "two folders change names: written", { lie: swapped, play: writes(olivia) }, [
    "as honest",
  ]);
  const ids: Lie = eachItem(folderLists, (item) =>
    item["id"] === folders.production
      ? { ...item, id: folders.staging }
      : item["id"] === folders.staging
        ? { ...item, id: folders.production }
        : item,
  );
  await expectAttack(t, scene, "two folders change ids", { lie: ids, play: reads(olivia) }, [
    "as honest",
    "key_mismatch",
    "key_rolled_back",
    "not_decrypted",
    "no_key",
    "not_found",
    "secret_not_found",
    "bad_answer",
  ]);
  // Rita creates a folder with an existing name and shares it with Bob.
  const gift = await giftBy(rita);
  const offered = (keep: (item: Json) => boolean): Lie => gift.offered(keep);
  const codes = ["as honest", "not_accepted", "name_ambiguous"];
  await expectAttack(t, scene, "a second folder of a name", { lie: offered(() => true), play: reads(bob) }, codes);
  const only = offered(({ id }) => id !== folders.production);
  await expectAttack(t, scene, "instead of the first", { lie: only, play: reads(bob) }, [
    ...codes,
    "not_found",
    "secret_not_found",
  ]);
  await expectAttack(
    t,
    scene,
    "and bob writes",
    {
      lie: only,
      play: async (stage) => {
        await stage.person(bob).secrets.set("coffer://production/new/field/password", "a new password of bob");
        return [];
      },
    },
    ["not_accepted", "name_ambiguous", "not_found"],
  );
  const asked: string[] = [];
  await expectAttack(
    t,
    scene,
    "and bob compares",
    {
      lie: only,
      play: async (stage) => {
        const me = stage.person(bob, ({ from }) => {
          asked.push(from);
          return Promise.resolve(from === olivia.email);
        });
        return saidOf(await me.secrets.list("production"));
      },
    },
    codes,
  );
  t.strictSame(new Set(asked), new Set([rita.email]), "the giver's e-mail is the one of the organization's history");
  // Eve creates one: a person outside the organization.
  const eves = await giftBy(people.eve);
  await expectAttack(
    t,
    scene,
    "a folder by a stranger",
    {
      lie: eves.offered(() => true),
      play: async (stage) => {
        const me = stage.person(bob, () => Promise.resolve(true));
        await me.secrets.set(`coffer://${eves.id}/new/field/password`, "a new password of bob");
        return [];
      },
    },
    ["signer_removed", "history_invalid"],
  );
});

/** A folder "production" that a person creates and shares with Bob, under a key of the attacker. */
async function giftBy(founder: Person): Promise<{ id: string; offered(keep: (item: Json) => boolean): Lie }> {
  const id = newId();
  const res = `folder:${id}`;
  const founding = {
    org: world.org,
    name: "production",
    set: [
      { who: by(founder), key: founder.publicKey, perm: "manage" },
      { who: by(bob), key: bob.publicKey, perm: "read" },
    ],
    ver: 1,
    check: await keyCheck(attacker.key, res, 1),
  };
  const entries = await forgeAfter([], res, [{ by: by(founder), privateKey: founder.privateKey, change: founding }]);
  const view = {
    id,
    name: "production",
    permission: "read",
    key_version: 1,
    encrypted_key: await sealedKey(bob.publicKey, attacker.key, contexts.sharedFolderKey(id)),
    encrypted_key_alg: "jwe",
    created_at: new Date().toISOString(),
    updated_at: new Date().toISOString(),
    history_seq: 0,
  };
  const listed = (keep: (item: Json) => boolean): Lie =>
    rewrite(["GET /api/org/folders"], (body) => ({ data: [view, ...(body["data"] as Json[]).filter(keep)] }));
  const empty: Lie = ({ path, answer }) =>
    path === `/api/org/folders/${id}/secrets` ? { status: 200, body: { data: [] } } : answer;
  return { id, offered: (keep) => all(listed(keep), empty, showHistory(res, entries)) };
}

await t.test("a key that is withheld", async (t) => {
  const hidden: Lie = eachItem(folderLists, (item) => ({ ...item, encrypted_key: null, encrypted_key_alg: null }));
  await expectAttack(t, scene, "reads", { lie: hidden, play: reads(bob) }, ["key_pending", "no_key"]);
  await expectAttack(t, scene, "writes", { lie: hidden, play: writes(olivia) }, ["key_pending", "no_key"]);
  await expectAttack(t, scene, "rotates", { lie: hidden, play: rotates(olivia) }, ["key_pending", "no_key"]);
});

await t.test("permissions that the service claims", async (t) => {
  const lie = all(
    eachItem(["GET /api/org/folders/{id}/members"], (item) => ({ ...item, permission: "manage" })),
    eachItem(["GET /api/org/members"], (item) => ({ ...item, role: "owner" })),
  );
  await expectAttack(t, scene, "at a rotation", { lie, play: rotates(olivia) }, ["as honest"]);
  await expectAttack(
    t,
    scene,
    "for a reader who rotates",
    {
      lie: all(
        lie,
        eachItem(folderLists, (item) => ({ ...item, permission: "manage" })),
      ),
      play: rotates(bob),
    },
    ["access_denied"],
  );
});

await t.test("adoption and trust of a history that is hidden or forked", async (t) => {
  const bare = showHistory(production, []);
  const agree = (): Promise<boolean> => Promise.resolve(true);
  const adopts = async (stage: Stage): Promise<Said[]> => {
    await stage.person(olivia).folders.adopt(folders.production, stage.compare, agree);
    return [];
  };
  await expectAttack(t, scene, "a folder whose history is hidden", { lie: bare, play: adopts }, [
    "history_rolled_back",
    "conflict",
  ]);
  const atNew = async (stage: Stage): Promise<Said[]> => {
    await stage.newDevice(olivia).folders.adopt(folders.production, stage.compare, agree);
    return [];
  };
  await expectAttack(t, scene, "the same at a new device", { lie: bare, play: atNew }, [
    "history_rolled_back",
    "conflict",
  ]);
  const adoptsOrganization = async (stage: Stage): Promise<Said[]> => {
    await stage.person(olivia).organizations.adopt(stage.compare, agree);
    return [];
  };
  const hidden = showHistory(org, []);
  await expectAttack(t, scene, "an organization whose history is hidden", { lie: hidden, play: adoptsOrganization }, [
    "history_rolled_back",
    "conflict",
  ]);
  // Mallory's fork after her time as manager; her words are right, and she is not a member.
  const present = await storedHistory(world, olivia, production);
  const signed = { by: by(mallory), privateKey: mallory.privateKey };
  const more = Array.from({ length: present.length }, () => ({ ...signed, change: { name: "production" } }));
  const change = await rotation(production, 2);
  const forked = await forgeAfter(present.slice(0, endOfVersion(1)), production, [{ ...signed, change }, ...more]);
  const shown = all(showHistory(production, forked), replaced(bob, { key_version: 2, history_seq: forked.length - 1 }));
  const trusts = async (stage: Stage): Promise<Said[]> => {
    const me = stage.person(bob);
    await me.folders.trust(folders.production, stage.compare);
    return saidOf(await me.secrets.list("production"));
  };
  const codes = ["signer_removed", "history_invalid", "history_forked"];
  await expectAttack(t, scene, "trust in a fork by a removed manager", { lie: shown, play: trusts }, codes);
  const byAttacker = await forgeAfter([], production, [
    {
      by: by(olivia),
      privateKey: attacker.privateKey,
      change: {
        org: world.org,
        name: "production",
        set: [
          { who: by(olivia), key: attacker.publicKey, perm: "manage" },
          { who: by(bob), key: bob.publicKey, perm: "read" },
        ],
        ver: 1,
        check: await keyCheck(attacker.key, production, 1),
      },
    },
  ]);
  const other = all(showHistory(production, byAttacker), replaced(bob, { key_version: 1, history_seq: 0 }));
  await expectAttack(t, scene, "trust in a history under another key of the owner", { lie: other, play: trusts }, [
    ...codes,
    "access_denied",
  ]);
  // The compared words are of the genuine history; later reads show another one.
  let asked = 0;
  const switching: Lie = (exchange) => {
    if (exchange.path.endsWith("/history") && exchange.path.includes(folders.production)) asked += 1;
    return asked <= 1 ? exchange.answer : other(exchange);
  };
  await expectAttack(t, scene, "another history after the comparison", { lie: switching, play: trusts }, [
    ...codes,
    "as honest",
    "key_mismatch",
    "key_rolled_back",
    "history_rolled_back",
    "access_denied",
  ]);
});

await t.test("a key that changes between the comparison and the signature", async (t) => {
  // A token of the service has no invitation: its machine is confirmed by comparing words.
  const path = `/api/org/applications/${world.application}/tokens`;
  const body = { name: "by hand", folders: [{ folder_id: folders.production, permission: "read" }] };
  const { token } = (await scene.ask(olivia, "POST", path, body)) as { token: string };
  const requested = [{ folderId: folders.production, permission: "read" as const }];
  const { client_id: clientId } = await bootstrapped(wire, world.truth, { name: "by hand", token, folders: requested });
  const switching = (kinds: readonly string[], honestly: number): Lie => {
    let seen = 0;
    return (exchange) => {
      if (!kinds.includes(kindOf(exchange))) return exchange.answer;
      seen += 1;
      if (seen <= honestly) return exchange.answer;
      return eachItem(kinds, (item) =>
        item["client_id"] === clientId || item["id"] === clientId ? { ...item, public_key: attacker.publicKey } : item,
      )(exchange);
    };
  };
  const kinds = ["GET /api/org/applications/{id}/clients", "GET /api/org/folders/{id}/members"];
  const confirms = async (stage: Stage): Promise<Said[]> => {
    await stage.person(olivia).machines.confirm(world.application, clientId, stage.compare);
    return [];
  };
  const codes = ["as honest", "access_denied", "holder_unconfirmed", "bad_answer", "conflict"];
  for (const honestly of [0, 1, 2, 3])
    await expectAttack(
      t,
      scene,
      `after ${honestly} honest answers`,
      { lie: switching(kinds, honestly), play: confirms },
      codes,
    );
});

await t.test("a removal whose cut the service chooses", async (t) => {
  // Max manages production, works with the operator, and is removed.
  const owner = scene.honest(olivia);
  const email = emailOf("max");
  const { token } = await owner.invites.create(email, "member");
  const max = await newPerson(wire, world.truth, "max", { email, inviteToken: token });
  await scene.honest(max).invites.accept(token);
  for (const folder of [folders.production, folders.staging]) {
    world.truth.grant(`folder:${folder}`, by(max), "manage");
    await owner.folders.share(folder, { userId: idOf(max), permission: "manage" });
  }
  scene.oracle.hostile.set(max.publicKey, max.privateKey);
  const present = await storedHistory(world, olivia, production);
  const change = await rotation(production, present.filter((entry) => claimsOf(entry).ver !== undefined).length + 1);
  const forked = await forgeAfter(present, production, [{ by: by(max), privateKey: max.privateKey, change }]);
  const name = createHash("sha256").update(production).digest("hex");
  const lie = rewrite(["GET /api/org/members/{id}/heads"], async (body) => ({
    data: { ...(body["data"] as Json), [name]: [forked.length - 1, await hashOf(forked.at(-1) ?? "")] },
  }));
  await scene.oracle.verdict({});
  const removes = async (stage: Stage): Promise<Said[]> => {
    await stage.person(olivia).members.remove(idOf(max));
    return [];
  };
  await expectAttack(t, scene, "later than the newest entry", { lie, play: removes }, [
    "bad_answer",
    "history_rolled_back",
    "history_forked",
    "as honest",
  ]);
});
