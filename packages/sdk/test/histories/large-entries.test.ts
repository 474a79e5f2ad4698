import { newAccessToken, newId, newKeyPair, readAccessToken } from "@coffer/crypto";
import { makeInvitation } from "@coffer/history";
import t from "tap";
import { signPastClients, startCompany } from "../server/history-people.ts";

// An entry holds at most 64 KiB. What a folder or an organization has to drop can be more than that.

await t.test("more machines than one entry can drop are dropped by a second rotation", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const bob = await join("bob@example.com");
  const { id: folder } = await alice.client().folders.create("production");
  const { publicKey: key } = await newKeyPair();
  for (let batch = 0; batch < 8; batch += 1) {
    const set = Array.from({ length: 150 }, () => ({ who: `client:${newId()}` as const, key, perm: "read" as const }));
    await signPastClients(server, alice, `folder:${folder}`, { set });
  }
  await alice.client().folders.share(folder, { userId: bob.session.user.id, permission: "read" });
  await alice.client().folders.unshare(folder, bob.session.user.id);
  const { dropped, left_out: leftOut } = await alice.client().folders.rotate(folder);
  t.equal(dropped.length, 1201);
  t.equal(dropped[0]?.id, bob.session.user.id, "the person with the first");
  t.same(leftOut, []);
  t.equal(server.histories.get(`folder:${folder}`)?.state.holders.length, 1);
  t.equal(server.folders.get(folder)?.key_version, 4, "600 at a time");
});

await t.test("more dead invitations than one entry can drop stop nothing", async (t) => {
  const { alice, join, server, organizationId } = await startCompany(t);
  const bob = await join("bob@example.com");
  const { id: folder } = await alice.client().folders.create("production");
  const [org, res] = [`org:${organizationId}`, `folder:${folder}`] as const;
  for (let batch = 0; batch < 14; batch += 1) {
    const before = server.histories.get(res)?.state ?? null;
    const making = Array.from({ length: 50 }, async () => {
      const { tokenHash: tag, wrapKey } = await readAccessToken(newAccessToken());
      return makeInvitation(before, res, { tag, wrapKey, kind: "client", perm: "read" });
    });
    await signPastClients(server, alice, res, { invite: await Promise.all(making) });
    const beforeOrg = server.histories.get(org)?.state ?? null;
    const inviting = Array.from({ length: 50 }, async (_, index) => {
      const { tokenHash: tag, wrapKey } = await readAccessToken(newAccessToken());
      const email = `${batch}-${index}@example.com`;
      return makeInvitation(beforeOrg, org, { tag, wrapKey, kind: "user", perm: "read", email });
    });
    await signPastClients(server, alice, org, { invite: await Promise.all(inviting) });
  }
  const open = (of: typeof org | typeof res): number | undefined => server.histories.get(of)?.state.invitations.length;
  t.same([open(org), open(res)], [700, 700]);
  await alice.client().folders.rotate(folder);
  t.equal(open(res), 600);
  t.match(await alice.client().members.remove(bob.session.user.id), { signed: true });
  t.equal(open(org), 600);
  await alice.client().invites.create("carol@example.com", "member");
  t.equal(open(org), 501);
  const [application] = await alice.client().applications.list();
  await alice.client().machines.remove(application?.id ?? "", newId());
  t.equal(open(res), 0, "all, when a machine is revoked");
});
