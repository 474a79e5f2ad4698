import { keyCheck, newId } from "@coffer/crypto";
import type { Resource } from "@coffer/history";
import { memoryTrust, personClient } from "@coffer/sdk";
import type { PersonClient, TrustStorage } from "@coffer/sdk";
import { login } from "@coffer/sdk/account";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { claimsOf, forge, hashOf } from "./attacker.ts";
import { expectAttack, newScene } from "./attack.ts";
import * as lies from "./lies.ts";
import { limits } from "./limits.ts";
import { createWire } from "./wire.ts";
import type { Lie } from "./wire.ts";
import { emailOf, impatient, newPerson, password } from "./world.ts";
import type { Person } from "./world.ts";
import { npmStart } from "../npm-start.ts";

// Trent manages a folder and a vault. Olivia removes him, and the service hides both from her, so that
// her entry says nothing of them. He comes back with the same key, and gives the service what he signed
// while he was away: a new key that he and the service know.

const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const wire = createWire(url);
const scene = await newScene(wire);
const { truth, people, attacker } = scene.world;
const { olivia, anna } = people;
const idOf = ({ session }: Person): string => session.user.id;
const email = emailOf("trent");
const invited = async (): Promise<string> => (await scene.honest(olivia).invites.create(email, "member")).token;

const invitation = await invited();
const trent = await newPerson(wire, truth, "trent", { email, inviteToken: invitation });
await scene.honest(trent).invites.accept(invitation);
const me = scene.honest(anna);
const { id: folder } = await me.folders.create("wages");
const { id: vault } = await me.vaults.create("shift", { type: "shared" });
truth.name(`folder:${folder}`, "wages");
truth.name(`vault:${vault}`, "shift");
for (const res of [`folder:${folder}`, `vault:${vault}`] as const)
  for (const who of [anna, trent]) truth.grant(res, `user:${idOf(who)}`, "manage");
await me.folders.share(folder, { userId: idOf(trent), permission: "manage" });
await me.vaults.share(vault, { userId: idOf(trent), permission: "manage" });
await scene.honest(trent).folders.accept(folder);
await scene.honest(trent).vaults.accept(vault);

const record = await me.records.create(vault, { type: "login", fields: { password: "of the shift" } });
truth.value(vault, record.id, "password", "of the shift");

/** What Trent signs while he is away: the next version of the key, which is the attacker's. */
async function wentOn(res: Resource): Promise<Lie> {
  const entries = await lies.storedHistory(scene.world, anna, res);
  const last = entries.at(-1) ?? "";
  const { seq } = claimsOf(last);
  const check = await keyCheck(attacker.key, res, 2);
  const claims = { res, seq: seq + 1, prev: await hashOf(last), by: `user:${idOf(trent)}`, ver: 2, check };
  return lies.showHistory(res, [...entries, await forge(claims, trent.privateKey)]);
}
const [onFolder, onVault] = [await wentOn(`folder:${folder}`), await wentOn(`vault:${vault}`)];
const atVersion2 = { key_version: 2 };
const lie = lies.all(
  onFolder,
  onVault,
  lies.handOut(folder, attacker.key, anna.publicKey, atVersion2),
  lies.handOutVault(vault, attacker.key, anna.publicKey, atVersion2),
  lies.forgeSecrets(folder, attacker.key, attacker.dek, atVersion2),
  lies.forgeRecords(vault, attacker.key),
);

const deviceOf = (trust: TrustStorage, lied?: Lie): PersonClient =>
  personClient(anna.session, wire.url, { ...impatient, fetch: wire.network("anna", lied), trust });
/** Every use of the folder and the vault; each must be refused by itself. */
const uses: [what: string, use: (client: PersonClient) => Promise<unknown>][] = [
  ["writes a secret", (client) => client.secrets.set(`coffer://${folder}/db/field/password`, "of Anna")],
  ["writes a record", (client) => client.records.create(vault, { type: "login", fields: { password: "of Anna" } })],
  ["reads records", (client) => client.records.list(vault)],
  ["rotates the folder", (client) => client.folders.rotate(folder)],
  ["rotates the vault", (client) => client.vaults.rotate(vault)],
];

await t.test("what a returned manager signed while he was away counts on no device", async (t) => {
  const phone = memoryTrust();
  for (const device of [deviceOf(anna.trust), deviceOf(phone)]) {
    await device.folders.list();
    await device.vaults.list();
  }
  const hides = lies.all(
    lies.rewrite(["GET /api/org/members/{id}/heads"], () => ({ data: {} })),
    lies.rewrite(["GET /api/org/folders"], () => ({ data: [] })),
  );
  const newDevice = personClient(olivia.session, wire.url, {
    ...impatient,
    fetch: wire.network("olivia", hides),
    trust: memoryTrust(),
  });
  t.match(await newDevice.members.remove(idOf(trent)), { signed: true, rotate: [] });
  await me.members.confirmed();
  await me.folders.list();
  await me.vaults.list();
  const travelled = memoryTrust(structuredClone(await anna.trust.load()));
  await travelled.change((before) => {
    const { [`vault:${vault}`]: hidden, ...resources } = before.resources;
    t.ok(hidden);
    return { ...before, resources };
  });

  const device = { id: newId(), name: "test", type: "cli" };
  const options = { ...impatient, fetch: wire.network("trent", undefined) };
  trent.session = await login({ url: wire.url, email, password, device }, options);
  await scene.honest(trent).invites.accept(await invited());
  t.strictSame(await scene.oracle.verdict({}), [], "all actors are honest until here");
  scene.oracle.known.set("the key that Trent and the service have chosen", attacker.key);

  for (const [what, use] of uses)
    for (const [name, record] of [
      ["the device that saw the removal", await anna.trust.load()],
      ["one that sees it with the return", await phone.load()],
      ["one that travel mode made forget", await travelled.load()],
      ["a new one", await memoryTrust().load()],
    ] as const)
      await expectAttack(
        t,
        scene,
        `${name} ${what}`,
        {
          lie,
          play: async () => {
            await use(deviceOf(memoryTrust(structuredClone(record)), lie));
            return [];
          },
        },
        ["signer_removed"],
      );
});

await t.test("and no device is locked out of what its managers sign", async (t) => {
  for (const trust of [anna.trust, memoryTrust()]) {
    const device = deviceOf(trust);
    await device.folders.rotate(folder);
    await device.vaults.rotate(vault);
    t.match(
      (await device.folders.list()).find(({ id }) => id === folder),
      { problem: null },
    );
  }
  await me.folders.share(folder, { userId: idOf(trent), permission: "manage" });
  await scene.honest(trent).members.confirmed();
  t.match(await scene.honest(trent).folders.rotate(folder), { left_out: [] }, "who was set again manages again");
  t.match(
    (await deviceOf(memoryTrust()).folders.list()).find(({ id }) => id === folder),
    { problem: null },
  );
  t.strictSame(await scene.oracle.verdict({}), []);
});
