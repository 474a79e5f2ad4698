import { newPassword } from "@coffer/console-app/new-password";
import { personClient } from "@coffer/sdk";
import { register } from "@coffer/sdk/account";
import { testDirectory } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { npmStart } from "../../local/test/npm-start.ts";
import { inaccessible, startVisitors } from "./browser.ts";

// The service is set back to an earlier state, as by a restore from a backup: this browser refuses the shorter
// histories until the person has compared words.

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const coffer = npmStart(t, { directory: testDirectory(t), env: limits });
const { url } = await coffer.ready;
const [email, colleague] = ["alice@example.com", "bob@example.com"];
const password = newPassword({ kind: "words", length: 5 });
const device = () => ({ id: crypto.randomUUID(), name: "other", type: "cli" }) as const;
const first = await register({ url, email, password, organization: "Example", device: device() });
const alice = personClient(first.session, url);
const second = await register({ url, email: colleague, password, device: device() });
const bob = personClient(second.session, url);
await bob.invites.accept((await alice.invites.create(colleague, "admin")).token);
const folder = (await alice.folders.create("production")).id;
const vault = (await alice.vaults.create("Team", { type: "shared" })).id;
await alice.secrets.set("coffer://production/database/field/password", "s3cret");
await alice.records.create(vault, { type: "login", fields: { name: "Team mail", password: "s3cret" } });
const manage = { userId: second.session.user.id, permission: "manage" } as const;
await alice.folders.share(folder, manage);
await alice.vaults.share(vault, manage);
for (const [things, id] of [
  [bob.folders, folder],
  [bob.vaults, vault],
] as const)
  await things.accept(id);
// Bob signs what is the newest entry in the backup.
await bob.folders.rename(folder, "live");
await bob.vaults.update(vault, { name: "Crew" });

const database = new pg.Client({ connectionString: coffer.state().stores.postgres });
await database.connect();
t.teardown(() => database.end());
const tables = [
  ...["histories", "history_entries", "keyrings", "folders", "orgs"].map((name) => ["auth_sm", name] as const),
  ...["histories", "history_entries", "vault_pins", "vaults"].map((name) => ["vaults", name] as const),
];
async function backUp(name: string): Promise<void> {
  await database.query(`CREATE SCHEMA ${name}`);
  for (const [schema, table] of tables)
    await database.query(`CREATE TABLE ${name}.${schema}_${table} AS TABLE ${schema}.${table}`);
}
async function restore(name: string): Promise<void> {
  // Without the triggers of foreign keys, so that nothing else changes.
  await database.query("BEGIN; SET LOCAL session_replication_role = replica");
  for (const [schema, table] of tables) {
    await database.query(`DELETE FROM ${schema}.${table}`);
    await database.query(`INSERT INTO ${schema}.${table} SELECT * FROM ${name}.${schema}_${table}`);
  }
  await database.query("COMMIT");
}

await backUp("backup");
await alice.folders.rename(folder, "newest");
await alice.vaults.update(vault, { name: "Latest crew" });

const newVisitor = await startVisitors(t, url);
const visitor = await newVisitor();
const page = await visitor.open("/folders");
const button = (name: string) => page.getByRole("button", { name, exact: true });
const row = (name: string) =>
  page.getByRole("list", { name: "Trust", exact: true }).getByRole("listitem").filter({ hasText: name });
const sheet = page.getByRole("region", { name: "Trust what the service shows now?" });
const trust = sheet.getByRole("button", { name: "The words are equal: trust this" });
const older = "The service shows an older state than this browser has verified";

await t.test("each history is named, with how far this browser has verified it", async (t) => {
  await page.getByRole("textbox", { name: "E-mail" }).fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await button("Sign in").click();
  await page.getByRole("heading", { name: "newest", exact: true }).waitFor();
  await page.goto(`${url}/trust`);
  await row("newest").getByText("folder").waitFor();
  await row("Latest crew").getByText("vault").waitFor();
  t.match(await row("newest").innerText(), /\d+ entries verified/);
  t.match(await row("Example").innerText(), /organization/);
  t.equal(await page.getByRole("button", { name: /^Compare words/ }).count(), 0);
  t.same(await inaccessible(page), []);
});

await t.test("after a restore nothing older is used, and the screens lead to the comparison", async (t) => {
  await backUp("later");
  await restore("backup");
  await page.goto(`${url}/folders`);
  await page.getByText(older).waitFor();
  t.equal(await page.getByText("database").count(), 0);
  await page.getByRole("link", { name: "What this browser trusts" }).click();
  await row("newest").getByText(older).waitFor();
  await row("Latest crew").getByText("an older state of what your devices share").waitFor();
  t.same(await inaccessible(page), []);
});

await t.test("what has changed since the comparison is not trusted", async (t) => {
  await button("Compare words: newest").click();
  await sheet.getByText(`last signed by ${colleague}`).waitFor();
  await sheet.getByText((await bob.fingerprint()).words).waitFor();
  t.same(await inaccessible(page), []);
  await restore("later");
  await trust.click();
  await sheet.getByRole("alert").filter({ hasText: "Nothing was trusted" }).waitFor();
  await restore("backup");
});

await t.test("a folder and a vault are used again after the words were compared", async (t) => {
  await trust.click();
  await row("live").waitFor();
  t.equal(await row("live").getByText(older).count(), 0);
  await button("Compare words: Latest crew").click();
  await sheet.getByText((await bob.fingerprint()).words).waitFor();
  await trust.click();
  await sheet.waitFor({ state: "detached" });
  t.equal(await page.getByRole("button", { name: /^Compare words: / }).count(), 0);
  await page.goto(`${url}/folders`);
  await page.getByRole("button", { name: "database", exact: true }).waitFor();
  await page.goto(url);
  await page.getByRole("button", { name: /^Crew/ }).waitFor();
  await page.getByText("Team mail").first().waitFor();
});

await t.test(
  "one comparison for all leaves what this browser has seen more of, and each of those says so",
  async (t) => {
    await restore("later");
    await page.goto(`${url}/trust`);
    await row("newest").waitFor();
    await row("Latest crew").waitFor();
    await restore("backup");
    await page.reload();
    await button("Compare the words of all").click();
    await sheet.getByText("Example: last signed by").waitFor();
    t.equal(await sheet.getByText("live: last signed by").count(), 0);
    await trust.click();
    await sheet.waitFor({ state: "detached" });
    for (const name of ["newest", "Latest crew"]) {
      await button(`Compare words: ${name}`).click();
      await sheet
        .getByText(/shows \d+ as the newest entry. It does not show the entry \d+ that this browser knows/)
        .waitFor();
      t.same(await inaccessible(page), []);
      await trust.click();
      await sheet.waitFor({ state: "detached" });
    }
    await row("live").waitFor();
    t.equal(await page.getByRole("button", { name: /^Compare/ }).count(), 0);
    t.same(await visitor.troubles(), []);
  },
);
