import t from "tap";
import { box, contexts, encodeRecord, encodeSecret, unboxBound } from "@coffer/crypto";
import { testDirectory } from "@coffer/testkit";
import { expectAttack, newScene, type Scene } from "./attack.ts";
import { mark } from "./attacker.ts";
import { objectsIn } from "./collusion.ts";
import { saidOf } from "./step.ts";
import { all, eachItem, type Json, recordAnswers, secretAnswers } from "./lies.ts";
import { limits } from "./limits.ts";
import type { Said } from "./oracle.ts";
import type { Stage } from "./stage.ts";
import { createWire, type Lie } from "./wire.ts";
import { npmStart } from "../npm-start.ts";

// Mallory was removed, and gives the operator the DEK of each secret from before the rotation. With them the
// operator encrypts payloads of its own. No client may print one: the rotation has made new DEKs.

const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const scene = await newScene(createWire(url));
const { world } = scene;
const { people, machines, folders, oldKeys, team } = world;
const { olivia, bob } = people;

const honest: Lie = ({ answer }) => answer;

/** The DEKs of production that the key from before the rotation opens, by the secret's uid. */
const formerDeks = await deksOf(scene, oldKeys.production);

async function deksOf({ world: { wire } }: Scene, key: Uint8Array): Promise<Map<string, Uint8Array>> {
  const deks = new Map<string, Uint8Array>();
  for (const { uid, wrapped_dek: wrapped } of wire.exchanges.flatMap(({ answer }) => objectsIn(answer.body))) {
    if (typeof uid !== "string" || typeof wrapped !== "string") continue;
    const dek = await unboxBound(key, wrapped, contexts.dek(uid)).catch(() => undefined);
    if (dek !== undefined) deks.set(uid, dek);
  }
  return deks;
}

/** Each payload of production that a former DEK can encrypt, with content of the attacker. */
const forgedPayloads = (deks: ReadonlyMap<string, Uint8Array>): Lie =>
  eachItem(secretAnswers, async (item) => {
    const dek = item["folder_id"] === folders.production ? deks.get(String(item["uid"])) : undefined;
    if (dek === undefined) return item;
    const forged = encodeSecret({ name: String(item["title"]), fields: { password: mark, username: mark } });
    return { ...item, data_encrypted: await box(dek, forged, contexts.data(String(item["uid"]))) };
  });

const notation = (title: string): string => `coffer://production/${title}/field/password`;
const reads =
  (who: "olivia" | "bob" | "api", title: string) =>
  async (stage: Stage): Promise<Said[]> => {
    const value =
      who === "api"
        ? await stage.machine(machines.api).read(notation(title))
        : await stage.person(people[who]).secrets.read(notation(title));
    return [{ kind: "value", folder: folders.production, title, field: "password", value }];
  };

await t.test("a payload under a DEK that the removed member had", async (t) => {
  t.equal(formerDeks.size, 2, "the operator has the DEKs of both secrets");
  const lie = forgedPayloads(formerDeks);
  // "api" was not written since the rotation, "database" was.
  for (const title of ["api", "database"])
    for (const who of ["olivia", "bob", "api"] as const)
      await expectAttack(t, scene, `${who} reads ${title}`, { lie, play: reads(who, title) }, ["not_decrypted"]);
  await expectAttack(
    t,
    scene,
    "olivia lists the folder",
    { lie, play: async (stage) => saidOf(await stage.person(olivia).secrets.list("production")) },
    ["as honest", "not_decrypted"],
  );
});

await t.test("without a lie each value is read as before", async (t) => {
  for (const title of ["api", "database"])
    for (const who of ["olivia", "bob", "api"] as const)
      await expectAttack(t, scene, `${who} reads ${title}`, { lie: honest, play: reads(who, title) }, ["as honest"]);
});

await t.test("a payload that the rotating member was not shown keeps no DEK from before", async (t) => {
  // The operator shows noise instead of the payload, so that the client cannot encrypt it again.
  const present = await scene.honest(olivia).folders.find("production");
  if (present.key === null) throw new Error("the owner has no key of production");
  const deks = await deksOf(scene, present.key);
  t.ok(deks.size >= 2, "a reader of the present version, who is removed now, has these DEKs");
  const noise = Buffer.alloc(128, 7).toString("base64");
  const hidden: Lie = eachItem(["GET /api/org/folders/{id}/secrets"], (item) =>
    item["folder_id"] === folders.production ? { ...item, data_encrypted: noise } : item,
  );
  const rotates = async (stage: Stage): Promise<Said[]> => {
    const { unopened } = await stage.person(olivia).folders.rotate(folders.production);
    t.strictSame(
      unopened.map(({ parts }) => parts),
      unopened.map(() => ["dek", "payload"]),
      "and it is named",
    );
    t.equal(unopened.length, 2);
    return [];
  };
  await expectAttack(t, scene, "olivia rotates", { lie: hidden, play: rotates }, ["as honest"]);
  const lie = all(forgedPayloads(formerDeks), forgedPayloads(deks));
  for (const who of ["olivia", "bob", "api"] as const)
    await expectAttack(t, scene, `${who} reads`, { lie, play: reads(who, "api") }, ["not_decrypted"]);
});

await t.test("a record under the vault key that the removed member had", async (t) => {
  const forged = encodeRecord({ name: mark, password: mark });
  const lie: Lie = eachItem(recordAnswers, async (item: Json) =>
    item["vault_id"] === team.id
      ? { ...item, encrypted_data: await box(oldKeys.team, forged, contexts.record(team.id, String(item["id"]))) }
      : item,
  );
  for (const who of [olivia, bob]) {
    const play = async (stage: Stage): Promise<Said[]> => {
      const { fields } = await stage.person(who).records.get(team.id, team.record);
      return Object.entries(fields).map(([field, value]) => ({
        kind: "value",
        folder: team.id,
        title: team.record,
        field,
        value,
      }));
    };
    await expectAttack(t, scene, `${who.name} reads it`, { lie, play }, ["not_decrypted"]);
  }
});
