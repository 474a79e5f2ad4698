import t from "tap";
import { changedIn, memoryTrust } from "../src/trust/trust-storage.ts";
import { idOf, withMallory } from "./departed-manager.ts";
import { signPastClients } from "./history-people.ts";

// A manager leaves the organization, and the service keeps a folder and a vault out of the removal. The
// manager returns with the same key. What a device knows of that lasts: on a new device, after a restore
// of the service, when another device knows more, and for a vault that is forgotten.

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
