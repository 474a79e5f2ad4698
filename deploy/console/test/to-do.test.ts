import { newPassword } from "@coffer/console-app/new-password";
import { bootstrap, personClient } from "@coffer/sdk";
import { register } from "@coffer/sdk/account";
import { testDirectory, until } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { npmStart } from "../../local/test/npm-start.ts";
import { inaccessible, picture, startVisitors } from "./browser.ts";

// An owner sees what waits: keys, expiries, machines and tokens; each leads to where it is done.

const coffer = npmStart(t, { directory: testDirectory(t) });
const { url } = await coffer.ready;
const password = newPassword({ kind: "words", length: 5 });
const [email, colleague] = ["alice@example.com", "bob@example.com"];
const device = { id: crypto.randomUUID(), name: "other", type: "cli" } as const;
const { session } = await register({ url, email, password, organization: "Example", device });
const alice = personClient(session, url);
const { id: folderId } = await alice.folders.create("production");
const visitor = await (await startVisitors(t, url))();
const page = await visitor.open("/to-do");
const items = page.getByRole("list", { name: "To do" }).getByRole("listitem");
const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });

await t.test("nothing waits in a new organization", async (t) => {
  await page.getByRole("textbox", { name: "E-mail" }).fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await button("Sign in").click();
  await page.getByText("Nothing waits for you.").waitFor();
  t.same(await inaccessible(page), []);
});

await t.test("an expiry, an unused token, a machine that is not seen, and a key to rotate are named", async (t) => {
  const soon = new Date(Date.now() + 3 * 24 * 60 * 60 * 1000).toISOString();
  await alice.secrets.set("coffer://production/database/field/password", "x", { expiresAt: soon });
  await alice.secrets.set("coffer://production/lasting/field/password", "x");
  const { id: applicationId } = await alice.applications.create("api");
  const folders = [{ folderId, permission: "read" as const }];
  const token = async (name: string) => (await alice.tokens.create({ applicationId, name, folders })).token;
  const save = () => Promise.resolve();
  const [old, gone] = [await token("old"), await token("gone")];
  await token("waiting");
  const { client_id: oldId } = await bootstrap({ url, token: old, save });
  const { client_id: goneId } = await bootstrap({ url, token: gone, save });
  const used = async () =>
    (await alice.machines.list(applicationId)).find(({ client_id: id }) => id === oldId)?.last_used_at != null;
  await until("the service has stored that the machine was there", used, 60);
  const other = personClient(session, url); // as on another device
  await other.machines.remove(applicationId, goneId);
  const database = new pg.Client({ connectionString: coffer.state().stores.postgres });
  await database.connect();
  const long = "now() - interval '40 days'";
  const recent = "last_used_at > now() - interval '1 day'";
  const makeOld = `UPDATE auth_sm.clients SET created_at = ${long}, last_used_at = ${long} WHERE id = $1 AND ${recent}`;
  // The service writes every two seconds when machines were last seen: the last of it must be over.
  let quietSince = performance.now();
  const isQuiet = async (): Promise<boolean> => {
    const { rowCount } = await database.query(makeOld, [oldId]);
    if (rowCount !== 0) quietSince = performance.now();
    return performance.now() - quietSince > 5000;
  };
  await until("nothing more is written about the machine", isQuiet, 60);
  await database.end();
  await page.reload();
  await items.filter({ hasText: /^The secret “database” in “production” expires / }).waitFor();
  await items.filter({ hasText: /^The machine “old” of “api” was last seen / }).waitFor();
  await items.filter({ hasText: /^No machine has used the token “waiting” of “api”, which ends / }).waitFor();
  t.equal(await items.filter({ hasText: "lasting" }).count(), 0);
  await page.getByText("coffer folder rotate production").waitFor();
  t.same(await inaccessible(page), []);
  await picture(page, "to-do");
  await button("New key for production").click();
  await page.getByRole("status").filter({ hasText: "It has a new key." }).waitFor();
  await page.reload();
  await items.first().waitFor();
  t.equal(await button("New key for production").count(), 0, "the history names the machine no more");
});

await t.test("a member whom no history names is named, and one without the key", async (t) => {
  const bob = await register({ url, email: colleague, password, device });
  const bobs = personClient(bob.session, url);
  await bobs.invites.accept((await alice.invites.create(colleague, "member")).token);
  await alice.folders.share(folderId, { userId: bob.session.user.id, permission: "read" });
  const { session: carol } = await register({ url, email: "carol@example.com", password, device });
  const database = new pg.Client({ connectionString: coffer.state().stores.postgres });
  await database.connect();
  const [organization] = await alice.organizations.list();
  await database.query(
    "INSERT INTO auth_sm.memberships (org_id, user_id, role, status, joined_at) VALUES ($1, $2, 'member', 'active', now())",
    [organization?.id, carol.user.id],
  );
  await database.query(
    "INSERT INTO auth_sm.folder_members (folder_id, user_id, permission, added_at) VALUES ($1, $2, 'read', now())",
    [folderId, carol.user.id],
  );
  await database.end();
  await page.reload();
  await items.filter({ hasText: "No history names the key of carol@example.com." }).waitFor();
  await items.filter({ hasText: /carol.* has no key of “production” yet/ }).waitFor();
  t.equal(await items.filter({ hasText: colleague }).count(), 0, "a member with a key is not among them");
});

await t.test("each leads to where it is done, by keyboard too", async (t) => {
  await button(/^Open: No history names the key of carol/).press("Enter");
  await page.getByRole("heading", { name: "carol@example.com", level: 1 }).waitFor();
  await page.goBack();
  await button(/^Open: The secret “database”/).click();
  await page.getByRole("heading", { name: "database", level: 1 }).waitFor();
  await page.goBack();
  await button(/^Open: The machine “old”/).click();
  await page.getByRole("region", { name: "api", exact: true }).waitFor();
  t.notOk((await visitor.traces(page)).includes(password));
  t.same(await visitor.troubles(), []);
});

await t.test("a colleague sees the folder that is offered", async (t) => {
  const other = await (await startVisitors(t, url))();
  const bobs = await other.open("/to-do");
  await bobs.getByRole("textbox", { name: "E-mail" }).fill(colleague);
  await bobs.getByLabel("Password", { exact: true }).fill(password);
  await bobs.getByRole("button", { name: "Sign in" }).click();
  await bobs.getByText("“production” is shared with you: accept it or not.").waitFor();
  t.same(await inaccessible(bobs), []);
  await bobs.getByRole("button", { name: /^Open: “production” is shared/ }).click();
  await bobs.getByRole("region", { name: "production" }).getByRole("button", { name: "Review" }).waitFor();
  t.same(await other.troubles(), []);
});
