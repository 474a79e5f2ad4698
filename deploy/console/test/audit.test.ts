import { readFileSync } from "node:fs";
import { newPassword } from "@coffer/console-app/new-password";
import { personClient } from "@coffer/sdk";
import { register } from "@coffer/sdk/account";
import { testDirectory } from "@coffer/testkit";
import pg from "pg";
import type { Page } from "playwright-core";
import t from "tap";
import { npmStart } from "../../local/test/npm-start.ts";
import { inaccessible, startVisitors } from "./browser.ts";

// An auditor's look at the chain, and an operator who changes it.

const coffer = npmStart(t, { directory: testDirectory(t) });
const { url } = await coffer.ready;
const email = "alice@example.com";
const password = newPassword({ kind: "words", length: 5 });
const device = { id: crypto.randomUUID(), name: "other", type: "cli" } as const;
const { session } = await register({ url, email, password, organization: "Example", device });
const alice = personClient(session, url);
for (const name of ["first", "second"]) await alice.folders.create(name);
const newVisitor = await startVisitors(t, url);
const visitor = await newVisitor();
const page = await visitor.open("/audit");
const database = new pg.Client({ connectionString: coffer.state().stores.postgres });
await database.connect();
t.teardown(() => database.end());

declare global {
  /** The message of the first choice, which leaves the page after the second. */
  var held: { answered: Promise<void> };
}

/** Runs in the page before its script: holds the question for the folders that were made until another was answered. */
function holdFirstChoice(): void {
  const send = MessagePort.prototype.postMessage as (this: MessagePort, message: unknown) => void;
  const answered = Promise.withResolvers<undefined>();
  globalThis.held = { answered: answered.promise };
  const waiting: { first?: () => void } = {};
  MessagePort.prototype.postMessage = function (message: unknown): void {
    const { name, id, input } = message as { name?: string; id: number; input?: { action?: string; outcome?: string } };
    if (name !== "audit" || input?.action !== "folder.created") {
      send.call(this, message);
      return;
    }
    const whenAnswered = (work: () => void): void =>
      this.addEventListener("message", ({ data }: MessageEvent<{ id?: number }>) => {
        if (data.id === id) work();
      });
    if (input.outcome === "") {
      waiting.first = () => send.call(this, message);
      // The page has shown what it got when it draws for the second time.
      whenAnswered(() => requestAnimationFrame(() => requestAnimationFrame(() => answered.resolve(undefined))));
    } else {
      whenAnswered(() => waiting.first?.());
      send.call(this, message);
    }
  };
}

async function signIn(on: Page): Promise<void> {
  await on.getByRole("textbox", { name: "E-mail" }).fill(email);
  await on.getByLabel("Password", { exact: true }).fill(password);
  await on.getByRole("button", { name: "Sign in" }).click();
}

const chain = page.getByRole("region", { name: "The chain of records" });
const verify = chain.getByRole("button", { name: "Verify" });

await t.test("the chain verifies itself, and each record is there with the names of people and folders", async (t) => {
  await signIn(page);
  await chain.getByText(/^The chain is whole: \d+ records/).waitFor();
  t.equal(new URL(page.url()).pathname, "/audit");
  const rows = page.getByRole("list", { name: "Audit" }).getByRole("listitem");
  const created = rows.filter({ hasText: "folder.created" });
  t.same(await created.count(), 2);
  t.match(await created.first().innerText(), /user alice@example\.com → folder second/);
  await created.first().locator("summary").click();
  t.match(await created.first().locator("time").innerText(), /:\d\d:\d\d\s?\w/, "to the second, with its zone");
  await created.first().getByText('"prev_hash"').waitFor({ state: "visible" });
  t.same(await inaccessible(page), []);
});

await t.test("records are chosen by action and outcome", async (t) => {
  const rows = page.getByRole("list", { name: "Audit" }).getByRole("listitem");
  await page.getByRole("combobox", { name: "Action" }).selectOption("folder.created");
  await rows.filter({ hasText: "user.registered" }).waitFor({ state: "detached" });
  t.equal(await rows.count(), 2);
  await page.getByRole("combobox", { name: "Outcome" }).selectOption("denied");
  await page.getByText("Nothing found").waitFor();
  t.same(await inaccessible(page), []);
});

await t.test("records are chosen by member and day, and saved as a file", async (t) => {
  await page.getByRole("combobox", { name: "Outcome" }).selectOption("");
  await page.getByRole("combobox", { name: "Member" }).selectOption(email);
  const rows = page.getByRole("list", { name: "Audit" }).getByRole("listitem");
  await rows.first().waitFor();
  t.equal(await rows.count(), 2);
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as JSON lines" }).click();
  const path = await (await saving).path();
  const saved = readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { action: string; hash: string });
  t.same(
    saved.map(({ action }) => action),
    ["folder.created", "folder.created"],
  );
  t.match(saved[0]?.hash, /^[0-9a-f]{64}$/);
  const yesterday = new Date(Date.now() - 86_400_000).toLocaleDateString("sv");
  await page.getByLabel("to", { exact: true }).fill(yesterday);
  await page.getByText("Nothing found").waitFor();
  await page.getByLabel("to", { exact: true }).fill(new Date().toLocaleDateString("sv"));
  await rows.first().waitFor();
  t.same(await inaccessible(page), []);
});

await t.test("the newest choice counts when the answer for an earlier one comes later", async (t) => {
  const slow = await newVisitor();
  await slow.context.addInitScript(holdFirstChoice);
  const slows = await slow.open("/audit");
  await signIn(slows);
  await slows.getByRole("combobox", { name: "Action" }).selectOption("folder.created");
  await slows.getByRole("combobox", { name: "Outcome" }).selectOption("denied");
  await slows.getByText("Nothing found").waitFor();
  await slows.evaluate(() => held.answered);
  t.equal(await slows.getByRole("list", { name: "Audit" }).getByRole("listitem").count(), 0);
  t.equal(await slows.getByText("Nothing found").count(), 1);
  t.same(await slow.troubles(), []);
});

await t.test("a record that the operator changes is found, and named", async (t) => {
  await verify.click();
  await chain.getByText("It still holds record").waitFor();
  const change = (from: string, to: string) =>
    database.query(
      `UPDATE siem_forwarder.audit_records SET record = replace(record::text, $1, $2)::json
       WHERE seq = 2 AND chain_id = (SELECT chain_id FROM siem_forwarder.audit_records WHERE action = 'folder.created' LIMIT 1)`,
      [from, to],
    );
  await change('"success"', '"denied"');
  await verify.click();
  await chain.getByRole("alert").filter({ hasText: "The chain is broken at record 2: changed." }).waitFor();
  t.same(await inaccessible(page), []);
  await change('"denied"', '"success"');
  await verify.click();
  await chain.getByText(/^The chain is whole/).waitFor();
});

await t.test("a chain that is cut off without a trace is found by what this browser has verified", async (t) => {
  const chainId = `(SELECT chain_id FROM siem_forwarder.audit_records WHERE action = 'folder.created' LIMIT 1)`;
  await database.query(
    `UPDATE siem_forwarder.audit_chains SET seq = 3, hash = (
       SELECT record->>'hash' FROM siem_forwarder.audit_records WHERE chain_id = audit_chains.id AND seq = 3
     ) WHERE id = ${chainId}`,
  );
  await database.query(`DELETE FROM siem_forwarder.audit_records WHERE chain_id = ${chainId} AND seq > 3`);
  const isMissing = async (): Promise<void> => {
    await page.reload();
    await chain.getByRole("alert").filter({ hasText: "broken at record 4: missing: it was there before" }).waitFor();
  };
  await isMissing();
  // What is broken is not remembered.
  await isMissing();
  t.same(await visitor.troubles(), []);
});

await t.test("who may not read an audit is told so", async (t) => {
  const bob = await newVisitor();
  const bobs = await bob.open("/audit");
  await register({ url, email: "bob@example.com", password, device: { ...device, id: crypto.randomUUID() } });
  await bobs.getByRole("textbox", { name: "E-mail" }).fill("bob@example.com");
  await bobs.getByLabel("Password", { exact: true }).fill(password);
  await bobs.getByRole("button", { name: "Sign in" }).click();
  await bobs.getByText("An owner can give you such a role.").waitFor();
  t.same(await bob.troubles(), []);
});
