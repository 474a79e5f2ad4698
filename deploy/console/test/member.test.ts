import { newPassword } from "@coffer/console-app/new-password";
import { personClient } from "@coffer/sdk";
import { register } from "@coffer/sdk/account";
import { testDirectory } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { npmStart } from "../../local/test/npm-start.ts";
import { inaccessible, picture, startVisitors } from "./browser.ts";

// An admin looks after one member: role, key, sessions, travel, a suspension and the end.

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const coffer = npmStart(t, { directory: testDirectory(t), env: limits });
const { url } = await coffer.ready;
const password = newPassword({ kind: "words", length: 5 });
const [email, colleague, stranger] = ["alice@example.com", "bob@example.com", "carol@example.com"];
const device = (name: string) => ({ id: crypto.randomUUID(), name, type: "cli" }) as const;
const { session } = await register({ url, email, password, organization: "Example", device: device("laptop") });
const alice = personClient(session, url);
const { session: bobSession } = await register({ url, email: colleague, password, device: device("Bob's phone") });
const bob = personClient(bobSession, url);
await bob.invites.accept((await alice.invites.create(colleague, "member")).token);
const { id: folder } = await alice.folders.create("production");
await alice.folders.share(folder, { userId: bobSession.user.id, permission: "read" });
const visitor = await (await startVisitors(t, url))();
const page = await visitor.open("/people");
const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
const region = (name: string) => page.getByRole("region", { name, exact: true });
const status = (text: string) => page.getByRole("status").filter({ hasText: text });

await t.test("a member's e-mail opens the member, and the address does not name them", async (t) => {
  await page.getByRole("textbox", { name: "E-mail" }).fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await button("Sign in").click();
  await button(colleague).press("Enter");
  await page.getByRole("heading", { name: colleague, level: 1 }).waitFor();
  t.equal(await page.evaluate(() => document.activeElement?.tagName), "H1", "the focus goes with it");
  t.equal(new URL(page.url()).pathname, "/people");
  await region("Key").getByText("The history of the organization names this key.").waitFor();
  await region("Key")
    .getByText((await bob.fingerprint()).words)
    .waitFor();
  await region("Sessions").getByText("Bob's phone").waitFor();
  await region("Leaving").getByRole("listitem").filter({ hasText: "production" }).waitFor();
  t.same(await inaccessible(page), []);
  await picture(page, "member");
});

await t.test("the role is changed, and is signed", async (t) => {
  const role = page.getByRole("combobox", { name: `Role of ${colleague}` });
  const roleOf = async () => (await alice.members.list()).find((member) => member.email === colleague)?.role;
  for (const next of ["admin", "member"]) {
    await role.selectOption(next);
    await status("Saved").waitFor();
    t.equal(await roleOf(), next);
    await page.reload();
    t.equal(await role.inputValue(), next, "the member is still open");
  }
});

await t.test("travel mode is switched for the member", async (t) => {
  const travel = region("Travel mode");
  await travel.getByRole("button", { name: "Switch on" }).click();
  await status(`Travel mode of ${colleague} is on`).waitFor();
  t.match(await bob.travel.status(), { enabled: true });
  await travel.getByRole("button", { name: "Switch off" }).click();
  await status(`Travel mode of ${colleague} is off`).waitFor();
  t.match(await bob.travel.status(), { enabled: false });
});

await t.test("a session of the member ends", async (t) => {
  await button("End the session on Bob's phone").click();
  await region("Sessions").getByText("No session.").waitFor();
  await t.rejects(bob.account());
});

await t.test("the member is suspended after a question, and activated again", async (t) => {
  await button(`Suspend ${colleague}`).click();
  const question = region(`Suspend ${colleague}`);
  t.match(await question.innerText(), "cannot use the organization");
  t.same(await inaccessible(page), []);
  await question.getByRole("button", { name: "Suspend" }).click();
  await button(`Activate ${colleague} again`).waitFor();
  const statusOf = async () => (await alice.members.list()).find((member) => member.email === colleague)?.status;
  t.equal(await statusOf(), "suspended");
  await button(`Activate ${colleague} again`).click();
  await button(`Suspend ${colleague}`).waitFor();
  t.equal(await statusOf(), "active");
});

await t.test("the end names what needs a new key, on the list of members", async (t) => {
  await button(`Remove ${colleague}`).click();
  const question = region(`Remove ${colleague}`);
  t.match(await question.innerText(), "loses the organization");
  await question.getByRole("button", { name: "Remove" }).click();
  await page.getByText("coffer folder rotate production").waitFor();
  await button("New key for production").click();
  await status("It has a new key.").waitFor();
  t.equal(await button(colleague).count(), 0);
  t.same(await inaccessible(page), []);
});

let carolId = "";

/** Changes the service's own data, as only its operator can. */
async function change(statement: string, values: string[]): Promise<void> {
  const database = new pg.Client({ connectionString: coffer.state().stores.postgres });
  await database.connect();
  await database.query(statement, values);
  await database.end();
}

/** Puts a person into the organization without its history. */
async function insertMember(userId: string): Promise<void> {
  const [organization] = await alice.organizations.list();
  const columns = "(org_id, user_id, role, status, joined_at)";
  const row = "($1, $2, 'member', 'active', now())";
  await change(`INSERT INTO auth_sm.memberships ${columns} VALUES ${row}`, [organization?.id ?? "", userId]);
}

await t.test("a member whom no history names is confirmed after a comparison of words", async (t) => {
  const { session: carols } = await register({ url, email: stranger, password, device: device("tablet") });
  carolId = carols.user.id;
  await insertMember(carolId);
  await page.reload();
  const row = page.getByRole("region", { name: "Members" }).getByRole("listitem").filter({ hasText: stranger });
  await row.getByText(/^Not confirmed/).waitFor();
  await button(stranger).click();
  const key = region("Key");
  await key.getByText((await personClient(carols, url).fingerprint()).words).waitFor();
  t.same(await inaccessible(page), []);
  t.same(
    (await alice.members.confirmed()).map((member) => member.email),
    [email],
  );
  await button("The words are equal: confirm").click();
  await key.getByText("The history of the organization names this key.").waitFor();
  t.same((await alice.members.confirmed()).map((member) => member.email).sort(), [email, stranger]);
});

await t.test("a member with the e-mail of another is shown, and not confirmed", async (t) => {
  const { session: mallory } = await register({ url, email: "mallory@example.com", password, device: device("x") });
  await insertMember(mallory.user.id);
  const rename = "UPDATE auth_sm.users SET email = $1 WHERE id = $2";
  await change(rename, ["old@example.com", carolId]);
  await change(rename, [stranger, mallory.user.id]);
  await button("Back to People").click();
  await page.reload();
  const rows = page.getByRole("region", { name: "Members" }).getByRole("listitem").filter({ hasText: stranger });
  await rows.nth(1).waitFor();
  const unconfirmed = rows.filter({ hasText: "Not confirmed" });
  await unconfirmed.getByRole("button", { name: stranger, exact: true }).click();
  await button("The words are equal: confirm").click();
  await page.getByRole("alert").filter({ hasText: "Nothing was signed" }).waitFor();
  t.same((await alice.members.confirmed()).map((member) => member.email).sort(), [email, stranger]);
  t.same(await inaccessible(page), []);
  const traces = await visitor.traces(page);
  t.notOk(traces.includes(password));
  t.same(await visitor.troubles(), []);
});
