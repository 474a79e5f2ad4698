import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fingerprint, newId, newKeyPair } from "@coffer/crypto";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { memberOf, signPastClients, startCompany } from "../../../sdk/test/server/history-people.ts";
import { coffer, type Outcome } from "../command.ts";

// Roles and removals are signed in the organization's history. The service's list of members does
// not decide which person they change: it could show the e-mail of one member beside the id of another.

type Member = Record<string, string>;

const company = await startCompany(t);
const { server, alice, organizationId } = company;
const bob = await company.join("bob@example.com");
const carol = await company.join("carol@example.com");
const [bobId, carolId] = [bob.session.user.id, carol.session.user.id];
const home = testDirectory(t);
mkdirSync(join(home, "coffer"));
const profile = { version: 1, device_id: newId(), url: server.url, sessions: { [server.url]: alice.session } };
writeFileSync(join(home, "coffer", "profile.json"), JSON.stringify(profile));
const run = (...args: string[]): Promise<Outcome> => coffer(home, args, { env: { COFFER_URL: server.url } });

/** Shows the list of members with this change. */
function show(change: (member: Member) => Member): void {
  server.lie = ({ path }, { body }) =>
    path.endsWith("/members")
      ? {
          data: (body as { data: Member[] }).data.map((one) =>
            change({ ...one, name: one["email"]?.split("@")[0] ?? "" }),
          ),
        }
      : body;
}
const swapped = (member: Member): Member => {
  if (member["email"] === "bob@example.com") return { ...member, user_id: carolId };
  return member["email"] === "carol@example.com" ? { ...member, user_id: bobId } : member;
};
/** Who may do what by the organization's history. */
const signed = (): Record<string, string> =>
  Object.fromEntries(
    (server.histories.get(`org:${organizationId}`)?.state.holders ?? []).map(({ who, perm }) => [who, perm]),
  );

await t.test("a role is signed for the member with the e-mail in the history", async (t) => {
  show(swapped);
  t.match(await run("member", "set", "bob@example.com", "--role", "admin"), {
    code: 0,
    stderr: /bob@example\.com is admin/,
  });
  t.match(signed(), { [`user:${bobId}`]: "manage", [`user:${carolId}`]: "read" });
  t.match(await run("member", "set", "BOB@example.com", "--role", "member"), { code: 0 });
  t.match(signed(), { [`user:${bobId}`]: "read" });
});

await t.test("a name decides nothing that is signed", async (t) => {
  show((member) => (member["user_id"] === carolId ? { ...member, name: "bob" } : { ...member, name: "-" }));
  const refused = await run("member", "set", "bob", "--role", "owner");
  t.match(refused, {
    code: 2,
    stderr: /names are the service's word: name the member by the e-mail, carol@example\.com/,
  });
  t.match(await run("member", "rm", "bob"), { code: 2 });
  t.match(signed(), { [`user:${carolId}`]: "read" });
});

await t.test("an e-mail that the history does not have, beside the id of a member", async (t) => {
  show((member) => (member["user_id"] === carolId ? { ...member, email: "dora@example.com" } : member));
  for (const args of [
    ["member", "set", "dora@example.com", "--role", "admin"],
    ["member", "rm", "dora@example.com"],
    ["member", "confirm", "dora@example.com"],
  ])
    t.match(
      await run(...args),
      { code: 1, stderr: /the service shows carol@example\.com as dora@example\.com/ },
      args.join(" "),
    );
  t.match(signed(), { [`user:${carolId}`]: "read" });
});

await t.test("an e-mail that the history has twice is refused", async (t) => {
  server.lie = (_request, { body }) => body;
  const { publicKey: key } = await newKeyPair();
  const who = `user:${newId()}` as const;
  await signPastClients(server, alice, `org:${organizationId}`, {
    set: [{ who, key, perm: "read", email: "bob@example.com" }],
  });
  for (const args of [
    ["member", "set", "bob@example.com", "--role", "admin"],
    ["member", "rm", "bob@example.com"],
  ])
    t.match(await run(...args), { code: 2, stderr: /2 have the name bob@example\.com/ }, args.join(" "));
  t.match(signed(), { [`user:${bobId}`]: "read", [who]: "read" });
  await signPastClients(server, alice, `org:${organizationId}`, { drop: [who] });
});

await t.test("with a fingerprint alone a member is confirmed as no manager", async (t) => {
  const eve = await company.join("eve@example.com");
  const who = `user:${eve.session.user.id}` as const;
  await signPastClients(server, alice, `org:${organizationId}`, { drop: [who] });
  show((member) => (member["email"] === "eve@example.com" ? { ...member, role: "owner" } : member));
  const { words } = await fingerprint(eve.session.public_key);
  const confirm = ["member", "confirm", "eve@example.com", "--fingerprint", words];
  t.match(await run(...confirm), { code: 2, stderr: /says that eve@example\.com is owner: if so, add --role owner/ });
  t.match(await run(...confirm, "--role", "admin"), { code: 2 });
  t.notOk(signed()[who]);
  t.match(await run(...confirm, "--role", "owner"), { code: 0, stderr: /manages the organization as owner/ });
  t.equal(signed()[who], "manage");
  server.lie = (_request, { body }) => body;
});

await t.test("the member with the e-mail in the history is removed", async (t) => {
  show(swapped);
  t.match(await run("member", "rm", "bob@example.com"), { code: 0, stderr: /bob@example\.com is no longer a member/ });
  t.notOk(signed()[`user:${bobId}`]);
  t.equal(signed()[`user:${carolId}`], "read");
  t.match(await run("member", "rm", "nobody@example.com"), { code: 5 });
});

await t.test("a folder is shared with the member with the e-mail in the folder's own organization", async (t) => {
  server.lie = (_request, { body }) => body;
  const { id } = await alice.client().folders.create("payroll");
  const dave = await company.join("dave@example.com");
  const eve = await memberOf(server, "eve@example.com");
  const other = await eve.client().organizations.create("Example");
  await alice.client().invites.accept((await eve.client().invites.create("alice@example.com", "member")).token);
  // There carol has the e-mail of dave.
  const set = [
    { who: `user:${carolId}`, key: carol.session.public_key, perm: "read", email: "dave@example.com" } as const,
  ];
  const seq = await signPastClients(server, eve, `org:${other.id}`, { set });
  const shown = { id: other.id, name: "Example", history_seq: seq };
  server.lie = ({ method, path }, { body }) => (method === "GET" && path === "/api/org" ? shown : body);
  t.match(await run("folder", "share", "payroll", "dave@example.com"), {
    code: 0,
    stderr: /dave@example\.com may read/,
  });
  const holders = (server.histories.get(`folder:${id}`)?.state.holders ?? []).map(({ who }) => who);
  t.ok(holders.includes(`user:${dave.session.user.id}`));
  t.notOk(holders.includes(`user:${carolId}`));
});
