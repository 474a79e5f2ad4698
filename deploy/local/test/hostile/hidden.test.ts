import { keyCheck } from "@coffer/crypto";
import type { Resource } from "@coffer/history";
import { memoryTrust, personClient } from "@coffer/sdk";
import type { PersonClient, TrustStorage } from "@coffer/sdk";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { claimsOf, forge, hashOf } from "./attacker.ts";
import { expectAttack, newScene } from "./attack.ts";
import * as lies from "./lies.ts";
import { limits } from "./limits.ts";
import { createWire } from "./wire.ts";
import type { Lie } from "./wire.ts";
import { emailOf, impatient, machineOf, newMachine, newPerson, vaultKeyOf } from "./world.ts";
import type { Person } from "./world.ts";
import { npmStart } from "../npm-start.ts";

// Attacks by a server that hides a folder or vault from a device, and shows another one instead, or
// shows it again.

const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const wire = createWire(url);
const scene = await newScene(wire);
const { world, oracle } = scene;
const { truth, people, attacker } = world;
const { olivia, anna, bob, rita } = people;
const idOf = ({ session }: Person): string => session.user.id;
const owner = scene.honest(olivia);

/** The stored history, with one more entry that a person has signed. */
async function signed(by: Person, res: Resource, change: object, reader = by): Promise<string[]> {
  const entries = await lies.storedHistory(world, reader, res);
  const last = entries.at(-1) ?? "";
  const place = { seq: claimsOf(last).seq + 1, prev: await hashOf(last) };
  return [...entries, await forge({ res, ...place, by: `user:${idOf(by)}`, ...change }, by.privateKey)];
}

function hides(kind: string, ids: readonly string[]): Lie {
  const isShown = ({ id }: lies.Json): boolean => !ids.includes(String(id));
  return lies.rewrite([kind], (body) => ({ ...body, data: (body["data"] as lies.Json[]).filter(isShown) }));
}

await t.test("a folder or vault is renamed to one that the service hides", async (t) => {
  const { staging } = world.folders;
  const { id: folder } = await owner.folders.create("scratch");
  const { id: vault } = await owner.vaults.create("lunch", { type: "shared" });
  truth.name(`folder:${folder}`, "scratch");
  truth.name(`vault:${vault}`, "lunch");
  for (const [who, permission] of [
    [rita, "manage"],
    [bob, "write"],
  ] as const) {
    for (const res of [`folder:${folder}`, `vault:${vault}`]) {
      truth.grant(res, `user:${idOf(who)}`, permission);
      truth.colluding.add(`${res}|${rita.publicKey}`);
    }
    await owner.folders.share(folder, { userId: idOf(who), permission });
    await owner.vaults.share(vault, { userId: idOf(who), permission });
    await scene.honest(who).folders.accept(folder);
    await scene.honest(who).vaults.accept(vault);
    await scene.honest(who).vaults.list();
  }
  await owner.secrets.set(`coffer://${folder}/database/field/password`, "of Rita's choice");
  const machine = await newMachine(wire, truth, olivia, {
    name: "reader",
    application: world.application,
    folders: [
      [staging, "read"],
      [folder, "read"],
    ],
  });
  await machineOf(wire, machine).list();
  t.strictSame(await oracle.verdict({}), [], "all actors are honest until here");
  const { key } = await owner.folders.find(folder);
  oracle.known.set("the key of Rita's folder", key ?? new Uint8Array());
  oracle.known.set("the key of Rita's vault", await vaultKeyOf(wire, bob, vault));

  const renamed = async (res: Resource, name: string): Promise<Lie> => {
    const entries = await signed(rita, res, { name });
    oracle.genuine.add(await hashOf(entries.at(-1) ?? ""));
    return lies.showHistory(res, entries);
  };
  const lie = lies.all(
    await renamed(`folder:${folder}`, "staging"),
    await renamed(`vault:${vault}`, "team"),
    hides("GET /api/org/folders", [staging]),
    hides("GET /api/sm/v1/folders", [staging]),
    hides("GET /api/vaults", [world.team.id]),
  );
  const notation = "coffer://staging/database/field/password";
  const field = { kind: "value", folder: staging, title: "database", field: "password" } as const;
  await expectAttack(
    t,
    scene,
    "Bob writes a secret",
    {
      lie,
      play: async (stage) => {
        await stage.person(bob).secrets.set(notation, "a new password of bob");
        return [];
      },
    },
    ["name_ambiguous"],
  );
  await expectAttack(
    t,
    scene,
    "Bob reads",
    {
      lie,
      play: async (stage) => [{ ...field, value: await stage.person(bob).secrets.read(notation) }],
    },
    ["name_ambiguous"],
  );
  await expectAttack(
    t,
    scene,
    "a machine reads",
    {
      lie,
      play: async (stage) => {
        const reader = stage.machine(machine);
        await reader.folders();
        return [{ ...field, value: await reader.read(notation) }];
      },
    },
    ["name_ambiguous"],
  );
  await expectAttack(
    t,
    scene,
    "Bob writes a record",
    {
      lie,
      play: async (stage) => {
        const me = stage.person(bob);
        const { id } = await me.vaults.find("team");
        await me.records.create(id, { type: "login", fields: { password: "a new password of bob" } });
        return [];
      },
    },
    ["name_ambiguous"],
  );
});

await t.test("after a manager has renamed a folder, its other members still use it", async (t) => {
  const { id: before } = await owner.folders.create("reports");
  const { id: after } = await owner.folders.create("drafts");
  for (const id of [before, after]) {
    truth.grant(`folder:${id}`, `user:${idOf(bob)}`, "write");
    await owner.folders.share(id, { userId: idOf(bob), permission: "write" });
    await scene.honest(bob).folders.accept(id);
  }
  const bobs = scene.honest(bob);
  await bobs.folders.list();
  await owner.folders.rename(after, "other drafts");
  t.match(await bobs.folders.find("other drafts"), { id: after }, "a name that no other folder has");
  await owner.folders.remove(before, { force: true });
  await owner.folders.rename(after, "reports");
  await bobs.folders.list();
  await t.rejects(bobs.folders.find("reports"), { code: "name_ambiguous" });
  t.match(await bobs.folders.find(after), { id: after }, "by its id");
  await bobs.folders.accept(after);
  t.match(await bobs.folders.find("reports"), { id: after }, "after the new name was accepted");
  t.match(await scene.honest(olivia).folders.find("reports"), { id: after }, "for the manager who renamed it");
  t.strictSame(await oracle.verdict({}), []);
});

await t.test("a new device removes a member, and sees neither the folder nor the vault that it manages", async (t) => {
  const email = emailOf("trent");
  const { token } = await owner.invites.create(email, "member");
  const trent = await newPerson(wire, truth, "trent", { email, inviteToken: token });
  await scene.honest(trent).invites.accept(token);
  const annas = scene.honest(anna);
  const { id: folder } = await annas.folders.create("wages");
  const { id: vault } = await annas.vaults.create("shift", { type: "shared" });
  const resources = [`folder:${folder}`, `vault:${vault}`] as const;
  for (const res of resources) for (const who of [anna, trent]) truth.grant(res, `user:${idOf(who)}`, "manage");
  await annas.folders.share(folder, { userId: idOf(trent), permission: "manage" });
  await annas.vaults.share(vault, { userId: idOf(trent), permission: "manage" });
  await annas.secrets.set(`coffer://${folder}/db/field/password`, "of the wages");
  await annas.records.create(vault, { type: "login", fields: { password: "of the shift" } });
  truth.value(folder, "db", "password", "of the wages");

  let lie: Lie = lies.all(
    lies.rewrite(["GET /api/org/members/{id}/heads"], () => ({ data: {} })),
    hides("GET /api/org/folders", [folder]),
    hides("GET /api/vaults", [vault]),
  );
  const deviceOf = (trust: TrustStorage): PersonClient =>
    personClient(anna.session, wire.url, {
      ...impatient,
      fetch: wire.network("anna", (exchange) => lie(exchange)),
      trust,
    });
  const laptop = memoryTrust();
  t.match(await deviceOf(laptop).members.remove(idOf(trent)), { signed: true, rotate: [] });
  t.strictSame(await oracle.verdict({}), [], "all clients are honest until here");
  oracle.hostile.set(trent.publicKey, trent.privateKey);
  oracle.known.set("the key that Trent and the service have chosen", attacker.key);

  const next = async (res: Resource): Promise<Lie> =>
    lies.showHistory(res, await signed(trent, res, { ver: 2, check: await keyCheck(attacker.key, res, 2) }, anna));
  const atVersion2 = { key_version: 2 };
  lie = lies.all(
    await next(`folder:${folder}`),
    await next(`vault:${vault}`),
    lies.handOut(folder, attacker.key, anna.publicKey, atVersion2),
    lies.handOutVault(vault, attacker.key, anna.publicKey, atVersion2),
    lies.forgeSecrets(folder, attacker.key, attacker.dek, atVersion2),
    lies.forgeRecords(vault, attacker.key),
  );
  const uses: [what: string, use: (client: PersonClient) => Promise<unknown>][] = [
    ["writes a secret", (client) => client.secrets.set(`coffer://${folder}/db/field/password`, "of Anna")],
    ["reads secrets", (client) => client.secrets.list(folder)],
    ["writes a record", (client) => client.records.create(vault, { type: "login", fields: { password: "of Anna" } })],
    ["reads records", (client) => client.records.list(vault)],
    ["rotates the folder", (client) => client.folders.rotate(folder)],
    ["rotates the vault", (client) => client.vaults.rotate(vault)],
  ];
  for (const [name, record] of [
    ["the device that removed him", await laptop.load()],
    ["the first device", await anna.trust.load()],
    ["one more device", await memoryTrust().load()],
  ] as const)
    for (const [what, use] of uses) {
      const play = async (): Promise<[]> => {
        await use(deviceOf(memoryTrust(structuredClone(record))));
        return [];
      };
      await expectAttack(t, scene, `${name} ${what}`, { lie, play }, ["signer_removed"]);
    }

  oracle.hostile.delete(trent.publicKey);
  for (const trust of [laptop, anna.trust, memoryTrust()]) {
    lie = ({ answer }) => answer;
    const device = deviceOf(trust);
    t.match(await device.folders.rotate(folder), { left_out: [] });
    t.match(await device.vaults.rotate(vault), { left_out: [] });
    t.match((await device.records.list(vault))[0]?.fields, { password: "of the shift" });
  }
  t.strictSame(await oracle.verdict({}), [], "an honest service shows all, and each device goes on");
});
