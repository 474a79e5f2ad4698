import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { newId } from "@coffer/crypto";
import { testDirectory } from "@coffer/testkit";
import { newJoinedMachine, startCompany } from "../../../sdk/test/server/history-people.ts";
import { coffer } from "../command.ts";
import type { Outcome } from "../command.ts";

const company = await startCompany(t);
const { server, alice, organizationId } = company;
const home = testDirectory(t);
mkdirSync(join(home, "coffer"));
const profile = { version: 1, device_id: newId(), url: server.url, sessions: { [server.url]: alice.session } };
writeFileSync(join(home, "coffer", "profile.json"), JSON.stringify(profile));
const run = (...args: string[]): Promise<Outcome> => coffer(home, args, { env: { COFFER_URL: server.url } });
const invited = (): (string | undefined)[] =>
  (server.histories.get(`org:${organizationId}`)?.state.invitations ?? []).map(({ email }) => email);

await t.test("the invitation to the e-mail is closed, whatever the service lists beside the id", async (t) => {
  for (const email of ["bob@example.com", "carol@example.com"]) await alice.client().invites.create(email, "member");
  const swapped = (body: unknown): { id: string; tag: string }[] => {
    const [one, other] = (body as { data: { id: string; tag: string }[] }).data;
    return one === undefined || other === undefined
      ? []
      : [
          { ...one, tag: other.tag },
          { ...other, tag: one.tag },
        ];
  };
  server.lie = ({ method, path }, { body }) =>
    method === "GET" && path === "/api/org/invites" ? { data: swapped(body) } : body;
  t.match(await run("invite", "rm", "Bob@example.com"), { code: 0, stderr: /invites bob@example\.com no longer/ });
  t.same(invited(), ["carol@example.com"]);
  t.match(await run("invite", "rm", "dora@example.com"), { code: 5, stderr: /no invitation of dora@example\.com/ });
  server.lie = (_request, { body }) => body;
});

await t.test("a revoked machine: the command to paste quotes the folder, and what is closed is named", async (t) => {
  const { id } = await alice.client().folders.create("prod; $(id)");
  const { client_id: joined } = await newJoinedMachine(alice, server, [id]);
  const { stderr } = await run("client", "rm", joined);
  t.match(stderr, "`coffer folder rotate 'prod; $(id)'`");
  server.lie = ({ path }, { body }) => (path === "/api/sm/v1/folders" ? { data: [] } : body);
  const { client_id: unjoined } = await newJoinedMachine(alice, server, [id]);
  server.lie = (_request, { body }) => body;
  t.match((await run("client", "rm", unjoined)).stderr, /prod; \$\(id\) has no open invitation[^]*coffer token rm/);
});
