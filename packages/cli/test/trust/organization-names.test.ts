import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "@coffer/crypto";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { memberOf, startCompany } from "../../../sdk/test/server/history-people.ts";
import { coffer, type Outcome } from "../command.ts";

// The service shows an organization under the name of another one. The person chooses by what is shown.

const { server, alice, organizationId } = await startCompany(t);
const [bob, eve] = [await memberOf(server, "bob@example.com"), await memberOf(server, "eve@example.com")];
const { id: elsewhere } = await eve.client().organizations.create("Elsewhere");
const home = testDirectory(t);
mkdirSync(join(home, "coffer"));
const profile = { version: 1, device_id: newId(), url: server.url, sessions: { [server.url]: bob.session } };
writeFileSync(join(home, "coffer", "profile.json"), JSON.stringify(profile));
const run = (args: string[], env: Record<string, string> = {}): Promise<Outcome> =>
  coffer(home, args, { env: { COFFER_URL: server.url, ...env } });

await t.test("a joined organization has the name of its history", async (t) => {
  const ours = await alice.client().invites.create("bob@example.com", "member");
  t.match(await run(["invite", "accept"], { COFFER_TOKEN: ours.token }), { code: 0, stderr: /a member of Example\n/ });
  const theirs = await eve.client().invites.create("bob@example.com", "member");
  server.lie = ({ path }, { body }) =>
    path === "/api/org/invites/accept" ? { ...(body as object), name: "Example" } : body;
  const joined = await run(["invite", "accept", "--json"], { COFFER_TOKEN: theirs.token });
  t.match(joined, { code: 0, stderr: /a member of Elsewhere\n/ });
  t.match(JSON.parse(joined.stdout), { id: elsewhere, name: "Elsewhere" });
});

await t.test("and so has each in the list, as for --org", async (t) => {
  const shown = [
    { id: elsewhere, name: "Example", role: "member", status: "active" },
    { id: organizationId, name: "Elsewhere", role: "member", status: "active" },
  ];
  server.lie = ({ path }, { body }) =>
    path === "/api/account" ? { user: bob.session.user, organizations: shown } : body;
  const { code, stdout } = await run(["org", "ls", "--json"]);
  t.equal(code, 0);
  t.match(JSON.parse(stdout), [
    { id: elsewhere, name: "Elsewhere" },
    { id: organizationId, name: "Example" },
  ]);
});
