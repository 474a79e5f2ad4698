import { createHash } from "node:crypto";
import { contexts, keyCheck, newId } from "@coffer/crypto";
import t from "tap";
import { expectAttack } from "./attack.ts";
import { claimsOf, forgeAfter, hashOf, sealedKey } from "./attacker.ts";
import { all, eachItem, folderLists, type Json, refuse, rewrite, showHistory, storedHistory } from "./lies.ts";
import type { Said } from "./oracle.ts";
import {
  attacker,
  bob,
  by,
  endOfVersion,
  folders,
  idOf,
  mallory,
  newDeviceReads,
  olivia,
  org,
  people,
  production,
  reads,
  replaced,
  rita,
  rotates,
  rotation,
  scene,
  wire,
  world,
  writes,
} from "./people-scene.ts";
import type { Stage } from "./stage.ts";
import { saidOf } from "./step.ts";
import { kindOf, type Lie } from "./wire.ts";
import { bootstrapped, emailOf, newPerson, type Person } from "./world.ts";

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
