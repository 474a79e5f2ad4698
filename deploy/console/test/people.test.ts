import { newPassword } from "@coffer/console-app/new-password";
import { personClient } from "@coffer/sdk";
import { register } from "@coffer/sdk/account";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { npmStart } from "../../local/test/npm-start.ts";
import { inaccessible, startVisitors } from "./browser.ts";

// An owner invites a colleague, who joins; a role, and the end of a membership.

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const password = newPassword({ kind: "words", length: 5 });
const [email, colleague] = ["alice@example.com", "bob@example.com"];
const device = { id: crypto.randomUUID(), name: "other", type: "cli" } as const;
const { session } = await register({ url, email, password, organization: "Example", device });
const alice = personClient(session, url);
const { id: folder } = await alice.folders.create("production");
const newVisitor = await startVisitors(t, url);
const [visitor, invited] = [await newVisitor(), await newVisitor()];
const page = await visitor.open("/people");
const members = page.getByRole("region", { name: "Members" }).getByRole("listitem");
let address = "";

await t.test("a colleague is invited by an address that is shown once", async (t) => {
  await page.getByRole("textbox", { name: "E-mail" }).fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await members.filter({ hasText: "alice@example.com (you)" }).waitFor();
  t.same(await inaccessible(page), []);
  await page.getByRole("textbox", { name: "E-mail" }).fill(colleague);
  await page.getByRole("button", { name: "Invite", exact: true }).dblclick();
  const sheet = page.getByRole("region", { name: "Link of the invitation" });
  address = await sheet.locator(".recovery").innerText();
  await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "Link of the invitation");
  t.ok(address.startsWith(`${url}/join#`));
  t.same(await inaccessible(page), []);
  await sheet.getByRole("button", { name: "I have sent it" }).click();
  await page.getByRole("button", { name: `Withdraw the invitation of ${colleague}` }).waitFor();
  t.notOk((await visitor.traces(page)).includes(address.slice(address.indexOf("#") + 1)));
  t.equal((await alice.invites.list()).length, 1, "a double click invites once");
});

await t.test("the invited person registers and joins; the invitation leaves the address at once", async (t) => {
  const bobs = await invited.open(address.slice(url.length));
  await bobs.getByText("You are invited.").waitFor();
  t.equal(bobs.url(), `${url}/join`);
  t.equal(await bobs.getByRole("textbox", { name: "Organization (optional)" }).count(), 0);
  t.same(await inaccessible(bobs), []);
  await bobs.getByRole("textbox", { name: "E-mail" }).fill(colleague);
  await bobs.getByLabel("Password", { exact: true }).fill(password);
  await bobs.getByLabel("Password again", { exact: true }).fill(password);
  await bobs.getByRole("button", { name: "Create account" }).click();
  const sheet = bobs.getByRole("region", { name: "Your recovery key" });
  const key = /cfr1_[\w-]{43}/.exec(await sheet.innerText())?.[0] ?? "";
  await bobs.getByRole("textbox", { name: /^Type its last 6/ }).fill(key.slice(-6));
  await bobs.getByRole("button", { name: "Continue" }).click();
  await bobs.getByRole("heading", { name: "Join an organization" }).waitFor();
  // The invitation of the link is shown at once, with what it proves.
  await bobs.getByText(`${email} invites you to Example`).waitFor();
  t.same(await inaccessible(bobs), []);
  t.equal((await alice.members.confirmed()).length, 1, "shown is not joined");
  // Pasted whole, as by a person who opened the console elsewhere.
  await bobs.getByLabel("Invitation, or its link").fill("nonsense");
  await bobs.getByRole("button", { name: "Review", exact: true }).click();
  await bobs.getByText("nothing proves which organization it is").waitFor();
  await bobs.getByLabel("Invitation, or its link").fill(address);
  await bobs.getByRole("button", { name: "Review", exact: true }).click();
  await bobs.getByText(`${email} invites you to Example`).waitFor();
  await bobs.getByRole("button", { name: "Join", exact: true }).click();
  await bobs.getByRole("status").filter({ hasText: "You have joined Example" }).waitFor();
  t.equal(bobs.url(), `${url}/`);
  t.notOk((await invited.traces(bobs)).includes(address.slice(address.indexOf("#") + 1)));
  t.same(
    (await alice.members.confirmed()).map((member) => member.email).sort(),
    [email, colleague],
    "the history names the person without a comparison of words",
  );
});

await t.test("the owner changes the role", async (t) => {
  await page.reload();
  await page.getByRole("combobox", { name: `Role of ${colleague}` }).selectOption("admin");
  const roleOf = async () => (await alice.members.list()).find((member) => member.email === colleague)?.role;
  await page
    .getByRole("combobox", { name: `Role of ${colleague}` })
    .and(page.locator(":enabled"))
    .waitFor();
  t.equal(await roleOf(), "admin");
  t.equal(await page.getByRole("button", { name: /^Withdraw/ }).count(), 0, "the invitation is used");
});

await t.test("who is removed is out at once, and the screen names what needs a new key", async (t) => {
  const bob = (await alice.members.confirmed()).find((member) => member.email === colleague)?.user_id ?? "";
  await alice.folders.share(folder, { userId: bob, permission: "read" });
  await page.getByRole("button", { name: `Remove ${colleague}` }).click();
  const question = page.getByRole("region", { name: `Remove ${colleague}` });
  t.match(await question.innerText(), "loses the organization");
  t.same(await inaccessible(page), []);
  await question.getByRole("button", { name: "Remove" }).click();
  await page.getByText("coffer folder rotate production").waitFor();
  await page.getByRole("button", { name: "New key for production" }).click();
  await page.getByRole("status").filter({ hasText: "It has a new key." }).waitFor();
  t.same(await inaccessible(page), []);
  const [made] = await alice.folders.list();
  t.equal(made?.key_version, 2);
  await members.filter({ hasText: colleague }).waitFor({ state: "detached" });
  t.same(
    (await alice.members.list()).map((member) => member.email),
    [email],
  );
  t.same(await visitor.troubles(), []);
  t.same(await invited.troubles(), []);
});
