import { setTimeout as pause } from "node:timers/promises";
import t from "tap";
import { box, contexts, decodeBase64, keyCheck, newId } from "@coffer/crypto";
import { memoryTrust } from "@coffer/sdk";
import { testDirectory } from "@coffer/testkit";
import { expectAttack, newScene } from "./attack.ts";
import { claimsOf, forge, forgeAfter, hashOf, malleated, sealedKey } from "./attacker.ts";
import { saidOfRecords } from "./step.ts";
import { limits } from "./limits.ts";
import {
  all,
  eachItem,
  forgeRecords,
  handOutVault,
  type Json,
  recordAnswers,
  replay,
  rewrite,
  showHistory,
  storedHistory,
  vaultAnswers,
} from "./lies.ts";
import type { Said } from "./oracle.ts";
import type { Stage } from "./stage.ts";
import { createWire, type Lie } from "./wire.ts";
import type { Person } from "./world.ts";
import { npmStart } from "../npm-start.ts";

// Attacks on shared and personal vaults, by a server that works with a removed manager (Mallory)
// and a present reader (Rita).

const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const wire = createWire(url);
const scene = await newScene(wire);
const { world } = scene;
const { attacker, people, team, oldKeys } = world;
const { olivia, anna, bob, rita, mallory } = people;
const by = ({ session }: Person): string => `user:${session.user.id}`;
const res = `vault:${team.id}`;
const before = (person: Person): Person => ({ ...person, trust: memoryTrust(world.before.get(person.name)) });

// A personal vault of Olivia's, and its record.
const personal = await scene.honest(olivia).vaults.create("personal");
world.truth.name(`vault:${personal.id}`, "personal");
const fields = { name: "Example", password: "a password of one's own" };
const own = await scene.honest(olivia).records.create(personal.id, { type: "login", fields });
for (const [name, value] of Object.entries(fields)) world.truth.value(personal.id, own.id, name, value);

const reads =
  (who: Person, vault = team.id) =>
  async (stage: Stage): Promise<Said[]> =>
    saidOfRecords(await stage.person(who).records.list(vault));
const gets =
  (who: Person) =>
  async (stage: Stage): Promise<Said[]> =>
    saidOfRecords([await stage.person(who).records.get(team.id, team.record)]);
const newDeviceReads =
  (who: Person, vault = team.id) =>
  async (stage: Stage): Promise<Said[]> =>
    saidOfRecords(await stage.newDevice(who).records.list(vault));
const writes =
  (who: Person, vault = team.id) =>
  async (stage: Stage): Promise<Said[]> => {
    const id = newId();
    world.truth.value(vault, id, "password", `written in run ${stage.run}`);
    await stage
      .person(who)
      .records.create(vault, { id, type: "login", fields: { password: `written in run ${stage.run}` } });
    return [];
  };
const rotates =
  (who: Person) =>
  async (stage: Stage): Promise<Said[]> => {
    await stage.person(who).vaults.rotate(team.id);
    return [];
  };
const follows =
  (who: Person) =>
  async (stage: Stage): Promise<Said[]> => {
    const said: Said[] = [];
    const sync = await stage.person(who).sync({
      webSocket: wire.sockets(who.name, stage.lie),
      onChange: (changes) => {
        for (const change of changes) if ("record" in change) said.push(...saidOfRecords([change.record]));
      },
    });
    try {
      await Promise.race([sync.ready, pause(2000)]);
      return [...said, ...saidOfRecords(await sync.records())];
    } finally {
      await sync.stop();
    }
  };

const history = await storedHistory(world, olivia, res);
const endOfFirst = history.findIndex((entry) => claimsOf(entry).ver === 2);

const replaced = (who: Person, more: Json = {}): Lie =>
  all(handOutVault(team.id, attacker.key, who.publicKey, more), forgeRecords(team.id, attacker.key));

await t.test("a replaced vault key", async (t) => {
  for (const who of [olivia, anna, bob]) {
    await expectAttack(t, scene, `${who.name} lists`, { lie: replaced(who), play: reads(who) }, ["key_mismatch"]);
    await expectAttack(t, scene, `${who.name} gets`, { lie: replaced(who), play: gets(who) }, ["key_mismatch"]);
    await expectAttack(t, scene, `${who.name} follows`, { lie: replaced(who), play: follows(who) }, ["as honest"]);
  }
  await expectAttack(t, scene, "at a new device", { lie: replaced(bob), play: newDeviceReads(bob) }, ["key_mismatch"]);
  await expectAttack(t, scene, "writes", { lie: replaced(bob), play: writes(bob) }, ["key_mismatch"]);
  await expectAttack(t, scene, "rotates", { lie: replaced(olivia), play: rotates(olivia) }, ["key_mismatch"]);
  const later = replaced(bob, { key_version: 3 });
  const codes = ["key_mismatch", "key_rolled_back"];
  await expectAttack(t, scene, "as a later version", { lie: later, play: reads(bob) }, codes);
  const bare = all(replaced(bob), showHistory(res, []));
  const gone = ["history_rolled_back", "no_history", "key_mismatch"];
  await expectAttack(t, scene, "and no history", { lie: bare, play: reads(bob) }, gone);
  await expectAttack(t, scene, "and no history: writes", { lie: bare, play: writes(bob) }, gone);
  await expectAttack(t, scene, "and no history, at a new device", { lie: bare, play: newDeviceReads(bob) }, [
    ...gone,
    "keyring_missing",
  ]);
});

await t.test("the key from before the rotation, which the removed manager has", async (t) => {
  const shown = showHistory(res, history.slice(0, endOfFirst));
  const oldState = all(replay(world, [...vaultAnswers, ...recordAnswers]), shown);
  const old = all(handOutVault(team.id, oldKeys.team, bob.publicKey), forgeRecords(team.id, oldKeys.team));
  const first = all(
    old,
    eachItem(vaultAnswers, (item) => (item["id"] === team.id ? { ...item, key_version: 1 } : item)),
  );
  const codes = ["history_rolled_back", "key_rolled_back", "key_mismatch", "keyring_rolled_back"];
  for (const [title, lie] of Object.entries({
    "the old state": oldState,
    "the old key": old,
    "the first version": first,
  }))
    for (const [name, play] of Object.entries({ reads: reads(bob), gets: gets(bob), writes: writes(bob) }))
      await expectAttack(t, scene, `${title}: ${name}`, { lie, play }, codes);
  await expectAttack(t, scene, "at a new device", { lie: old, play: newDeviceReads(bob) }, codes);
});

await t.test("a shared vault as personal, and a personal one as shared", async (t) => {
  const as = (vault: string, change: Json): Lie =>
    eachItem(vaultAnswers, (item) => (item["id"] === vault ? { ...item, ...change } : item));
  const bare = { type: "personal", history_seq: null };
  const shown = all(replaced(olivia), as(team.id, bare), showHistory(res, []), as(team.id, bare));
  const codes = ["not_decrypted", "key_mismatch", "history_rolled_back", "bad_answer", "no_key"];
  for (const [name, play] of Object.entries({
    reads: reads(olivia),
    gets: gets(olivia),
    writes: writes(olivia),
    "reads at a new device": newDeviceReads(olivia),
  }))
    await expectAttack(t, scene, `shared as personal: ${name}`, { lie: shown, play }, codes);
  await expectAttack(
    t,
    scene,
    "with the type alone",
    { lie: as(team.id, { type: "personal" }), play: writes(olivia) },
    [...codes, "as honest"],
  );
  const mine = all(handOutVault(personal.id, attacker.key, olivia.publicKey), forgeRecords(personal.id, attacker.key));
  for (const [name, play] of Object.entries({
    reads: reads(olivia, personal.id),
    writes: writes(olivia, personal.id),
    "reads at a new device": newDeviceReads(olivia, personal.id),
  }))
    await expectAttack(t, scene, `another key for a personal vault: ${name}`, { lie: mine, play }, codes);
  const change = {
    org: world.org,
    name: "personal",
    set: [
      { who: by(rita), key: rita.publicKey, perm: "manage" },
      { who: by(olivia), key: olivia.publicKey, perm: "manage" },
    ],
    ver: 1,
    check: await keyCheck(attacker.key, `vault:${personal.id}`, 1),
  };
  const entries = await forgeAfter([], `vault:${personal.id}`, [{ by: by(rita), privateKey: rita.privateKey, change }]);
  const shared = all(
    mine,
    as(personal.id, { type: "shared", org_id: world.org }),
    showHistory(`vault:${personal.id}`, entries),
    as(personal.id, { type: "shared", history_seq: 0 }),
  );
  for (const [name, play] of Object.entries({ reads: reads(olivia, personal.id), writes: writes(olivia, personal.id) }))
    await expectAttack(t, scene, `personal as shared: ${name}`, { lie: shared, play }, [
      ...codes,
      "not_accepted",
      "keyring_missing",
    ]);
  // The key of one vault in the other's place.
  const swapped = eachItem(vaultAnswers, (item) =>
    item["id"] === personal.id ? { ...item, encrypted_key: teamKey() } : item,
  );
  await expectAttack(t, scene, "the key of another vault", { lie: swapped, play: writes(olivia, personal.id) }, codes);
  // Sealed under the user key, as only Olivia can: the key of a shared vault, in the form of its creator's.
  const form = await box(decodeBase64(olivia.session.user_key), attacker.key, contexts.vaultKey(personal.id));
  const bound = eachItem(vaultAnswers, (item) =>
    item["id"] === personal.id ? { ...item, encrypted_key: form } : item,
  );
  await expectAttack(
    t,
    scene,
    "a key sealed as a shared vault's",
    { lie: bound, play: writes(olivia, personal.id) },
    codes,
  );
});

/** Olivia's sealed key of the shared vault. */
function teamKey(): string {
  const answer = wire.exchanges.findLast(
    ({ from, path, answer }) => from === "olivia" && path === "/api/vaults" && answer.status === 200,
  );
  const body = answer?.answer.body as { data: { id: string; encrypted_key: string }[] } | undefined;
  return body?.data.find(({ id }) => id === team.id)?.encrypted_key ?? "";
}

await t.test("entries by those who may not sign", async (t) => {
  const change = { ver: 3, check: await keyCheck(attacker.key, res, 3) };
  const after = async (title: string, changes: Parameters<typeof forgeAfter>[2]): Promise<void> => {
    const entries = await forgeAfter(history, res, changes);
    const more = { key_version: 3, history_seq: entries.length - 1 };
    const lie = all(showHistory(res, entries), replaced(bob, more));
    for (const [name, play] of Object.entries({
      reads: reads(bob),
      writes: writes(bob),
      "at a new device": newDeviceReads(bob),
    }))
      await expectAttack(t, scene, `${title}: ${name}`, { lie, play }, ["history_invalid"]);
    await expectAttack(t, scene, `${title}: follows`, { lie, play: follows(bob) }, ["as honest"]);
  };
  await after("a reader", [{ by: by(rita), privateKey: rita.privateKey, change }]);
  await after("a removed manager", [{ by: by(mallory), privateKey: mallory.privateKey, change }]);
  await after("the attacker as the owner", [{ by: by(olivia), privateKey: attacker.privateKey, change }]);
  const accomplice = { set: [{ who: `user:${attacker.id}`, key: attacker.publicKey, perm: "manage" }] };
  await after("a broken chain of managers", [
    { by: by(mallory), privateKey: mallory.privateKey, change: accomplice },
    { by: `user:${attacker.id}`, privateKey: attacker.privateKey, change },
  ]);
  const own = async (title: string, claims: object): Promise<void> => {
    const place = { res, seq: history.length, prev: await hashOf(history.at(-1) ?? ""), by: by(olivia) };
    const lie = showHistory(res, [...history, await forge({ ...place, ...claims }, olivia.privateKey)]);
    await expectAttack(t, scene, title, { lie, play: reads(bob) }, ["history_invalid"]);
  };
  await own("a version is skipped", { ver: 4, check: "ab".repeat(32) });
  await own("an entry is skipped", { seq: history.length + 1, ver: 3, check: "ab".repeat(32) });
});

await t.test("a fork by a manager who was removed", async (t) => {
  const signed = { by: by(mallory), privateKey: mallory.privateKey };
  const change = { ver: 2, check: await keyCheck(attacker.key, res, 2) };
  const more = Array.from({ length: history.length }, () => ({ ...signed, change: { name: "team" } }));
  const entries = await forgeAfter(history.slice(0, endOfFirst), res, [{ ...signed, change }, ...more]);
  const forked = (who: Person): Lie =>
    all(showHistory(res, entries), replaced(who, { key_version: 2, history_seq: entries.length - 1 }));
  const codes = ["history_forked", "history_invalid", "signer_removed", "history_rolled_back"];
  for (const who of [olivia, bob])
    await expectAttack(t, scene, `${who.name} reads`, { lie: forked(who), play: reads(who) }, codes);
  await expectAttack(t, scene, "a device from before", { lie: forked(bob), play: reads(before(bob)) }, codes);
  await expectAttack(t, scene, "a device from before writes", { lie: forked(bob), play: writes(before(bob)) }, codes);
  await expectAttack(t, scene, "a new device", { lie: forked(bob), play: newDeviceReads(bob) }, codes);
  const unpinned = all(
    forked(bob),
    eachItem(vaultAnswers, (item) => ({ ...item, sealed_pin: null })),
  );
  await expectAttack(t, scene, "a new device without a pin", { lie: unpinned, play: newDeviceReads(bob) }, [
    ...codes,
    "keyring_missing",
    "not_accepted",
  ]);
});

await t.test("pins of a new device", async (t) => {
  const pins = (change: (item: Json) => unknown): Lie =>
    eachItem(vaultAnswers, (item) => ({ ...item, sealed_pin: change(item) }));
  const missing = ["keyring_missing", "not_accepted"];
  await expectAttack(t, scene, "left out", { lie: pins(() => null), play: newDeviceReads(bob) }, missing);
  const noise = { version: 1, sealed: Buffer.alloc(80, 1).toString("base64") };
  await expectAttack(t, scene, "noise", { lie: pins(() => noise), play: newDeviceReads(bob) }, missing);
  const first = wire.exchanges.find(
    ({ from, path, method }) => from === "bob" && method === "PUT" && path.endsWith("/pin"),
  )?.body;
  const another = wire.exchanges.find(
    ({ from, path, method }) => from === "anna" && method === "PUT" && path.endsWith("/pin"),
  )?.body;
  await expectAttack(t, scene, "another person's", { lie: pins(() => another), play: newDeviceReads(bob) }, missing);
  const older = pins(() => first);
  await expectAttack(t, scene, "an older one than the device has seen", { lie: older, play: reads(bob) }, [
    "as honest",
    "keyring_rolled_back",
  ]);
});

await t.test("holders that the service invents", async (t) => {
  const added = (person: Person): Lie =>
    rewrite(["GET /api/vaults/{id}/members"], (body) => ({
      data: [
        ...(body["data"] as Json[]),
        {
          user_id: person.session.user.id,
          name: person.name,
          email: person.email,
          permission: "write",
          added_at: new Date().toISOString(),
          has_key: false,
        },
      ],
    }));
  const stranger = { ...mallory, session: { ...mallory.session, user: { ...mallory.session.user, id: attacker.id } } };
  const keys: Lie = rewrite(["GET /api/users/{id}/public_key"], () => ({
    public_key: attacker.publicKey,
    fingerprint: "00".repeat(32),
  }));
  for (const [title, who] of Object.entries({
    "the removed manager": mallory,
    "a stranger": stranger,
    Eve: people.eve,
  })) {
    const lie = all(added(who), keys);
    await expectAttack(t, scene, `${title} at a rotation`, { lie, play: rotates(olivia) }, [
      "as honest",
      "holder_unconfirmed",
      "conflict",
      "invalid_request",
    ]);
    await expectAttack(t, scene, `${title} waits for a key`, { lie, play: reads(olivia) }, ["as honest"]);
    await expectAttack(t, scene, `${title} waits for a key, olivia writes`, { lie, play: writes(olivia) }, [
      "as honest",
    ]);
    await expectAttack(
      t,
      scene,
      `sharing with ${title}`,
      {
        lie,
        play: async (stage) => {
          await stage.person(olivia).vaults.share(team.id, { userId: who.session.user.id, permission: "read" });
          return [];
        },
      },
      ["holder_unconfirmed", "not_found"],
    );
  }
  const waiting = all(
    keys,
    eachItem(["GET /api/vaults/{id}/members"], (item) => ({ ...item, has_key: false })),
  );
  await expectAttack(t, scene, "all wait for a key", { lie: waiting, play: reads(olivia) }, ["as honest"]);
  const managers = eachItem(["GET /api/vaults/{id}/members"], (item) => ({ ...item, permission: "manage" }));
  await expectAttack(t, scene, "all manage, by the service's word", { lie: managers, play: rotates(olivia) }, [
    "as honest",
  ]);
});

await t.test("a vault that is shared by untrusted persons", async (t) => {
  for (const founder of [rita, people.eve, mallory]) {
    const id = newId();
    const change = {
      org: world.org,
      name: "team",
      set: [
        { who: by(founder), key: founder.publicKey, perm: "manage" },
        { who: by(bob), key: bob.publicKey, perm: "write" },
      ],
      ver: 1,
      check: await keyCheck(attacker.key, `vault:${id}`, 1),
    };
    const entries = await forgeAfter([], `vault:${id}`, [{ by: by(founder), privateKey: founder.privateKey, change }]);
    const key = await sealedKey(bob.publicKey, attacker.key, contexts.vaultKey(id));
    const given = all(
      rewrite(["GET /api/vaults"], (body) => {
        const [first] = (body["data"] as Json[]).filter((item) => item["id"] === team.id);
        const vault = {
          ...first,
          id,
          name: "team",
          type: "shared",
          encrypted_key: key,
          encrypted_key_alg: "jwe",
          key_version: 1,
          history_seq: 0,
          sealed_pin: null,
          record_count: 0,
        };
        return { data: [vault, ...(body["data"] as Json[])] };
      }),
      showHistory(`vault:${id}`, entries),
    );
    const found = async (stage: Stage): Promise<Said[]> => {
      const me = stage.person(bob, ({ from }) => Promise.resolve(from === olivia.email));
      const vault = await me.vaults.find("team");
      return saidOfRecords(await me.records.list(vault.id));
    };
    await expectAttack(t, scene, `${founder.name}: by the name`, { lie: given, play: found }, [
      "as honest",
      "name_ambiguous",
      "not_accepted",
    ]);
    const codes = founder === rita ? ["not_accepted"] : ["not_accepted", "signer_removed", "history_invalid"];
    await expectAttack(t, scene, `${founder.name}: written`, { lie: given, play: writes(bob, id) }, [
      ...codes,
      "not_found",
    ]);
    await expectAttack(t, scene, `${founder.name}: followed`, { lie: given, play: follows(bob) }, ["as honest"]);
  }
});

await t.test("names, ids, records and withheld keys", async (t) => {
  const swapped: Lie = eachItem(vaultAnswers, (item) =>
    item["id"] === team.id ? { ...item, name: "personal" } : item,
  );
  await expectAttack(
    t,
    scene,
    "another name",
    {
      lie: swapped,
      play: async (stage) => {
        const { id, name } = await stage.person(olivia).vaults.find("team");
        return [{ kind: "name", res: `vault:${id}`, name }];
      },
    },
    ["as honest"],
  );
  const both = all(
    swapped,
    eachItem(vaultAnswers, (item) => (item["id"] === personal.id ? { ...item, name: "team" } : item)),
  );
  await expectAttack(
    t,
    scene,
    "a personal vault under the name of the shared one",
    {
      lie: both,
      play: async (stage) => {
        const me = stage.person(olivia);
        const { id } = await me.vaults.find("team");
        world.truth.value(id, id, "password", "for the team");
        await me.records.create(id, { type: "login", fields: { password: "for the team" } });
        return id === team.id ? [] : [{ kind: "name", res: `vault:${id}`, name: "team" }];
      },
    },
    ["as honest", "name_ambiguous"],
  );
  const hidden: Lie = eachItem(vaultAnswers, (item) =>
    item["id"] === team.id ? { ...item, encrypted_key: null, encrypted_key_alg: null } : item,
  );
  for (const [name, play] of Object.entries({ reads: reads(bob), writes: writes(bob), rotates: rotates(olivia) }))
    await expectAttack(t, scene, `a withheld key: ${name}`, { lie: hidden, play }, ["key_pending", "no_key"]);
  const other: Lie = eachItem(recordAnswers, (item) => (item["id"] === team.record ? { ...item, id: own.id } : item));
  await expectAttack(t, scene, "another id of a record", { lie: other, play: gets(bob) }, [
    "bad_answer",
    "not_decrypted",
  ]);
  const moved: Lie = eachItem(recordAnswers, (item) => ({ ...item, vault_id: personal.id }));
  await expectAttack(t, scene, "another vault of a record", { lie: moved, play: gets(bob) }, [
    "bad_answer",
    "not_decrypted",
  ]);
  const malleable = async (): Promise<Lie> =>
    showHistory(res, (await storedHistory(world, olivia, res)).map(malleated));
  await expectAttack(t, scene, "malleated signatures", { lie: await malleable(), play: reads(before(bob)) }, [
    "as honest",
  ]);
});

await t.test("two managers rotate at the same time", async (t) => {
  const both = await Promise.allSettled([olivia, anna].map((who) => scene.honest(who).vaults.rotate(team.id)));
  t.ok(
    both.some(({ status }) => status === "fulfilled"),
    "one of them at least",
  );
  for (const one of both) if (one.status === "rejected") t.match(one.reason, { code: "conflict" });
  // The loser's rotation is acknowledged as if it had been stored.
  const lie: Lie = async (exchange) => {
    if (!exchange.path.endsWith("/rotate") || exchange.answer.status === 200) return exchange.answer;
    const vault = (await scene.ask(olivia, "GET", `/api/vaults/${team.id}`)) as Json;
    return { status: 200, body: { ...vault, key_version: Number((exchange.body as Json)["key_version"]) + 1 } };
  };
  const play = async (stage: Stage): Promise<Said[]> => {
    const [first, second] = [stage.person(olivia), stage.person(anna)];
    await Promise.all([first, second].map((me) => me.vaults.rotate(team.id)));
    return saidOfRecords(await second.records.list(team.id));
  };
  await expectAttack(t, scene, "and the loser believes that it has won", { lie, play }, [
    "as honest",
    "history_forked",
    "history_rolled_back",
    "key_mismatch",
    "key_rolled_back",
    "conflict",
    "bad_answer",
  ]);
  await expectAttack(t, scene, "and all members read afterwards", { lie: ({ answer }) => answer, play: reads(bob) }, [
    "as honest",
  ]);
});
