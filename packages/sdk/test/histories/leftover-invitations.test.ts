import { newId } from "@coffer/crypto";
import t from "tap";
import { createClient } from "../../src/index.ts";
import { type Company, type Member, memberOf, newJoinedMachine, startCompany } from "../server/history-people.ts";
import { Refusal } from "../server/refusal.ts";

// The service works with an invited person or machine. It keeps an invitation that was replaced or
// revoked, and takes a join with it.

const notation = "coffer://production/database/field/password";

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

await t.test("the e-mail that was shown decides which invitation is closed", async (t) => {
  const { alice, server, organizationId } = await startCompany(t);
  const [mallory, bob] = [await memberOf(server, "mallory@example.com"), await memberOf(server, "bob@example.com")];
  const shown = await alice.client().invites.create("mallory@example.com", "admin");
  const other = await alice.client().invites.create("bob@example.com", "member");
  const kept = structuredClone(server.organizations.get(organizationId)?.invites ?? []);
  server.lie = ({ method, path }, { body }) =>
    method === "GET" && path === "/api/org/invites"
      ? { data: kept.map(({ id, hash, ...one }) => ({ ...one, tag: hash, id: id === shown.id ? other.id : shown.id })) }
      : body;
  const closed = await alice.client().invites.remove(shown.id, { email: "Mallory@example.com" });
  t.match(closed, [{ email: "mallory@example.com" }]);
  const organization = server.organizations.get(organizationId);
  if (organization !== undefined) organization.invites = kept;
  await t.rejects(mallory.client().invites.accept(shown.token), { code: "join_invalid" });
  await bob.client().invites.accept(other.token);
});

/** A folder of Alice's, and a machine that has spent its token and has not joined. */
async function withUnjoined(t: Parameters<typeof startCompany>[0]) {
  const company = await startCompany(t);
  const { alice, server } = company;
  const { id: folder } = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  server.lie = ({ path }, { body }) => (path === "/api/sm/v1/folders" ? { data: [] } : body);
  const machine = await newJoinedMachine(alice, server, [folder]);
  server.lie = (_request, { body }) => body;
  const [application] = await alice.client().applications.list();
  const grant = server.folders.get(folder)?.grants.find(({ kind }) => kind === "client");
  /** The service goes on with the machine, which joins. */
  const joins = async (): Promise<boolean> => {
    if (grant !== undefined) server.folders.get(folder)?.grants.push(grant);
    await createClient(machine)
      .read(notation)
      .catch(() => undefined);
    const holders = server.histories.get(`folder:${folder}`)?.state.holders ?? [];
    return holders.some(({ who }) => who === `client:${machine.client_id}`);
  };
  return { ...company, folder, machine, applicationId: application?.id ?? "", joins };
}

await t.test("a machine that was revoked before it joined does not join later", async (t) => {
  const { alice, machine, applicationId, joins } = await withUnjoined(t);
  const closed = await alice.client().machines.remove(applicationId, machine.client_id);
  t.match(closed, [{ name: "production", email: null }]);
  t.notOk(await joins());
  t.same(await alice.client().machines.remove(applicationId, machine.client_id), [], "again");
});

await t.test("a machine that was not revoked joins, also after another one was", async (t) => {
  const { alice, applicationId, joins } = await withUnjoined(t);
  t.same(await alice.client().machines.remove(applicationId, newId()), []);
  t.ok(await joins());
});

await t.test("a spent token is closed, although the service cannot revoke it", async (t) => {
  const { alice, server, applicationId, joins } = await withUnjoined(t);
  const [token] = await alice.client().tokens.list(applicationId);
  server.lie = ({ method }, { body }) => (method === "DELETE" ? new Refusal(409, "conflict") : body);
  const remove = () => alice.client().tokens.remove(applicationId, token?.id ?? "");
  t.match(await remove(), [{ name: "production", email: null }]);
  await t.rejects(remove(), { code: "conflict" }, "again");
  t.notOk(await joins());
});

await t.test("a folder that is gone does not keep a token's other invitations open", async (t) => {
  const { alice, server } = await startCompany(t);
  const [gone, staying] = [await alice.client().folders.create("gone"), await alice.client().folders.create("staying")];
  const [application] = await alice.client().applications.list();
  const applicationId = application?.id ?? "";
  const folders = [gone, staying].map(({ id }) => ({ folderId: id, permission: "read" as const }));
  await alice.client().tokens.create({ applicationId, name: "web", folders });
  const [token] = await alice.client().tokens.list(applicationId);
  server.lie = ({ path }, { body }) => (path.includes(gone.id) ? new Refusal(404, "not_found") : body);
  const closed = await alice.client().tokens.remove(applicationId, token?.id ?? "");
  t.match(closed, [{ name: "gone", hidden: true }, { name: "staying" }]);
  t.same(server.histories.get(`folder:${staying.id}`)?.state.invitations, []);
});

await t.test("an invitation that the service does not list is closed by its e-mail", async (t) => {
  const { alice, server, organizationId } = await startCompany(t);
  const mallory = await memberOf(server, "mallory@example.com");
  const { token, id } = await alice.client().invites.create("mallory@example.com", "admin");
  const kept = structuredClone(server.organizations.get(organizationId)?.invites ?? []);
  server.lie = ({ method, path }, { body }) => (method === "GET" && path === "/api/org/invites" ? { data: [] } : body);
  await t.rejects(alice.client().invites.remove(id), { code: "not_found", message: /coffer invite rm <e-mail>/ });
  t.match(await alice.client().invites.close("Mallory@example.com"), [{ email: "mallory@example.com" }]);
  t.same(await alice.client().invites.close("mallory@example.com"), [], "again");
  const organization = server.organizations.get(organizationId);
  if (organization !== undefined) organization.invites = kept;
  await t.rejects(mallory.client().invites.accept(token), { code: "join_invalid" });
});
