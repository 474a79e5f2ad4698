import t from "tap";
import type { AdoptedHolder } from "../../src/index.ts";
import { memoryTrust } from "../../src/trust/trust-storage.ts";
import { type Member, startCompany } from "../server/history-people.ts";

// Who uses a folder or vault without a history, and with which permission, is the service's word
// until a manager adopts it.

const idOf = ({ session }: Member): string => session.user.id;
const login = { type: "login", fields: { password: "s3cret" } };
const yes = (): Promise<boolean> => Promise.resolve(true);

/** A vault and a folder as of another program, which the service says that Mallory manages. */
async function withoutHistories(t: Parameters<typeof startCompany>[0]) {
  const company = await startCompany(t);
  const { alice, join, server } = company;
  const mallory = await join("mallory@example.com");
  const { id: vault } = await alice.client().vaults.create("Team", { type: "shared" });
  const { id: folder } = await alice.client().folders.create("production");
  await alice.client().records.create(vault, login);
  for (const res of [`vault:${vault}`, `folder:${folder}`] as const) server.histories.delete(res);
  server.vaults.get(vault)?.pins.clear();
  server.keyrings.clear();
  const grant = { permission: "manage", encrypted_key: null } as const;
  server.vaults.get(vault)?.members.push({ user_id: idOf(mallory), ...grant });
  server.folders.get(folder)?.grants.push({ kind: "user", id: idOf(mallory), ...grant, encrypted_key_alg: null });
  const trust = memoryTrust();
  const me = alice.client({ trust });
  await me.organizations.trust(company.organizationId, yes);
  return { ...company, mallory, vault, folder, trust, me };
}

await t.test("an adoption signs only holders that were shown with their permission", async (t) => {
  const { me, mallory, server, vault, folder } = await withoutHistories(t);
  const asked: AdoptedHolder[] = [];
  const refuse = (holders: readonly AdoptedHolder[]): Promise<boolean> => Promise.resolve(asked.push(...holders) === 0);
  await t.rejects(me.vaults.adopt(vault, refuse), { code: "access_denied" });
  await t.rejects(me.folders.adopt(folder, yes, refuse), { code: "access_denied" });
  const shown = { kind: "user", id: idOf(mallory), name: "mallory@example.com", permission: "manage" } as const;
  t.same(asked, [shown, shown]);
  t.equal(server.histories.get(`vault:${vault}`), undefined);
  t.equal(server.histories.get(`folder:${folder}`), undefined);
  t.equal(server.vaults.get(vault)?.members.find(({ user_id }) => user_id === idOf(mallory))?.encrypted_key, null);
  await me.vaults.adopt(vault, yes);
  await me.folders.adopt(folder, yes, yes);
  t.equal(server.histories.get(`vault:${vault}`)?.state.holders.length, 2);
});

await t.test("an adoption that was acknowledged and not stored can be repeated", async (t) => {
  const { me, server, vault } = await withoutHistories(t);
  let lost = 0;
  server.loses = ({ method, path }) => method === "POST" && path.endsWith(`${vault}/history`) && (lost += 1) === 1;
  await t.rejects(me.vaults.adopt(vault, yes), { code: "bad_answer" });
  await me.vaults.adopt(vault, yes);
  t.equal(lost, 2);
  t.match(await me.records.list(vault), [{ fields: login.fields }]);
});

await t.test("an organization's members are shown with their permissions", async (t) => {
  const { alice, server, organizationId, mallory } = await withoutHistories(t);
  server.histories.delete(`org:${organizationId}`);
  server.lie = ({ path }, { body }) => {
    if (path !== "/api/org/members") return body;
    const { data } = body as { data: { user_id: string }[] };
    return { data: data.map((one) => (one.user_id === idOf(mallory) ? { ...one, role: "owner" } : one)) };
  };
  const asked: AdoptedHolder[] = [];
  const refuse = (holders: readonly AdoptedHolder[]): Promise<boolean> => Promise.resolve(asked.push(...holders) === 0);
  const me = alice.client({ trust: memoryTrust() });
  await t.rejects(me.organizations.adopt(yes, refuse), { code: "access_denied", message: /nothing was signed/ });
  t.same(asked, [{ kind: "user", id: idOf(mallory), name: "mallory@example.com", permission: "manage" }]);
  t.equal(server.histories.get(`org:${organizationId}`), undefined);
});

await t.test("only the organization that was named is adopted", async (t) => {
  const { alice, server, organizationId, me, folder, trust } = await withoutHistories(t);
  const { id: other } = await alice.client().organizations.create("Elsewhere");
  await me.folders.adopt(folder, yes, yes);
  for (const id of [organizationId, other]) server.histories.delete(`org:${id}`);
  server.lie = ({ path, method }, { body }) =>
    path === "/api/org" && method === "GET" ? { ...(body as object), id: other } : body;
  const named = alice.client({ trust: memoryTrust(), organization: organizationId });
  await t.rejects(named.organizations.adopt(yes, yes), { code: "bad_answer" });
  await t.rejects(
    alice.client({ trust }).organizations.adopt(yes, yes),
    { code: "bad_answer" },
    "nor another one first",
  );
  t.equal(server.histories.get(`org:${other}`), undefined);
});
