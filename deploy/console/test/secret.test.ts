import { newPassword } from "@coffer/console-app/new-password";
import { bootstrap, createClient, personClient } from "@coffer/sdk";
import { register } from "@coffer/sdk/account";
import { testDirectory, until } from "@coffer/testkit";
import t from "tap";
import { npmStart } from "../../local/test/npm-start.ts";
import { inaccessible, picture, startVisitors } from "./browser.ts";

// A platform engineer looks after one secret: who reads it, how a program reads it, until when, and its end.

const { url } = await npmStart(t, { directory: testDirectory(t) }).ready;
const email = "alice@example.com";
const password = newPassword({ kind: "words", length: 5 });
const values = [1, 2, 3].map(() => newPassword({ kind: "characters", length: 24 })) as [string, string, string];
const device = { id: crypto.randomUUID(), name: "other", type: "cli" } as const;
const { session } = await register({ url, email, password, organization: "Example", device });
const alice = personClient(session, url);
const { id: folderId } = await alice.folders.create("production");
const notation = (title: string, field: string) => `coffer://production/${title}/field/${field}`;
await alice.secrets.set(notation("data%20base", "password"), values[0]);
const { uid } = await alice.secrets.set(notation("data%20base", "user"), values[1]);
await alice.secrets.set(notation("mail", "password"), values[1]);
const { id: applicationId } = await alice.applications.create("api");
const { token } = await alice.tokens.create({
  applicationId,
  name: "api",
  folders: [{ folderId, permission: "read" }],
});
const machine = createClient(await bootstrap({ url, token, save: () => Promise.resolve() }));
await machine.read(notation("data%20base", "password"));
await machine.get(uid);
await machine.get(uid);
const read = async (): Promise<number> =>
  ((await alice.audit({ action: "secret.read" }).next()).value?.records ?? []).length;
await until("the audit has the reads", async () => (await read()) >= 2);

const visitor = await (await startVisitors(t, url))();
const page = await visitor.open("/folders");
const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
const region = (name: string) => page.getByRole("region", { name, exact: true });
const heading = page.getByRole("heading", { name: "data base", level: 1 });

await t.test("the title opens the secret, and the address does not name it", async (t) => {
  await page.getByRole("textbox", { name: "E-mail" }).fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await button("Sign in").click();
  await button("data base").press("Enter");
  await heading.waitFor();
  t.equal(await page.evaluate(() => document.activeElement?.textContent), "data base", "the focus goes with it");
  t.equal(new URL(page.url()).pathname, "/folders");
  t.notMatch(page.url() + (await page.title()), uid);
  await button("Show: data base: password").click();
  await page.getByText(values[0]).waitFor();
  await button("Hide: data base: password").click();
  t.equal(await page.getByText(values[0]).count(), 0);
});

await t.test("who has read it is named: a machine by itself and in a list", async (t) => {
  const rows = page.getByRole("list", { name: "Who has read it" }).getByRole("listitem");
  const own = rows.filter({ hasText: "api (machine)" });
  await own
    .filter({ hasText: "2 times" })
    .getByText(/^last seen .* from (127\.0\.0\.1|::1)/)
    .waitFor();
  await own.filter({ hasText: "in one list" }).waitFor();
  await rows.filter({ hasText: email }).filter({ hasText: "list" }).waitFor();
  t.same(await inaccessible(page), []);
  await picture(page, "secret");
});

await t.test("lines for a program name the chosen field, and hold no value", async (t) => {
  const lines = region("In a program");
  await lines.getByRole("combobox", { name: "Field" }).selectOption("user");
  for (const [kind, line] of [
    ["Command", "coffer read --config machine.json 'coffer://production/data%20base/field/user'"],
    ["TypeScript", 'await coffer.read("coffer://production/data%20base/field/user")'],
    ["Kubernetes", "- name: DATA_BASE_USER"],
    ["GitHub Actions", 'DATA_BASE_USER: "coffer://production/data%20base/field/user"'],
  ] as const) {
    await lines.getByRole("button", { name: kind }).click();
    await lines.getByText(line).waitFor();
    await lines.getByRole("button", { name: "Copy these lines" }).click();
    await page
      .getByRole("status")
      .filter({ hasText: `${kind}: copied` })
      .waitFor();
    t.match(await page.evaluate(() => seen.copied.at(-1)), line);
    t.same(await inaccessible(page), []);
  }
});

await t.test("a field is changed by the uid, so another secret of the title does not matter", async (t) => {
  await page.getByRole("textbox", { name: "Field", exact: true }).fill("user");
  await page.getByLabel("Value", { exact: true }).fill(values[2]);
  await button("Save").click();
  await page.getByRole("status").filter({ hasText: "Saved" }).waitFor();
  alice.secrets.expire();
  t.same((await alice.secrets.get(uid)).fields, { password: values[0], user: values[2] });
});

await t.test("it gets an expiry and loses it; one that has expired is renewed", async (t) => {
  const expiry = region("Expiry");
  await expiry.getByText("It does not expire.").waitFor();
  await expiry.getByRole("combobox", { name: "Expires in" }).selectOption("7 days");
  await button("Set the expiry").click();
  await expiry.getByText(/^Machines get it until /).waitFor();
  const days = (Date.parse((await alice.secrets.get(uid)).expires_at ?? "") - Date.now()) / (24 * 60 * 60 * 1000);
  t.ok(days > 6.9 && days <= 7, String(days));
  await alice.secrets.setExpiry(uid, new Date(Date.now() + 1500).toISOString());
  await until("it has expired", async () => (await alice.secrets.get(uid)).expired);
  await button("Back to production").click();
  await page.reload();
  await page.getByText("expired", { exact: true }).waitFor();
  await button("data base").click();
  await expiry.getByText(/^It expired /).waitFor();
  t.equal(await button("Save").count(), 0, "the service would refuse another value");
  t.same(await inaccessible(page), []);
  await expiry.getByRole("combobox", { name: "Expires in" }).selectOption("never");
  await button("Set the expiry").click();
  await expiry.getByText("It does not expire.").waitFor();
  t.match(await machine.get(uid), { fields: { user: values[2] }, expires_at: null });
});

await t.test("the way back in the browser is the way to the list", async (t) => {
  await page.goBack();
  await region("production").waitFor();
  await page.goForward();
  await heading.waitFor();
  t.pass("and forward again");
});

await t.test("it is deleted after a question", async (t) => {
  await button("Delete the secret data base").click();
  const question = region("Delete the secret data base");
  t.match(await question.innerText(), "cannot be undone");
  t.same(await inaccessible(page), []);
  await question.getByRole("button", { name: "Cancel" }).click();
  await button("Delete the secret data base").click();
  await question.getByRole("button", { name: "Delete" }).click();
  await button("mail").waitFor();
  t.equal(await button("data base").count(), 0);
  await t.rejects(alice.secrets.get(uid), { code: "secret_not_found" });
  const traces = await visitor.traces(page);
  for (const text of [...values, password]) t.notOk(traces.includes(text));
  t.same(await visitor.troubles(), []);
});

await t.test("a colleague accepts the folder; who may not read the audit is told who may", async (t) => {
  const bob = await register({ url, email: "bob@example.com", password, device });
  const invitation = await alice.invites.create("bob@example.com", "member");
  const bobs = personClient(bob.session, url);
  await bobs.invites.accept(invitation.token);
  await alice.folders.share(folderId, { userId: bob.session.user.id, permission: "read" });
  const other = await (await startVisitors(t, url))();
  const bobsPage = await other.open("/folders");
  await bobsPage.getByRole("textbox", { name: "E-mail" }).fill("bob@example.com");
  await bobsPage.getByLabel("Password", { exact: true }).fill(password);
  await bobsPage.getByRole("button", { name: "Sign in" }).click();
  await bobsPage.getByRole("button", { name: "Review" }).click();
  const offer = bobsPage.getByRole("dialog", { name: "Accept this folder?" });
  await offer.getByText(`${email} shares the folder “production” with you.`).waitFor();
  t.same(await inaccessible(bobsPage), []);
  await offer.getByRole("button", { name: "Accept" }).click();
  await bobsPage.getByRole("button", { name: "mail", exact: true }).click();
  await bobsPage.getByText("Owners, admins and auditors of the organization see who has read it.").waitFor();
  for (const name of ["Save", "Set the expiry", "Delete the secret mail"])
    t.equal(await bobsPage.getByRole("button", { name }).count(), 0, name);
  t.same(await inaccessible(bobsPage), []);
  t.same(await other.troubles(), []);
});
