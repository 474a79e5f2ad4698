import t from "tap";
import { type Company, type Member, memberOf, startCompany } from "./history-people.ts";

// The service works with an invited person. It lists an invitation that it has replaced, and takes a join with it.

async function revived({ server, organizationId }: Company, act: () => Promise<unknown>): Promise<void> {
  const organization = server.organizations.get(organizationId);
  const kept = structuredClone(organization?.invites ?? []);
  await act();
  if (organization === undefined) return;
  const ids = new Set(organization.invites.map(({ id }) => id));
  organization.invites.push(...kept.filter(({ id }) => !ids.has(id)));
}

const idOf = ({ session }: Member): string => session.user.id;

await t.test("a new invitation closes the earlier one to the same e-mail, although the service keeps it", async (t) => {
  const { alice, server, organizationId } = await startCompany(t);
  const mallory = await memberOf(server, "mallory@example.com");
  const asAdmin = await alice.client().invites.create("mallory@example.com", "admin");
  const asMember = await alice.client().invites.create("Mallory@Example.com", "member");
  await t.rejects(mallory.client().invites.accept(asAdmin.token), { code: "join_invalid" });
  await mallory.client().invites.accept(asMember.token);
  t.match(server.histories.get(`org:${organizationId}`)?.state, { holders: { length: 2 }, invitations: [] });
});

await t.test("a removal closes the invitations to the removed person, although the service keeps them", async (t) => {
  const company = await startCompany(t);
  const { alice, join, server, organizationId } = company;
  const [mallory, carol] = [await join("mallory@example.com"), await memberOf(server, "carol@example.com")];
  // The service of this test accepts it; the real one refuses to invite a member.
  const leftover = await alice.client().invites.create("mallory@example.com", "admin");
  const other = await alice.client().invites.create("carol@example.com", "member");
  await revived(company, () => alice.client().members.remove(idOf(mallory)));
  await t.rejects(mallory.client().invites.accept(leftover.token), { code: "join_invalid" });
  t.notOk(server.histories.get(`org:${organizationId}`)?.state.holders.some(({ who }) => who.endsWith(idOf(mallory))));
  await carol.client().invites.accept(other.token);
});
