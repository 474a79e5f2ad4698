import t from "tap";
import { box, contexts, decodeBase64, keyCheck, newId, readAccessToken } from "@coffer/crypto";
import { createClient, type MachineConfiguration, memoryTrust } from "@coffer/sdk";
import { testDirectory } from "@coffer/testkit";
import { expectAttack, newScene } from "./attack.ts";
import { claimsOf, forge, forgeAfter, hashOf, malleated, sealedKey } from "./attacker.ts";
import { saidOf } from "./step.ts";
import { limits } from "./limits.ts";
import {
  all,
  eachItem,
  folderLists,
  forgeSecrets,
  handOut,
  type Json,
  replay,
  rewrite,
  secretLists,
  showHistory,
  storedHistory,
} from "./lies.ts";
import type { Said } from "./oracle.ts";
import type { Stage } from "./stage.ts";
import { createWire, type Lie } from "./wire.ts";
import { bootstrapped, impatient, type Machine, newMachine, type Person } from "./world.ts";
import { npmStart } from "../npm-start.ts";

// Attacks on machines, by a server that works with a removed manager (Mallory) and a present reader (Rita).

const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const wire = createWire(url);
const scene = await newScene(wire);
const { world } = scene;
const { attacker, people, folders, machines, oldKeys } = world;
const { olivia, bob, rita, mallory } = people;
const by = ({ session }: Person): string => `user:${session.user.id}`;
const production = `folder:${folders.production}`;
const database = "coffer://production/database/field/password";
const ofStaging = "coffer://staging/database/field/password";

/** The trust and values of a machine after its first use since the rotations. */
async function broughtUp({ configuration }: Machine): Promise<MachineConfiguration> {
  const trust = memoryTrust(configuration.histories);
  await createClient(configuration, { ...impatient, trust, fetch: wire.network("api") }).list();
  return { ...configuration, histories: await trust.load() };
}
const api: Machine = { ...machines.api, configuration: await broughtUp(machines.api) };
const publicKey = api.configuration.public_key;

const value = (folder: string, found: string): Said[] => [
  { kind: "value", folder, title: "database", field: "password", value: found },
];
const reads = async (stage: Stage): Promise<Said[]> =>
  value(folders.production, await stage.machine(api).read(database));
const resolves = async (stage: Stage): Promise<Said[]> =>
  value(folders.production, (await stage.machine(api).resolve(database)).value);
const lists = async (stage: Stage): Promise<Said[]> => saidOf(await stage.machine(api).list());
const writes = async (stage: Stage): Promise<Said[]> => {
  world.truth.value(folders.staging, "database", "password", `written in run ${stage.run}`);
  await stage.machine(api).set(ofStaging, `written in run ${stage.run}`);
  return [];
};

const history = await storedHistory(world, olivia, production);
const endOfFirst = history.findIndex((entry) => claimsOf(entry).ver === 2);

/** The attacker's key for a folder, and every value of the folder sealed under it. */
const replaced = (folder: string, more: Json = {}): Lie =>
  all(handOut(folder, attacker.key, publicKey, more), forgeSecrets(folder, attacker.key, attacker.dek, more));

await t.test("a replaced folder key", async (t) => {
  const ofProduction = replaced(folders.production);
  await expectAttack(t, scene, "reads", { lie: ofProduction, play: reads }, ["key_mismatch", "not_decrypted"]);
  await expectAttack(t, scene, "resolves", { lie: ofProduction, play: resolves }, ["key_mismatch", "not_decrypted"]);
  const staging = replaced(folders.staging);
  await expectAttack(t, scene, "writes", { lie: staging, play: writes }, ["key_mismatch", "not_decrypted"]);
  const later = replaced(folders.production, { key_version: 3 });
  for (const [title, play] of Object.entries({ reads, resolves }))
    await expectAttack(t, scene, `${title} a later version`, { lie: later, play }, ["key_mismatch", "key_rolled_back"]);
  const bare = all(replaced(folders.production), showHistory(production, []));
  await expectAttack(t, scene, "and no history", { lie: bare, play: reads }, [
    "history_rolled_back",
    "key_mismatch",
    "not_decrypted",
  ]);
  const writesBare = all(staging, showHistory(`folder:${folders.staging}`, []));
  await expectAttack(t, scene, "and no history: writes", { lie: writesBare, play: writes }, ["history_rolled_back"]);
});

await t.test("the key from before the rotation", async (t) => {
  const shown = showHistory(production, history.slice(0, endOfFirst));
  const codes = ["history_rolled_back", "key_rolled_back", "key_mismatch", "not_decrypted", "secret_not_found"];
  await expectAttack(
    t,
    scene,
    "the old state",
    { lie: all(replay(world, [...folderLists, ...secretLists]), shown), play: reads },
    codes,
  );
  const old = all(
    handOut(folders.production, oldKeys.production, publicKey),
    forgeSecrets(folders.production, oldKeys.production, attacker.dek),
  );
  await expectAttack(t, scene, "sealed again", { lie: old, play: reads }, codes);
  await expectAttack(t, scene, "sealed again, resolves", { lie: old, play: resolves }, codes);
  const first = all(
    old,
    eachItem([...folderLists, ...secretLists], (item) =>
      item["key_version"] === 2 ? { ...item, key_version: 1 } : item,
    ),
  );
  await expectAttack(t, scene, "as the first version", { lie: first, play: reads }, codes);
});

await t.test("a machine that has not run since the rotation is shown no secrets", async (t) => {
  const ofStart: Machine = machines.api;
  const none = rewrite(secretLists, () => ({ data: [] }));
  world.truth.value(folders.staging, "made", "password", "a new password");
  const makes = async (stage: Stage): Promise<Said[]> => {
    await stage.machine(ofStart).set("coffer://staging/made/field/password", "a new password");
    return [];
  };
  await expectAttack(t, scene, "it writes under the key of now", { lie: none, play: makes }, ["as honest"]);
});

await t.test("entries by those who may not sign", async (t) => {
  const change = { ver: 3, check: await keyCheck(attacker.key, production, 3) };
  const after = async (title: string, changes: Parameters<typeof forgeAfter>[2]): Promise<void> => {
    const entries = await forgeAfter(history, production, changes);
    const more = { key_version: 3, history_seq: entries.length - 1 };
    const lie = all(showHistory(production, entries), replaced(folders.production, more));
    for (const [name, play] of Object.entries({ reads, resolves }))
      await expectAttack(t, scene, `${title}: ${name}`, { lie, play }, ["history_invalid"]);
  };
  await after("a reader", [{ by: by(rita), privateKey: rita.privateKey, change }]);
  await after("a removed manager", [{ by: by(mallory), privateKey: mallory.privateKey, change }]);
  await after("the attacker as the owner", [{ by: by(olivia), privateKey: attacker.privateKey, change }]);
  const accomplice = { set: [{ who: `user:${attacker.id}`, key: attacker.publicKey, perm: "manage" }] };
  await after("a broken chain of managers", [
    { by: by(rita), privateKey: rita.privateKey, change: accomplice },
    { by: `user:${attacker.id}`, privateKey: attacker.privateKey, change },
  ]);
});

await t.test("a fork by a manager who was removed", async (t) => {
  const signed = { by: by(mallory), privateKey: mallory.privateKey };
  const change = { ver: 2, check: await keyCheck(attacker.key, production, 2) };
  const more = Array.from({ length: history.length }, () => ({ ...signed, change: { name: "production" } }));
  const entries = await forgeAfter(history.slice(0, endOfFirst), production, [{ ...signed, change }, ...more]);
  const lie = all(
    showHistory(production, entries),
    replaced(folders.production, { key_version: 2, history_seq: entries.length - 1 }),
  );
  for (const [title, play] of Object.entries({ reads, resolves }))
    await expectAttack(t, scene, title, { lie, play }, ["history_invalid", "history_forked"]);
  await expectAttack(t, scene, "a list leaves it out", { lie, play: lists }, ["as honest"]);
});

await t.test("places, versions and signatures of entries", async (t) => {
  const own = async (title: string, claims: object): Promise<void> => {
    const place = { res: production, seq: history.length, prev: await hashOf(history.at(-1) ?? ""), by: by(olivia) };
    const lie = showHistory(production, [...history, await forge({ ...place, ...claims }, olivia.privateKey)]);
    await expectAttack(t, scene, title, { lie, play: reads }, ["history_invalid"]);
  };
  const check = "ab".repeat(32);
  await own("a version is skipped", { ver: 4, check });
  await own("a version stays", { ver: 2, check });
  await own("an entry is skipped", { seq: history.length + 1, ver: 3, check });
  await own("an entry follows another one", { prev: await hashOf(history.at(-2) ?? ""), ver: 3, check });
  const shorter = showHistory(production, history.slice(0, -1));
  await expectAttack(t, scene, "the newest is dropped", { lie: shorter, play: reads }, [
    "as honest",
    "history_rolled_back",
  ]);
  const malleable = showHistory(production, history.map(malleated));
  const fresh: Machine = machines.api;
  const play = async (stage: Stage): Promise<Said[]> => saidOf(await stage.machine(fresh).list("production"));
  await expectAttack(t, scene, "malleated, from the pin of the bootstrap", { lie: malleable, play }, ["as honest"]);
});

await t.test("a folder from a person who manages none of its folders", async (t) => {
  const id = newId();
  const res = `folder:${id}`;
  const given = async (founder: Person, name: string): Promise<Lie> => {
    const set = [
      { who: by(founder), key: founder.publicKey, perm: "manage" },
      { who: `client:${api.configuration.client_id}`, key: publicKey, perm: "write" },
    ];
    const change = { org: world.org, name, set, ver: 1, check: await keyCheck(attacker.key, res, 1) };
    const entries = await forgeAfter([], res, [{ by: by(founder), privateKey: founder.privateKey, change }]);
    const view = {
      id,
      name,
      permission: "write",
      key_version: 1,
      encrypted_key: await sealedKey(publicKey, attacker.key, contexts.sharedFolderKey(id)),
      encrypted_key_alg: "jwe",
      history_seq: 0,
    };
    return all(
      rewrite(["GET /api/sm/v1/folders"], (body) => ({ data: [view, ...(body["data"] as Json[])] })),
      ({ query, answer }) => (query.includes(id) ? { status: 200, body: { data: [] } } : answer),
      showHistory(res, entries),
    );
  };
  for (const founder of [rita, mallory, people.eve, bob]) {
    const lie = await given(founder, "new");
    await expectAttack(
      t,
      scene,
      `by ${founder.name}: written`,
      {
        lie,
        play: async (stage) => {
          await stage.machine(api).set(`coffer://${id}/a/field/password`, "written by the machine");
          return [];
        },
      },
      ["not_accepted", "history_invalid", "signer_removed"],
    );
    const same = await given(founder, "staging");
    await expectAttack(t, scene, `by ${founder.name}, of a known name: written`, { lie: same, play: writes }, [
      "as honest",
      "name_ambiguous",
    ]);
    await expectAttack(t, scene, `by ${founder.name}, of a known name: read`, { lie: same, play: lists }, [
      "as honest",
    ]);
  }
});

await t.test("the answer about one field", async (t) => {
  const ofProduction = await scene.honest(olivia).secrets.list("production");
  const uid = ofProduction.find(({ title }) => title === "database")?.uid ?? "";
  const resolved = async (notation: string): Promise<Json> => {
    const answers: Json[] = [];
    const listener: Lie = ({ path, answer }) => {
      if (path.endsWith("/notation")) answers.push(answer.body as Json);
      return answer;
    };
    await createClient(api.configuration, { ...impatient, fetch: wire.network("api", listener) }).resolve(notation);
    return answers[0] ?? {};
  };
  const [ofApi, ofUser, inStaging] = [
    await resolved("coffer://production/api/field/password"),
    await resolved("coffer://production/database/field/username"),
    await resolved(ofStaging),
  ];
  const instead = (change: (body: Json) => Json): Lie => rewrite(["POST /api/sm/v1/notation"], change);
  const codes = ["bad_answer", "not_decrypted", "invalid_request"];
  const lies: Record<string, Lie> = {
    "of another secret": instead(() => ofApi),
    "of another field": instead(() => ofUser),
    "of another folder": instead(() => inStaging),
    "of another secret under this title": instead(() => ({ ...ofApi, title: "database" })),
    "of another field under this name": instead(() => ({ ...ofUser, field: "password" })),
    "of another folder under this name": instead((body) => ({
      ...inStaging,
      folder: "production",
      folder_id: body["folder_id"],
    })),
    "without a sealed title": instead((body) => ({
      ...ofApi,
      title: "database",
      title_encrypted: "",
      uid: body["uid"],
    })),
    "another value under this uid": instead((body) => ({ ...body, value_encrypted: ofApi["value_encrypted"] })),
    "another secret without a sealed title": instead(() => ({ ...ofApi, title: "database", title_encrypted: "" })),
    "another secret with this sealed title": instead((body) => ({
      ...ofApi,
      title: "database",
      title_encrypted: body["title_encrypted"],
    })),
  };
  for (const [title, lie] of Object.entries(lies)) {
    await expectAttack(t, scene, title, { lie, play: resolves }, codes);
    await expectAttack(
      t,
      scene,
      `${title}, by uid`,
      {
        lie,
        play: async (stage) =>
          value(
            folders.production,
            (await stage.machine(api).resolve(`coffer://production/${uid}/field/password`)).value,
          ),
      },
      codes,
    );
  }
});

await t.test("tokens and joins", async (t) => {
  const make = async (): Promise<string> => {
    const list = [{ folderId: folders.production, permission: "read" as const }];
    return (await scene.honest(olivia).tokens.create({ applicationId: world.application, name: "api", folders: list }))
      .token;
  };
  const requested = [{ folderId: folders.production, permission: "read" as const }];
  const joins =
    (token: string) =>
    async (stage: Stage): Promise<Said[]> => {
      const configuration = await bootstrapped(
        wire,
        world.truth,
        { name: "newcomer", token, folders: requested },
        stage.lie,
      );
      return saidOf(
        await stage.machine({ name: "newcomer", application: world.application, configuration }).list("production"),
      );
    };
  await expectAttack(t, scene, "an honest join", { lie: ({ answer }) => answer, play: joins(await make()) }, [
    "as honest",
  ]);
  // The key that the token brought, in a folder that was rotated before it was spent.
  const token = await make();
  const sent = wire.exchanges.findLast(({ path, method }) => method === "POST" && path.endsWith("/tokens"))
    ?.body as Json;
  const [brought] = sent["folders"] as { encrypted_folder_key: string }[];
  await scene.honest(olivia).folders.rotate(folders.production);
  const former: Lie = eachItem(folderLists, (item) =>
    item["id"] === folders.production
      ? { ...item, encrypted_key: brought?.encrypted_folder_key, encrypted_key_alg: "box-token" }
      : item,
  );
  await expectAttack(t, scene, "a token whose folder was rotated", { lie: former, play: joins(token) }, [
    "key_mismatch",
    "key_pending",
  ]);
  await expectAttack(
    t,
    scene,
    "the same without a lie",
    { lie: ({ answer }) => answer, play: joins(await rotatedToken(make)) },
    ["key_pending"],
  );
  // The server replaces the history by one of its own, with the invitation of the token in it.
  const shown = await make();
  const { tokenHash } = await readAccessToken(shown);
  const genuine = await storedHistory(world, olivia, production);
  const invitation = claimsOf(genuine.at(-1) ?? "").invite?.[0];
  const founding = {
    org: world.org,
    name: "production",
    set: [{ who: by(olivia), key: attacker.publicKey, perm: "manage" }],
    ver: 1,
    check: await keyCheck(attacker.key, production, 1),
  };
  const forged = async (invite: object): Promise<Lie> => {
    const entries = await forgeAfter([], production, [
      { by: by(olivia), privateKey: attacker.privateKey, change: founding },
      { by: by(olivia), privateKey: attacker.privateKey, change: { invite: [invite] } },
    ]);
    return all(
      showHistory(production, entries),
      handOut(folders.production, attacker.key, publicKey, { key_version: 1 }),
    );
  };
  t.equal(invitation?.tag, tokenHash);
  const codes = ["join_invalid"];
  const noise = await box(attacker.key, new Uint8Array(138), contexts.join(production, 1, null));
  await expectAttack(
    t,
    scene,
    "another history, with the invitation's tag",
    { lie: await forged({ ...invitation, join_key: attacker.publicKey, sealed: noise }), play: joins(shown) },
    codes,
  );
  const second = await make();
  const ofSecond = claimsOf((await storedHistory(world, olivia, production)).at(-1) ?? "").invite?.[0];
  await expectAttack(
    t,
    scene,
    "another history, with the genuine invitation",
    { lie: await forged({ ...ofSecond }), play: joins(second) },
    codes,
  );
  await expectAttack(
    t,
    scene,
    "a history without the invitation",
    { lie: showHistory(production, genuine.slice(0, -1)), play: joins(await make()) },
    codes,
  );
  const third = await make();
  const open = await storedHistory(world, olivia, production);
  const last = claimsOf(open.at(-1) ?? "");
  const stolen = await forge(
    { ...last, invite: last.invite?.map((one) => ({ ...one, join_key: attacker.publicKey })) },
    attacker.privateKey,
  );
  await expectAttack(
    t,
    scene,
    "another join key in the invitation",
    { lie: showHistory(production, [...open.slice(0, -1), stolen]), play: joins(third) },
    ["history_invalid", "join_invalid"],
  );
  // Signed by a manager, as if by mistake: two invitations with one tag.
  const fourth = await make();
  const before = await storedHistory(world, olivia, production);
  const twice = claimsOf(before.at(-1) ?? "").invite?.[0];
  const ambiguous = await forgeAfter(before, production, [
    { by: by(olivia), privateKey: olivia.privateKey, change: { invite: [twice] } },
  ]);
  await expectAttack(
    t,
    scene,
    "an ambiguous invitation",
    { lie: showHistory(production, ambiguous), play: joins(fourth) },
    ["history_invalid", "join_invalid"],
  );
  // The machine's join is there already, with another key than its own.
  const fifth = await make();
  const unjoined = await storedHistory(world, olivia, production);
  const joined = async (publicKeyOfJoin: string, privateKey: Uint8Array): Promise<Lie> => {
    const cut = await readAccessToken(fifth);
    return async (exchange) => {
      if (!exchange.path.endsWith("/history") || exchange.method !== "GET") return exchange.answer;
      const client = [...wire.exchanges]
        .reverse()
        .find(({ path, answer }) => path === "/api/sm/v1/client" && answer.status === 200)?.answer.body as
        Json | undefined;
      const set = [{ who: `client:${String(client?.["client_id"])}`, key: publicKeyOfJoin, perm: "read" }];
      const entries = await forgeAfter(unjoined, production, [
        { by: `invite:${cut.tokenHash}`, privateKey, change: { set } },
      ]);
      return showHistory(production, entries)(exchange);
    };
  };
  await expectAttack(
    t,
    scene,
    "a join with a different key",
    { lie: await joined(attacker.publicKey, attacker.privateKey), play: joins(fifth) },
    ["history_invalid", "join_invalid"],
  );
});

/** A token whose folder was rotated since. */
async function rotatedToken(make: () => Promise<string>): Promise<string> {
  const token = await make();
  await scene.honest(olivia).folders.rotate(folders.production);
  return token;
}

await t.test("a machine that was removed gets no new key", async (t) => {
  const lost = await newMachine(wire, world.truth, olivia, {
    name: "lost",
    application: world.application,
    folders: [[folders.production, "read"]],
  });
  const { client_id: id, public_key, private_key } = lost.configuration;
  await scene.honest(olivia).machines.remove(world.application, id);
  scene.oracle.hostile.set(public_key, decodeBase64(private_key));
  const lie: Lie = rewrite(["GET /api/org/folders/{id}/members"], (body) => ({
    data: [
      ...(body["data"] as Json[]).filter((item) => item["id"] !== id),
      { kind: "client", id, name: "lost", permission: "read", public_key, has_key: false },
    ],
  }));
  // While the server hides the removal, the machine is a holder by the history: the next honest
  // rotation drops it.
  await scene.honest(olivia).folders.rotate(folders.production);
  await expectAttack(
    t,
    scene,
    "at the next rotation",
    {
      lie,
      play: async (stage) => {
        await stage.person(olivia).folders.rotate(folders.production);
        return [];
      },
    },
    ["as honest", "conflict", "invalid_request", "holder_unconfirmed"],
  );
});
