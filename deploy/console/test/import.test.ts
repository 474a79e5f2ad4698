import { readFileSync } from "node:fs";
import { newPassword } from "@coffer/console-app/new-password";
import { readImport, writeExport } from "@coffer/import";
import { personClient } from "@coffer/sdk";
import { register } from "@coffer/sdk/account";
import { testDirectory, until } from "@coffer/testkit";
import t from "tap";
import { npmStart } from "../../local/test/npm-start.ts";
import { inaccessible, picture, startVisitors } from "./browser.ts";

// A person brings the records of another password manager, without a terminal.

const { url } = await npmStart(t, { directory: testDirectory(t) }).ready;
const email = "alice@example.com";
const password = newPassword({ kind: "words", length: 5 });
const secret = newPassword({ kind: "characters", length: 24 });
const device = { id: crypto.randomUUID(), name: "other", type: "cli" } as const;
const { session } = await register({ url, email, password, device });
const alice = personClient(session, url);
const { id: vaultId } = await alice.vaults.create("Private", { type: "personal" });
const visitor = await (await startVisitors(t, url))();
const page = await visitor.open("/import");
const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
const preview = page.getByRole("region", { name: "What would be imported" });
const give = (name: string, buffer: Buffer) =>
  page.getByLabel("File", { exact: true }).setInputFiles({ name, mimeType: "application/octet-stream", buffer });
const bitwarden = {
  encrypted: false,
  folders: [],
  items: [
    ...["Mail", "Bank"].map((name) => ({
      type: 1,
      name,
      login: { username: "alice", password: secret, uris: [{ uri: `https://${name.toLowerCase()}.example` }] },
    })),
    { type: 2, name: "Wi-Fi", notes: secret, secureNote: { type: 0 }, attachments: [{ fileName: "plan.pdf" }] },
  ],
};

await t.test("a file that is none is refused beside its field", async (t) => {
  await page.getByRole("textbox", { name: "E-mail" }).fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await button("Sign in").click();
  await page.getByRole("combobox", { name: "Into the vault" }).waitFor();
  t.ok(await button("Look into it").isDisabled());
  t.same(await inaccessible(page), []);
  await give("notes.json", Buffer.from("only words"));
  await button("Look into it").click();
  await page.getByRole("alert").filter({ hasText: "no file of a password manager" }).waitFor();
  t.equal(await page.getByLabel("File", { exact: true }).getAttribute("aria-invalid"), "true");
  await give("sealed.json", Buffer.from(JSON.stringify({ encrypted: true, passwordProtected: true, data: "x" })));
  await button("Look into it").click();
  await page.getByRole("alert").filter({ hasText: "only the program that wrote it opens it" }).waitFor();
  t.same(await inaccessible(page), []);
});

await t.test("a file is shown by names and what is left out, without a value on the page", async (t) => {
  await give("bitwarden.json", Buffer.from(JSON.stringify(bitwarden)));
  await button("Look into it").press("Enter");
  await preview.getByText("3 new records.").waitFor();
  const names = await preview
    .getByRole("list", { name: "What would be imported" })
    .getByRole("listitem")
    .allInnerTexts();
  t.match(names.join(), /Mail[^]*Login[^]*Bank[^]*Wi-Fi[^]*secure note/);
  t.match(await preview.innerText(), /Left out[^]*Wi-Fi/);
  t.equal(await page.getByRole("alert").count(), 0);
  t.same(await alice.records.list(vaultId), [], "nothing is imported yet");
  t.notOk((await visitor.traces(page)).includes(secret));
  t.notOk((await page.evaluate(() => seen.messages.join())).includes(secret), "the worker keeps the values");
  t.same(await inaccessible(page), []);
  await picture(page, "import");
});

await t.test("it is imported into the vault, and is in the list", async (t) => {
  await button("Import 3").click();
  await page.getByText("3 records are imported.").waitFor();
  t.same(await inaccessible(page), []);
  const made = await alice.records.list(vaultId);
  t.same(made.map(({ fields }) => fields["name"]).sort(), ["Bank", "Mail", "Wi-Fi"]);
  t.equal(made.find(({ fields }) => fields["name"] === "Mail")?.fields["password"], secret);
  await button("Back to the records").click();
  await page.getByRole("region", { name: "All records" }).getByText("Wi-Fi").waitFor();
});

await t.test("the file again adds nothing; an archive of 1Password is read too", async (t) => {
  await button("Import").click();
  await give("bitwarden.json", Buffer.from(JSON.stringify(bitwarden)));
  await button("Look into it").click();
  await preview.getByText("0 new records; 3 are there from an earlier import.").waitFor();
  t.equal(await button(/^Import \d/).count(), 0);
  const record = { id: crypto.randomUUID(), type: "login", payload: { name: "Archive", password: secret } };
  const { archive } = await writeExport("1pux", [record]);
  await give("export.1pux", Buffer.from(archive ?? []));
  await button("Look into it").click();
  await preview.getByText("1 new record.").waitFor();
  await button("Import 1").click();
  await page.getByText("1 record is imported.").waitFor();
  await until("it is there", async () => (await alice.records.list(vaultId)).length === 4);
});

const exporting = page.getByRole("region", { name: "Export a vault" });
const format = exporting.getByRole("combobox", { name: "Format" });
const save = async (): Promise<void> => {
  await exporting.getByLabel("Password", { exact: true }).fill(password);
  await exporting.getByLabel("Password", { exact: true }).press("Enter");
};

await t.test("a vault is exported with the password, as a file that can be imported", async (t) => {
  await exporting.getByLabel("Password", { exact: true }).fill("not the password");
  await button("Save the file").click();
  await exporting.getByText("That is not your password.").waitFor();
  t.same(await inaccessible(page), []);
  const saving = page.waitForEvent("download");
  await save();
  const download = await saving;
  await exporting.getByText("4 records were read.").waitFor();
  t.same(await inaccessible(page), []);
  t.equal(download.suggestedFilename(), "coffer-export.json", "it does not name the vault");
  const { records } = await readImport(readFileSync(await download.path()));
  const stored = await alice.records.list(vaultId);
  const sorted = (fields: Record<string, string>[]) =>
    fields.toSorted((a, b) => (a["name"] ?? "").localeCompare(b["name"] ?? ""));
  t.same(sorted(records.map(({ payload }) => payload)), sorted(stored.map(({ fields }) => fields)));
  t.equal(await exporting.getByLabel("Password", { exact: true }).inputValue(), "");
  t.notOk((await visitor.traces(page)).includes(secret), "the page holds no value");
});

await t.test("the screen names what the format cannot hold, and saves nothing of an empty vault", async (t) => {
  await format.selectOption("Chrome (CSV): logins");
  await exporting.getByText("coffer export --vault Private --format chrome-csv <file>").waitFor();
  const saving = page.waitForEvent("download");
  await save();
  t.equal((await saving).suggestedFilename(), "coffer-export.csv");
  await exporting.getByText("Not in the file").waitFor();
  await exporting.getByRole("listitem").filter({ hasText: "Wi-Fi" }).waitFor();
  t.same(await inaccessible(page), []);
  await alice.vaults.create("Empty", { type: "personal" });
  const from = exporting.getByRole("combobox", { name: "From the vault" });
  await from.getByRole("option", { name: "Empty" }).waitFor({ state: "attached" });
  t.equal(await from.locator("option:checked").innerText(), "Private", "a new vault does not change the choice");
  await from.selectOption("Empty");
  await save();
  await exporting.getByText("The vault has no record. No file was saved.").waitFor();
});

await t.test("a long import says how far it is, stops when asked, and goes on with the rest", async (t) => {
  const total = 4000;
  const notes = Array.from({ length: total }, (_, index) => `Note ${String(index)}`);
  const items = notes.map((name) => ({ type: 2, name, notes: secret, secureNote: { type: 0 } }));
  await give("notes.json", Buffer.from(JSON.stringify({ encrypted: false, folders: [], items })));
  await button("Look into it").click();
  await button(`Import ${String(total)}`).click();
  await page
    .getByRole("status")
    .filter({ hasText: `of ${String(total)} records` })
    .waitFor();
  const progress = page.getByRole("progressbar", { name: "Importing…" });
  t.equal(await progress.getAttribute("max"), String(total));
  t.ok(await page.getByLabel("File", { exact: true }).isDisabled(), "another file would end this import");
  await button("Stop").press("Enter");
  const stopped = page.getByText(/^Stopped: \d+ records are not imported yet\.$/);
  await stopped.waitFor();
  t.equal(await progress.count(), 0);
  t.same(await inaccessible(page), []);
  const left = Number(/\d+/.exec(await stopped.innerText())?.[0]);
  t.ok(left > 0 && left < total);
  t.equal((await alice.records.list(vaultId)).length, 4 + total - left);
  await preview.getByText(`${String(left)} new records; ${String(total - left)} are there`).waitFor();
  await button(`Import ${String(left)}`).click();
  await page.getByText(`${String(left)} records are imported.`).waitFor();
  t.equal((await alice.records.list(vaultId)).length, 4 + total);
  t.equal(await preview.count(), 0);
  const traces = await visitor.traces(page);
  for (const text of [secret, password]) t.notOk(traces.includes(text));
  t.same(await visitor.troubles(), []);
});
