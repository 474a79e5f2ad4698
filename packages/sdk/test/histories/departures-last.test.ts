import { contexts, decodeBase64, decodeText, unboxBound } from "@coffer/crypto";
import type { Resource } from "@coffer/history";
import t from "tap";
import { changedIn, memoryTrust } from "../../src/trust/trust-storage.ts";
import { idOf, withMallory } from "../server/departed-manager.ts";
import { signPastClients } from "../server/history-people.ts";

// A manager leaves the organization, and the service keeps a folder and a vault out of the removal. The
// manager returns with the same key. What a device knows of that lasts: on a new device, after a restore
// of the service, when another device knows more.

for (const [kind, how] of [
  ["folder", "the keyring"],
  ["vault", "the keyring"],
  ["folder", "the keyring after the invitation"],
  ["folder", "`org trust`"],
] as const)
  await t.test(`a person who returns on a new device, with ${how}, knows who left: ${kind}`, async (t) => {
    const { alice, olga, server, organizationId, folder, vault, remove, comeBack, goOn, use } = await withMallory(t);
    await alice.client().folders.list();
    await alice.client().vaults.list();
    const [grants, members] = [server.folders.get(folder)?.grants ?? [], server.vaults.get(vault)?.members ?? []];
    const grant = grants.find(({ id }) => id === idOf(alice));
    const member = members.find(({ user_id }) => user_id === idOf(alice));
    if (grant === undefined || member === undefined) throw new Error("Alice has both");
    await olga.client().members.remove(idOf(alice), { force: true });
    await remove();
    await comeBack();
    const { token } = await olga.client().invites.create("alice@example.com", "member");
    const trust = memoryTrust();
    const keyring = server.keyrings.get(idOf(alice));
    if (keyring === undefined) throw new Error("the first device has written one");
    if (how === "the keyring after the invitation") server.keyrings.delete(idOf(alice));
    await alice.client({ trust }).invites.accept(token);
    server.keyrings.set(idOf(alice), keyring);
    if (how === "`org trust`") {
      // An earlier version stored nothing about who had left.
      await trust.change((before) => changedIn(before, `org:${organizationId}`, (org) => ({ ...org, missed: [] })));
      await alice.client({ trust }).organizations.trust(organizationId, () => Promise.resolve(true));
    }
    // The service lists Alice for both again.
    server.folders.get(folder)?.grants.push(grant);
    server.vaults.get(vault)?.members.push(member);
    t.equal(await use(kind, trust), "done");
    await goOn(kind, "Mallory's");
    t.equal(await use(kind, trust), "signer_removed");
  });

for (const [kind, isForked] of [
  ["folder", false],
  ["folder", true],
  ["vault", false],
] as const)
  await t.test(
    `\`${kind} trust\` after a restore keeps who left${isForked ? ", with other entries since" : ""}`,
    async (t) => {
      const { alice, olga, server, res, folder, vault, mallory, remove, comeBack, goOn, use } = await withMallory(t);
      const rename = (name: string): Promise<unknown> =>
        kind === "folder" ? olga.client().folders.rename(folder, name) : olga.client().vaults.update(vault, { name });
      const before = server.histories.get(res[kind]);
      if (before === undefined) throw new Error("it has a history");
      await rename("Earnings");
      await alice.client().folders.list();
      await alice.client().vaults.list();
      await remove();
      await alice.client().members.confirmed();
      await alice.client().folders.list();
      await alice.client().vaults.list();
      server.histories.set(res[kind], before);
      if (isForked) await signPastClients(server, olga, res[kind], { name: "Pay" });
      const ask = { folder: alice.client().folders.trust, vault: alice.client().vaults.trust }[kind];
      await ask({ folder, vault }[kind], () => Promise.resolve(true));
      const restored = server.histories.get(res[kind]);
      if (restored === undefined) throw new Error("it has a history");
      await comeBack();
      t.equal(await use(kind), "done");
      await goOn(kind, "Mallory's");
      t.equal(await use(kind), "signer_removed");
      server.histories.set(res[kind], restored);
      await signPastClients(server, alice, res[kind], {
        set: restored.state.holders.filter(({ who }) => who === `user:${idOf(mallory)}`),
      });
      await goOn(kind, "Salaries");
      t.equal(await use(kind), "done", "after another manager has set the person again");
    },
  );

for (const kind of ["folder", "vault"] as const)
  await t.test(`who leaves after a restore of the organization counts for a pin from before it: ${kind}`, async (t) => {
    const { alice, server, organizationId, remove, comeBack, goOn, use } = await withMallory(t);
    const before = server.histories.get(`org:${organizationId}`);
    if (before === undefined) throw new Error("it has a history");
    for (const name of ["nina", "oskar", "petra", "quirin"])
      await alice.client().invites.create(`${name}@example.com`, "member");
    await alice.client().folders.list();
    await alice.client().vaults.list();
    server.histories.set(`org:${organizationId}`, before);
    await alice.client().organizations.trust(organizationId, () => Promise.resolve(true));
    // With a lower number than that of the entry against which the pin was checked.
    await remove();
    await comeBack();
    await alice.client().members.confirmed();
    await goOn(kind, "Mallory's");
    t.equal(await use(kind), "signer_removed");
  });

await t.test("who left is published, also when a vault is listed before the folder", async (t) => {
  const { alice, server, res, remove } = await withMallory(t);
  await alice.client().folders.list();
  await remove();
  await alice.client().members.confirmed();
  await alice.client().vaults.list();
  await alice.client().folders.list();
  const { version, sealed } = server.keyrings.get(idOf(alice)) ?? { version: 0, sealed: "" };
  const context = contexts.keyring(idOf(alice), version);
  const opened = decodeText(await unboxBound(decodeBase64(alice.session.user_key), sealed, context));
  const { left } = JSON.parse(opened) as { left?: Record<string, unknown> };
  t.match(left?.[res.folder], [{ until: { seq: Number } }]);
});

await t.test("what another device knows of who left is counted, also during a check of the signers", async (t) => {
  const company = await withMallory(t);
  const { alice, olga, server, join, organizationId, folder, res, remove, comeBack, goOn, use } = company;
  // Of Bob's removal the organization names an entry. A check of the signers reads that entry.
  const bob = await join("bob@example.com", "admin");
  await alice.client().folders.share(folder, { userId: idOf(bob), permission: "manage" });
  await bob.client().folders.accept(folder);
  await bob.client().folders.rename(folder, "Earnings");
  await olga.client().folders.list();
  await olga.client().members.remove(idOf(bob));
  for (const name of ["Wages", "Pay"]) await olga.client().folders.rename(folder, name);
  const trust = memoryTrust();
  for (const device of [alice.client(), alice.client({ trust })]) await device.folders.list();
  const org: Resource = `org:${organizationId}`;
  const held = (of: Resource) => server.histories.get(of) ?? { entries: [], state: never(of) };
  const before = held(org);
  await remove();
  const [after, honest] = [held(org), held(res.folder)];
  // One device reads what Mallory signs before it sees the removal.
  server.histories.set(org, before);
  await goOn("folder", "Mallory's");
  t.match(await alice.client().folders.list(), [{ name: "Mallory's", problem: null }]);
  const signed = held(res.folder);
  // The other device sees the removal first.
  server.histories.set(org, after);
  server.histories.set(res.folder, honest);
  await alice.client({ trust }).members.confirmed();
  await alice.client({ trust }).folders.list();
  await alice.client({ trust }).folders.create("other");
  server.histories.set(res.folder, signed);
  await comeBack();
  // The unknown folder makes the first device merge the keyring while it checks the known one.
  await alice.client().members.confirmed();
  await alice.client().folders.list();
  t.equal(await use("folder"), "signer_removed");
});

await t.test("a history is not trusted by an answer from before another device's word of who left", async (t) => {
  const { alice, folder, vault, res, remove, comeBack } = await withMallory(t);
  await alice.client().folders.list();
  await alice.client().vaults.list();
  await remove();
  await comeBack();
  await alice.client().members.confirmed();
  await alice.client().folders.list();
  await alice.client().vaults.list();
  /** Another process of the device merges a lower limit. */
  const meanwhile = (of: Resource) => async (): Promise<boolean> => {
    await alice.trust.change((record) =>
      changedIn(record, of, ({ left = [], ...known }) => ({
        ...known,
        left: left.map((one) => ({ ...one, until: one.until && { ...one.until, seq: one.until.seq - 1 } })),
        checked_by: undefined,
      })),
    );
    return true;
  };
  await t.rejects(alice.client().folders.trust(folder, meanwhile(res.folder)), { code: "conflict" });
  await t.rejects(alice.client().vaults.trust(vault, meanwhile(res.vault)), { code: "conflict" });
});

function never(res: Resource): never {
  throw new Error(`there is no history of ${res}`);
}
