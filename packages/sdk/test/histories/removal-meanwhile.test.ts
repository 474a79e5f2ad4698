import t from "tap";
import { delayOf, type Member, startCompany } from "../server/history-people.ts";
import type { HistoryServer } from "../server/history-server.ts";

// The service delays an answer while a client rotates, seals or signs, until a parallel call of the
// client has seen the removal of a member. The client decided before who gets the key.

const idOf = ({ session }: Member): string => session.user.id;
const login = { type: "login", fields: { password: "s3cret" } };

/**
 * A folder and a vault of Anna's, which Mallory manages too. Mallory is removed; the service lists
 * Mallory on, and hides the removal until `show` is called.
 */
async function withRemoval(t: Parameters<typeof startCompany>[0], before: (anna: Member) => Promise<unknown>) {
  const company = await startCompany(t);
  const { alice, server, organizationId } = company;
  const [anna, mallory] = [await company.join("anna@example.com", "admin"), await company.join("mallory@example.com")];
  const { id: folder } = await anna.client().folders.create("payroll");
  const { id: vault } = await anna.client().vaults.create("Team", { type: "shared" });
  await anna.client().records.create(vault, login);
  const request = { userId: idOf(mallory), permission: "manage" } as const;
  await anna.client().folders.share(folder, request);
  await anna.client().vaults.share(vault, request);
  await before(anna);
  const grants = structuredClone(server.folders.get(folder)?.grants ?? []);
  const members = structuredClone(server.vaults.get(vault)?.members ?? []);
  await alice.client().members.remove(idOf(mallory));
  Object.assign(server.folders.get(folder) ?? {}, { grants });
  Object.assign(server.vaults.get(vault) ?? {}, { members });
  const shown = server.histories.get(`org:${organizationId}`)?.entries.slice(0, -1) ?? [];
  const scene = { ...company, anna, mallory, folder, vault, hides: true };
  const hide = ({ path, method }: { path: string; method: string }, body: unknown): unknown => {
    if (!scene.hides || method !== "GET" || !path.startsWith("/api/org/history")) return body;
    const after = Number(new URL(path, "http://x").searchParams.get("after") ?? -1);
    return { data: shown.slice(after + 1), history_seq: shown.length - 1 };
  };
  server.lie = (sent, { body }) => hide(sent, body);
  server.received.length = 0;
  return {
    ...scene,
    /** Runs `work`, and while the answer of `path` is due, lets the same client see the removal. */
    async meanwhile(
      me: ReturnType<Member["client"]>,
      method: string,
      path: RegExp,
      work: () => Promise<unknown>,
    ): Promise<unknown> {
      const delay = delayOf((sent) => sent.method === method && path.test(sent.path));
      server.lie = (sent, { body }) => delay.of(sent, hide(sent, body));
      const working = work().catch((error: unknown) => error);
      await Promise.race([delay.reached, working]);
      scene.hides = false;
      await me.members.confirmed();
      delay.release();
      return working;
    },
  };
}

/** The keys that were sent for a person: in grants and in rotations. */
function keysFor({ received }: HistoryServer, userId: string): unknown[] {
  return received
    .filter(({ method, path }) => method === "PUT" || path.endsWith("/rotate"))
    .flatMap(({ path, body }) => {
      const { encrypted_key: key, encrypted_keys: keys } = JSON.parse(body) as {
        encrypted_key?: unknown;
        encrypted_keys?: { users: { user_id: string; encrypted_key: unknown }[] };
      };
      if (path.endsWith(userId)) return [key];
      return keys?.users.filter(({ user_id }) => user_id === userId).map((one) => one.encrypted_key) ?? [];
    });
}

const nothing = (): Promise<void> => Promise.resolve();

await t.test("a rotation seals no key to a person whose removal is seen meanwhile", async (t) => {
  const { anna, mallory, server, folder, vault, meanwhile } = await withRemoval(t, nothing);
  const me = anna.client();
  t.match(await meanwhile(me, "GET", /\/org\/members$/, () => me.folders.rotate(folder)), {
    left_out: [{ id: idOf(mallory) }],
  });
  t.same(keysFor(server, idOf(mallory)), [null]);
  t.match(await me.vaults.rotate(vault), { left_out: [{ id: idOf(mallory) }] });
});

await t.test("nor does the rotation of a vault, also one that is sent in parts", async (t) => {
  const { anna, mallory, server, vault, meanwhile } = await withRemoval(t, async (anna) => {
    const { id } = (await anna.client().vaults.list())[0] ?? { id: "" };
    await anna.client().records.import(id, Array(1001).fill(login));
  });
  const me = anna.client();
  t.match(await meanwhile(me, "PUT", /\/rotation\//, () => me.vaults.rotate(vault)), {
    left_out: [{ id: idOf(mallory) }],
  });
  t.same(keysFor(server, idOf(mallory)), [null]);
});

await t.test("a missing key is not sealed to a person whose removal is seen meanwhile", async (t) => {
  const { anna, mallory, server, folder, vault, meanwhile } = await withRemoval(t, nothing);
  for (const grant of server.folders.get(folder)?.grants ?? [])
    if (grant.id === idOf(mallory)) Object.assign(grant, { encrypted_key: null, encrypted_key_alg: null });
  for (const member of server.vaults.get(vault)?.members ?? [])
    if (member.user_id === idOf(mallory)) member.encrypted_key = null;
  const me = anna.client();
  await meanwhile(me, "GET", /\/folders\/[^/]+\/members$/, () => me.folders.list());
  await me.vaults.list();
  t.same(keysFor(server, idOf(mallory)), []);
});

await t.test("nor is a vault's", async (t) => {
  const { anna, mallory, server, vault, meanwhile } = await withRemoval(t, nothing);
  for (const member of server.vaults.get(vault)?.members ?? [])
    if (member.user_id === idOf(mallory)) member.encrypted_key = null;
  const me = anna.client();
  await meanwhile(me, "GET", /\/vaults\/[^/]+\/members/, () => me.vaults.list());
  t.same(keysFor(server, idOf(mallory)), []);
});

await t.test("a key is not given to a person whose removal is seen meanwhile", async (t) => {
  const { anna, mallory, server, meanwhile } = await withRemoval(t, nothing);
  const me = anna.client();
  const { id } = await me.folders.create("other");
  const error = await meanwhile(me, "GET", /\/folders$/, () =>
    me.folders.share(id, { userId: idOf(mallory), permission: "read" }),
  );
  t.match(error, { code: "holder_unconfirmed" });
  t.same(keysFor(server, idOf(mallory)), []);
});

await t.test("a manager whose own removal is seen meanwhile makes no token", async (t) => {
  const company = await startCompany(t);
  const { alice, server, organizationId } = company;
  const anna = await company.join("anna@example.com");
  const { id: folder } = await anna.client().folders.create("payroll");
  const { id: other } = await anna.client().folders.create("other");
  const grants = [folder, other].map((id) => structuredClone(server.folders.get(id)?.grants ?? []));
  const me = anna.client();
  const [application] = await me.applications.list();
  const folders = [folder, other].map((folderId) => ({ folderId, permission: "read" as const }));
  const request = { applicationId: application?.id ?? "", name: "web", folders };
  await me.tokens.create(request);
  const members = structuredClone(server.organizations.get(organizationId)?.members ?? []);
  await alice.client().members.remove(idOf(anna), { force: true });
  Object.assign(server.organizations.get(organizationId) ?? {}, { members });
  for (const [index, id] of [folder, other].entries())
    Object.assign(server.folders.get(id) ?? {}, { grants: grants[index] });
  let hides = true;
  const shown = server.histories.get(`org:${organizationId}`)?.entries.slice(0, -1) ?? [];
  let asked = 0;
  // The last request before the token of both folders is sent.
  const delay = delayOf(({ method, path }) => method === "GET" && path.endsWith("/tokens") && (asked += 1) === 2);
  server.lie = (sent, { body }) => {
    if (!hides || sent.method !== "GET" || !sent.path.startsWith("/api/org/history")) return delay.of(sent, body);
    const after = Number(new URL(sent.path, "http://x").searchParams.get("after") ?? -1);
    return { data: shown.slice(after + 1), history_seq: shown.length - 1 };
  };
  server.received.length = 0;
  const making = me.tokens.create(request).catch((error: unknown) => error);
  await Promise.race([delay.reached, making]);
  hides = false;
  await me.members.confirmed();
  delay.release();
  t.match(await making, { code: "access_denied" });
  t.same(
    server.received.filter(({ method, path }) => method === "POST" && path.endsWith("/tokens")),
    [],
  );
});

await t.test("a rotation that stages its secrets seals no key to a person whose removal is seen then", async (t) => {
  const secret = (anna: Member): Promise<unknown> =>
    anna.client().secrets.set("coffer://payroll/database/field/password", "s3cret");
  const { anna, mallory, server, folder, meanwhile } = await withRemoval(t, secret);
  const me = anna.client();
  await meanwhile(me, "PUT", /\/rotation\//, () => me.folders.rotate(folder));
  t.ok(server.received.some(({ path }) => path.includes("/rotation/")));
  t.same(keysFor(server, idOf(mallory)).filter(Boolean), []);
});
