import { newId } from "@coffer/crypto";
import { type MemberView, personClient } from "@coffer/sdk";
import t from "tap";
import { pickMember } from "../src/commands/people/member.ts";
import { pick } from "../src/service/pick.ts";
import { startOrganizationServer } from "./organization-server.ts";

await t.test("what may be an id is no name, in either case", (t) => {
  const [mine, hers] = [newId(), newId()];
  const things = [
    { id: hers, name: mine },
    { id: newId(), name: "Team" },
  ];
  for (const id of [mine, mine.toUpperCase()])
    t.throws(() => pick(things, id, "vault"), { name: "Failure", message: `there is no vault ${id} that you may see` });
  t.equal(pick(things, hers.toUpperCase(), "vault").name, mine);
  t.equal(pick(things, "team", "vault").name, "Team");
  t.end();
});

await t.test("a member who is named by id or e-mail is not one who is called so", (t) => {
  const [mine, hers] = [newId(), newId()];
  const member = (name: string): MemberView => ({
    ...{ user_id: hers, email: "mallory@example.com", role: "member", status: "active", joined_at: "" },
    name,
  });
  for (const wanted of [mine, mine.toUpperCase(), "Alice@example.com"])
    t.throws(
      () => pickMember([member(wanted)], wanted),
      { name: "Failure", message: `there is no member ${wanted} that you may see` },
      wanted,
    );
  for (const wanted of [hers.toUpperCase(), "Mallory@Example.com", "mal"])
    t.equal(pickMember([member("Mal")], wanted).user_id, hers);
  t.throws(() => pickMember([member("Mal"), member("mal")], "MAL"), {
    name: "Failure",
    message: /^2 have the name MAL: name the member by its id/,
  });
  t.end();
});

await t.test(
  "nothing is sealed into a vault that is called by the id of one that the service leaves out",
  async (t) => {
    const server = await startOrganizationServer(t);
    const { vaults } = personClient(server.session, server.url);
    const { id } = await vaults.create("Mine");
    const { id: hers } = await vaults.create(id);
    server.vaults.delete(id);
    const input = '{"name": "Example", "password": "s3cret"}';
    for (const wanted of [id, id.toUpperCase()]) {
      t.match(await server.run(["record", "create", wanted], { input }), { code: 5, stdout: "" });
      const csv = "name,url,username,password\nExample,,u,p\n";
      t.match(await server.run(["import", "--vault", wanted, "-"], { input: csv }), { code: 5 });
    }
    t.equal(server.records.size, 0);
    t.match(await server.run(["record", "create", hers.toUpperCase()], { input }), { code: 0 });
  },
);

await t.test("what may be a record's id is not its name", async (t) => {
  const server = await startOrganizationServer(t);
  const me = personClient(server.session, server.url);
  const { id: vault } = await me.vaults.create("Mine");
  const gone = newId();
  const { id } = await me.records.create(vault, { type: "login", fields: { name: gone.toUpperCase() } });
  t.match(await server.run(["record", "get", vault, gone.toUpperCase()]), { code: 5, stdout: "" });
  t.match(await server.run(["record", "get", vault, id.toUpperCase(), "name"]), { code: 0 });
});
