import t from "tap";
import { memberOf, startCompany } from "../server/history-people.ts";

// What a person sees of an invitation before joining: only what the invitation itself proves.

await t.test("an invitation names the organization and the inviter, and joins nothing", async (t) => {
  const { server, alice, organizationId } = await startCompany(t);
  const bob = await memberOf(server, "bob@example.com");
  const { token } = await alice.client().invites.create("bob@example.com", "member");
  t.same(await bob.client().invites.show(token), {
    organization: { id: organizationId, name: "Example" },
    from: "alice@example.com",
    email: "bob@example.com",
  });
  t.equal((await alice.client().members.confirmed()).length, 1);
  t.same((await bob.trust.load()).resources, {}, "nothing is trusted");
  await bob.client().invites.accept(token);
  t.equal((await alice.client().members.confirmed()).length, 2);
});

await t.test("an organization that did not make the invitation is refused", async (t) => {
  const { server, alice } = await startCompany(t);
  const bob = await memberOf(server, "bob@example.com");
  const eve = await memberOf(server, "eve@example.com");
  const { id: other } = await eve.client().organizations.create("Example");
  const { token } = await alice.client().invites.create("bob@example.com", "member");
  await eve.client().invites.create("bob@example.com", "member");
  const { entries = [] } = server.histories.get(`org:${other}`) ?? {};
  server.lie = ({ path }, { body }) =>
    path === "/api/org/invites/history" ? { data: entries, history_seq: entries.length - 1 } : body;
  await t.rejects(bob.client().invites.show(token), { code: "join_invalid" });
});

await t.test("an invitation that the service has made names no inviter", async (t) => {
  const { alice } = await startCompany(t);
  await t.rejects(alice.client().invites.show("made-by-the-service"), { code: "no_history" });
});
