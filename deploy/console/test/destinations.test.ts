import { newPassword } from "@coffer/console-app/new-password";
import { personClient } from "@coffer/sdk";
import { register } from "@coffer/sdk/account";
import { testDirectory, until } from "@coffer/testkit";
import t from "tap";
import { hecToken, startHec } from "../../../services/siem-forwarder/test/delivery/receivers/vendors.ts";
import { npmStart } from "../../local/test/npm-start.ts";
import { inaccessible, startVisitors } from "./browser.ts";

// An owner sends the audit to a SIEM, sees that it arrives, and ends it.

const env = { COFFER_SIEM_ALLOWED_CIDRS: "127.0.0.0/8" };
const { url } = await npmStart(t, { directory: testDirectory(t), env }).ready;
const splunk = await startHec(t);
const email = "alice@example.com";
const password = newPassword({ kind: "words", length: 5 });
const device = { id: crypto.randomUUID(), name: "other", type: "cli" } as const;
const { session } = await register({ url, email, password, organization: "Example", device });
const alice = personClient(session, url);
const visitor = await (await startVisitors(t, url))();
const page = await visitor.open("/destinations");
const button = (name: string) => page.getByRole("button", { name, exact: true });
const box = (name: string) => page.getByRole("textbox", { name, exact: true });
const rows = page.getByRole("list", { name: "Where the audit goes" }).getByRole("listitem");
/** A destination without a name is called by its address. */
let name = "";

await t.test("a destination is added, and its credentials are nowhere afterwards", async (t) => {
  await box("E-mail").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await button("Sign in").click();
  await page.getByText("No destination yet.").waitFor();
  t.same(await inaccessible(page), []);
  await page.getByRole("combobox", { name: "Kind" }).selectOption("Azure Monitor, Microsoft Sentinel");
  await page.getByLabel("Client secret").waitFor();
  await page.getByRole("combobox", { name: "Kind" }).selectOption("Splunk (HTTP Event Collector)");
  await box("Address").fill("http://10.1.2.3/");
  await page.getByLabel("Token", { exact: true }).fill(hecToken);
  await button("Add").click();
  await page.getByRole("alert").waitFor();
  t.match(await page.getByRole("alert").innerText(), /url/, "the error names the field");
  await box("Address").fill(splunk.url);
  await button("Add").click();
  await rows.filter({ hasText: splunk.url }).waitFor();
  t.same(await inaccessible(page), []);
  t.notOk((await visitor.traces(page)).includes(hecToken));
  name = (await alice.siem.list())[0]?.url ?? "";
});

await t.test("a test event is sent, and says what was answered", async (t) => {
  await button(`Test ${name}`).click();
  await page.getByRole("status").filter({ hasText: "The test event was taken." }).waitFor();
  splunk.interfere = () => ({ status: 403, body: { code: 4 } });
  await button(`Test ${name}`).click();
  await page.getByText(/^The test event was not taken: .*check the token/).waitFor();
  splunk.interfere = null;
  t.same(await inaccessible(page), []);
});

await t.test("what is delivered is shown with its time", async (t) => {
  await alice.folders.create("production");
  await until("the record has arrived", () => JSON.stringify(splunk.taken).includes("folder.created"));
  const delivered = async () => (await alice.siem.list())[0]?.last_delivery?.error === null;
  await until("the service says so", delivered);
  await page.reload();
  await rows.getByText(/^delivered /).waitFor();
  t.pass("it is");
});

await t.test("a destination is switched off and on, and deleted", async (t) => {
  await button(`Switch off: ${name}`).click();
  await rows.getByText("off", { exact: true }).waitFor();
  t.match(await alice.siem.list(), [{ enabled: false }]);
  await button(`Switch on: ${name}`).click();
  await button(`Switch off: ${name}`).waitFor();
  await button(`Delete ${name}`).click();
  const question = page.getByRole("region", { name: `Delete ${name}` });
  t.same(await inaccessible(page), []);
  await question.getByRole("button", { name: "Delete" }).click();
  await page.getByText("No destination yet.").waitFor();
  t.same(await alice.siem.list(), []);
  t.same(await visitor.troubles(), []);
});
