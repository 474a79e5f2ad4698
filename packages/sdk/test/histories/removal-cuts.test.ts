import { cutName, sign } from "@coffer/history";
import t from "tap";
import { memoryTrust } from "../../src/trust/trust-storage.ts";
import { type Company, type Member, startCompany } from "../server/history-people.ts";
import type { HistoryServer } from "../server/history-server.ts";
import { Refusal } from "../server/refusal.ts";

// How far the signatures of a person who was removed count: what the service says about it may be false.

const notation = "coffer://payroll/database/field/password";
const idOf = ({ session }: Member): string => session.user.id;

/** The service names this as the newest entry of each history that a removed person holds. */
const showHeads =
  (heads: (honest: Record<string, [number, string]>) => object): HistoryServer["lie"] =>
  ({ path }, { body }) =>
    path.endsWith("/heads") ? { data: heads((body as { data: Record<string, [number, string]> }).data) } : body;

const farAway = (honest: Record<string, [number, string]>): object =>
  Object.fromEntries(Object.keys(honest).map((name) => [name, [1_000_000, "0".repeat(64)]]));

/** Anna's folder, which Mallory manages too and Bob reads; the owner, Alice, does not use it. */
async function withFolder(t: Parameters<typeof startCompany>[0]) {
  const company = await startCompany(t);
  const [anna, mallory] = [await company.join("anna@example.com", "admin"), await company.join("mallory@example.com")];
  const bob = await company.join("bob@example.com");
  const { id } = await anna.client().folders.create("payroll");
  await anna.client().secrets.set(notation, "s3cret");
  await anna.client().folders.share(id, { userId: idOf(mallory), permission: "manage" });
  await mallory.client().folders.accept(id);
  await mallory.client().folders.share(id, { userId: idOf(bob), permission: "read" });
  await bob.client().folders.accept(id);
  return { ...company, anna, mallory, bob, id, res: `folder:${id}` as const };
}

async function cutOf({ server, organizationId }: Company, res: `folder:${string}` | `vault:${string}`, member: Member) {
  const former = server.histories
    .get(`org:${organizationId}`)
    ?.state.former.find(({ who }) => who === `user:${idOf(member)}`);
  return former?.cut[await cutName(res)];
}

await t.test("a false entry of a folder that the remover may read is not signed", async (t) => {
  const company = await withFolder(t);
  const { alice, bob, anna, mallory, server, res, id } = company;
  const { head } = server.histories.get(res)?.state ?? {};
  server.lie = showHeads(farAway);
  t.match(await alice.client().members.remove(idOf(mallory)), { signed: true });
  server.lie = (_, { body }) => body;
  t.same(await cutOf(company, res, mallory), [head?.seq, head?.hash]);
  t.equal(await bob.client().secrets.read(notation), "s3cret");
  t.match(await anna.client().folders.rotate(id), { dropped: [{ id: idOf(mallory) }] });
});

await t.test("a history that does not hold is not signed for", async (t) => {
  const company = await withFolder(t);
  const { alice, mallory, server, res } = company;
  server.lie = ({ path }, { body }) =>
    path.includes(`${res.slice("folder:".length)}/history`) ? { data: ["a.b.c"], history_seq: 0 } : body;
  t.match(await alice.client().members.remove(idOf(mallory)), { signed: true });
  t.equal(await cutOf(company, res, mallory), undefined);
});

await t.test("a folder that this device knows is cut also when the service leaves it out", async (t) => {
  const company = await withFolder(t);
  const { anna, mallory, server, res } = company;
  const { head } = server.histories.get(res)?.state ?? {};
  server.lie = showHeads(() => ({}));
  t.match(await anna.client().members.remove(idOf(mallory)), { signed: true });
  t.same(await cutOf(company, res, mallory), [head?.seq, head?.hash]);
});

await t.test("a vault that this device knows and the service does not show is left out of the cut", async (t) => {
  for (const [status, code] of [
    [404, "not_found"],
    [403, "access_denied"],
  ] as const) {
    const company = await startCompany(t);
    const { alice, join, server } = company;
    const mallory = await join("mallory@example.com");
    const { id } = await alice.client().vaults.create("Team", { type: "shared" });
    await alice.client().vaults.share(id, { userId: idOf(mallory), permission: "manage" });
    await alice.client().vaults.list();
    const res = `vault:${id}` as const;
    const heads = showHeads(farAway);
    server.lie = (request, answer) =>
      request.path.includes(`/vaults/${id}/history`) ? new Refusal(status, code) : heads(request, answer);
    t.match(await alice.client().members.remove(idOf(mallory)), { signed: true });
    server.lie = (_, { body }) => body;
    t.equal(await cutOf(company, res, mallory), undefined);
    t.match(await alice.client().vaults.rotate(id), { dropped: [{ id: idOf(mallory) }] });
  }
});

await t.test("a false entry of a vault is corrected by what its members have verified", async (t) => {
  const company = await startCompany(t);
  const { alice, join, server } = company;
  const [anna, bob, carol] = [
    await join("anna@example.com"),
    await join("bob@example.com"),
    await join("carol@example.com"),
  ];
  const mallory = await join("mallory@example.com");
  const { id } = await anna.client().vaults.create("Team", { type: "shared" });
  await anna.client().records.create(id, { type: "login", fields: { password: "s3cret" } });
  await anna.client().vaults.share(id, { userId: idOf(mallory), permission: "manage" });
  await mallory.client().vaults.accept(id);
  await mallory.client().vaults.share(id, { userId: idOf(bob), permission: "read" });
  await bob.client().vaults.accept(id);
  await anna.client().records.list(id);
  const res = `vault:${id}` as const;
  const { seq, hash } = server.histories.get(res)?.state.head ?? { seq: 0, hash: "" };
  server.lie = showHeads(farAway);
  t.match(await alice.client().members.remove(idOf(mallory)), { signed: true });
  server.lie = (_, { body }) => body;

  // Both see the removal.
  for (const member of [anna, bob]) {
    await member.client().members.confirmed();
    const [shown] = await member.client().vaults.list();
    t.match(shown, { problem: "history_rolled_back" });
    await t.rejects(member.client().records.list(id), {
      code: "history_rolled_back",
      message: new RegExp(`coffer member cut ${idOf(mallory)} ${res} --entry ${seq}:${hash}`),
    });
  }
  await t.rejects(alice.client().members.restateCut(idOf(mallory), { kind: "vault", id }), { code: "invalid_request" });
  await t.rejects(alice.client().members.restateCut(idOf(bob), { kind: "vault", id }, { seq, hash }), {
    code: "invalid_request",
  });
  await t.rejects(bob.client().members.restateCut(idOf(mallory), { kind: "vault", id }), { code: "access_denied" });
  await alice.client().members.restateCut(idOf(mallory), { kind: "vault", id }, { seq, hash });
  for (const member of [anna, bob]) {
    await member.client().members.confirmed();
    t.match(await member.client().records.list(id), [{ fields: { password: "s3cret" } }]);
  }
  t.match(await anna.client().vaults.rotate(id), { dropped: [{ name: idOf(mallory) }] });
  await anna.client().vaults.share(id, { userId: idOf(carol), permission: "read" });
  await carol.client().vaults.accept(id);
  t.match(await carol.client().records.list(id), [{ fields: { password: "s3cret" } }], "also who comes later");
});

await t.test("a corrected cut does not remove a person who has returned meanwhile", async (t) => {
  const company = await withFolder(t);
  const { alice, mallory, server, res, id, organizationId } = company;
  await alice.client().members.remove(idOf(mallory));
  const { seq, hash } = server.histories.get(res)?.state.head ?? { seq: 0, hash: "" };
  const { token } = await alice.client().invites.create("mallory@example.com", "member");
  const org = `org:${organizationId}` as const;
  const before = structuredClone(server.histories.get(org));
  await mallory.client().invites.accept(token);
  // The service shows the return after the first answer.
  let hides = true;
  server.lie = ({ method, path }, { body }) => {
    if (!hides || method !== "GET" || !path.startsWith("/api/org/history")) return body;
    hides = false;
    return { data: before?.entries.slice(-1), history_seq: before?.state.head.seq };
  };
  await t.rejects(alice.client().members.restateCut(idOf(mallory), { kind: "folder", id }, { seq, hash }), {
    code: "invalid_request",
  });
  t.notOk(hides);
  t.ok(
    server.histories.get(org)?.state.holders.some(({ who }) => who === `user:${idOf(mallory)}`),
    "still a member",
  );
});

await t.test("a manager who was removed and came back signs only after being set again", async (t) => {
  const company = await withFolder(t);
  const { alice, anna, bob, mallory, join, server, res, id } = company;
  await alice.client().members.remove(idOf(mallory));
  const { token } = await alice.client().invites.create("mallory@example.com", "member");
  await mallory.client().invites.accept(token);
  await t.rejects(mallory.client().folders.rename(id, "mine"), { code: "access_denied", message: /another manager/ });

  // The service works with Mallory, who signs past the client's check.
  const held = server.histories.get(res);
  if (held === undefined) throw new Error("no history");
  const forged = await sign(held.state, res, `user:${idOf(mallory)}`, mallory.privateKey, { name: "mine" });
  server.histories.set(res, { entries: [...held.entries, forged.text], state: forged.state });
  const carol = await join("carol@example.com");
  await carol.client().members.confirmed();
  for (const member of [carol, bob]) {
    await member.client().members.confirmed();
    await t.rejects(member.client({ trust: memoryTrust() }).folders.accept(id), { code: "signer_removed" });
  }
  server.histories.set(res, held);

  await anna.client().folders.share(id, { userId: idOf(mallory), permission: "manage" });
  t.equal(server.histories.get(res)?.state.head.seq, held.state.head.seq + 1, "an entry says so");
  await anna.client().folders.share(id, { userId: idOf(mallory), permission: "manage" });
  t.equal(server.histories.get(res)?.state.head.seq, held.state.head.seq + 1, "once");
  await mallory.client().folders.rename(id, "payroll again");
  await bob.client().members.confirmed();
  t.equal(await bob.client().secrets.read(notation.replace("payroll", id)), "s3cret");
});

await t.test("a new device of the remover names the folders and vaults to rotate", async (t) => {
  const { anna, mallory, id } = await withFolder(t);
  const vault = await anna.client().vaults.create("Team", { type: "shared" });
  await anna.client().vaults.share(vault.id, { userId: idOf(mallory), permission: "read" });
  const { rotate } = await anna.client({ trust: memoryTrust() }).members.remove(idOf(mallory));
  t.same(rotate.map((one) => `${one.kind} ${one.id} ${one.name}`).sort(), [
    `folder ${id} payroll`,
    `vault ${vault.id} Team`,
  ]);
});

await t.test("a person is removed also while the lists cannot be read", async (t) => {
  const { anna, mallory, server } = await withFolder(t);
  server.lie = ({ method, path }, answer) => {
    if (method === "GET" && path === "/api/vaults") throw new Refusal(503, "unavailable");
    return answer.body;
  };
  t.match(await anna.client().members.remove(idOf(mallory)), { signed: true, rotate: [{ name: "payroll" }] });
});
