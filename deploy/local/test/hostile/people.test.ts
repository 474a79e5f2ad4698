import t from "tap";
import { expectAttack } from "./attack.ts";
import { claimsOf, forge, forgeAfter, hashOf, malleated, mark } from "./attacker.ts";
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
} from "./lies.ts";
import type { Said } from "./oracle.ts";
import {
  anna,
  attacker,
  before,
  bob,
  by,
  endOfVersion,
  folders,
  history,
  idOf,
  lists,
  mallory,
  newDeviceReads,
  newest,
  oldKeys,
  olivia,
  org,
  orgHistory,
  production,
  reads,
  replaced,
  rita,
  rotates,
  rotation,
  scene,
  shares,
  version,
  world,
  writes,
} from "./people-scene.ts";
import type { Stage } from "./stage.ts";
import { saidOf } from "./step.ts";
import type { Lie } from "./wire.ts";
import type { Person } from "./world.ts";

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
