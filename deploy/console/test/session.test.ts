import { newPassword } from "@coffer/console-app/new-password";
import { personClient } from "@coffer/sdk";
import { register } from "@coffer/sdk/account";
import { testDirectory, until } from "@coffer/testkit";
import type { Page } from "playwright-core";
import t from "tap";
import { npmStart } from "../../local/test/npm-start.ts";
import { startVisitors, type Visitor, type VisitorOptions } from "./browser.ts";

// A message opens a session in the worker only with its password or recovery key, and a session that has
// ended leaves nothing. The test also sends messages that the page does not send.

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const file = t;
const { url } = await npmStart(file, { directory: testDirectory(file), env: limits }).ready;
const newVisitor = await startVisitors(file, url);
const email = "alice@example.com";
const password = newPassword({ kind: "words", length: 5 });
const device = { id: crypto.randomUUID(), name: "test", type: "cli" };
const { session, recoveryKey } = await register({ url, email, password, device });
const me = personClient(session, url);
const { id: vaultId } = await me.vaults.create("Private", { type: "personal" });
await me.records.create(vaultId, { type: "login", fields: { name: "Example mail", password: "s3cret" } });

declare global {
  /** The page's end of the channel to the worker, which an injected script takes from a call of the page. */
  var taken: MessagePort | Worker;
}

async function attacked(options: VisitorOptions = {}): Promise<Visitor> {
  const visitor = await newVisitor(options);
  await visitor.context.addInitScript(() => {
    for (const { prototype } of [MessagePort, Worker]) {
      const send = Reflect.get(prototype, "postMessage") as (...message: unknown[]) => void;
      prototype.postMessage = function (this: MessagePort | Worker, ...message: unknown[]) {
        globalThis.taken = this;
        send.apply(this, message);
      };
    }
  });
  return visitor;
}

/** The answer of the worker to each message: its code for a failure, otherwise `done`. */
function send(page: Page, messages: readonly { name: string; input?: unknown }[]): Promise<string[]> {
  return page.evaluate(
    (all) =>
      Promise.all(
        all.map(({ name, input }, index) => {
          const id = -1 - index;
          return new Promise<string>((resolve) => {
            const hear = (event: Event): void => {
              const { data } = event as MessageEvent<{ kind: string; id: number; failure?: { code: string } }>;
              if (data.id !== id) return;
              taken.removeEventListener("message", hear);
              resolve(data.failure?.code ?? "done");
            };
            taken.addEventListener("message", hear);
            taken.postMessage({ id, name, input });
          });
        }),
      ),
    messages,
  );
}

async function signIn(page: Page): Promise<void> {
  await page.getByRole("textbox", { name: "E-mail" }).fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("Example mail").first().waitFor();
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const isLocked = (page: Page) => button(page, "Unlock").waitFor();
const isSignedOut = (page: Page) => page.getByRole("heading", { name: "Sign in" }).waitFor();

/** The sealed copy of the vaults in this browser. */
function replica(page: Page): Promise<string | undefined> {
  return page.evaluate(
    (name) =>
      new Promise((resolve) => {
        const opening = indexedDB.open(name);
        opening.onsuccess = () => {
          const database = opening.result;
          const request = database.transaction("coffer").objectStore("coffer").get("sealed");
          request.onsuccess = () => {
            database.close();
            resolve(request.result as string | undefined);
          };
        };
      }),
    `coffer replica ${session.user.id}`,
  );
}

await t.test("a locked session ends after ten passwords, also when they come at once", async (t) => {
  const visitor = await attacked();
  const page = await visitor.open();
  await signIn(page);
  await button(page, "Lock").click();
  await isLocked(page);
  const guesses = Array.from({ length: 20 }, (_, index) => `${password} ${String(index)}`);
  const answers = await send(
    page,
    [...guesses, password].map((input) => ({ name: "unlock", input })),
  );
  t.notOk(answers.includes("done"), "the right one was the twenty-first");
  await page.getByText("Too many wrong passwords").waitFor();
  t.same(await send(page, [{ name: "unlock", input: password }]), ["locked"]);
  await visitor.context.close();
});

await t.test("a passkey is added with the password alone, of which an open session takes ten", async (t) => {
  const visitor = await attacked();
  const page = await visitor.open();
  await signIn(page);
  const prf = Array.from({ length: 32 }, () => 1);
  const add = { id: "own", name: "own", prf };
  t.same(
    await send(page, [
      { name: "addPasskey", input: add },
      { name: "unlockPasskey", input: add },
    ]),
    ["locked", "passkey_refused"],
  );
  t.same(await send(page, [{ name: "startPasskey", input: password }]), ["done"]);
  // The lock ends what was begun.
  await button(page, "Lock").click();
  await isLocked(page);
  t.same(
    await send(page, [
      { name: "startPasskey", input: password },
      { name: "removePasskeys" },
      { name: "unlock", input: password },
    ]),
    ["locked", "locked", "done"],
  );
  t.same(await send(page, [{ name: "addPasskey", input: add }]), ["locked"]);
  const guesses = Array.from({ length: 20 }, (_, index) => `${password} ${String(index)}`);
  const answers = await send(
    page,
    [...guesses, password].map((input) => ({ name: "startPasskey", input })),
  );
  t.notOk(answers.includes("done"), "the right one was the twenty-first");
  await page.getByText("Too many wrong passwords").waitFor();
  await visitor.context.close();
});

await t.test("two tabs that unlock at once leave nothing open after the next lock", async (t) => {
  const visitor = await attacked();
  const page = await visitor.open();
  await signIn(page);
  await button(page, "Lock").click();
  await isLocked(page);
  t.ok((await send(page, Array(2).fill({ name: "unlock", input: password }))).includes("done"));
  await button(page, "Lock").click();
  await isLocked(page);
  await page.evaluate(() => void seen.messages.splice(0));
  const { id } = await me.records.create(vaultId, { type: "login", fields: { name: "Written while locked" } });
  // As long as a device that listens needs.
  const other = await newVisitor();
  const listening = await other.open();
  await signIn(listening);
  await listening.getByText("Written while locked").first().waitFor();
  await me.records.remove(vaultId, id);
  await listening.getByText("Written while locked").first().waitFor({ state: "detached" });
  t.same(await page.evaluate(() => seen.messages), []);
  await other.context.close();
  await visitor.context.close();
});

await t.test("a lock while the password is changed opens with neither password", async (t) => {
  const typed = newPassword({ kind: "words", length: 5 });
  await register({ url, email: "carol@example.com", password: typed, device });
  const visitor = await attacked();
  const page = await visitor.open("/account");
  await page.getByRole("textbox", { name: "E-mail" }).fill("carol@example.com");
  await page.getByLabel("Password").fill(typed);
  await button(page, "Sign in").click();
  await page.getByRole("region", { name: "Sessions" }).waitFor();
  const change = { password: typed, code: "", newPassword: password, newRecoveryKey: false };
  await until("the lock has come after the change has begun", async () => {
    const [changed] = await send(page, [{ name: "changePassword", input: change }, { name: "lock" }]);
    if (changed === "locked") await send(page, [{ name: "unlock", input: typed }]);
    return changed === "done";
  });
  await isSignedOut(page);
  t.same(await send(page, [{ name: "unlock", input: typed }]), ["locked"]);
  await visitor.context.close();
});

await t.test("a session that waits for its recovery key opens with that alone", async (t) => {
  const visitor = await attacked();
  const page = await visitor.open("/register");
  const typed = newPassword({ kind: "words", length: 5 });
  await page.getByRole("textbox", { name: "E-mail" }).fill("bob@example.com");
  await page.getByLabel("Password", { exact: true }).fill(typed);
  await page.getByLabel("Password again").fill(typed);
  await button(page, "Create account").click();
  await page.getByRole("region", { name: "Your recovery key" }).waitFor();
  await page.goto(url);
  await isSignedOut(page);
  const attempts = [{ name: "keptRecoveryKey" }, { name: "keptRecoveryKey", input: recoveryKey }];
  // The page sends a first message.
  await page.keyboard.press("Shift");
  t.same(await send(page, attempts), ["locked", "locked"]);
  t.same(await send(page, [{ name: "constructor" }, { name: "toString" }]), ["unexpected", "unexpected"], "no calls");
  await isSignedOut(page);
  await signIn(page);
  await button(page, "Lock").click();
  await isLocked(page);
  t.same(await send(page, attempts), ["locked", "locked"]);
  await isLocked(page);
  await visitor.context.close();
});

await t.test("a locked session that was ended elsewhere leaves nothing when it is unlocked", async (t) => {
  const visitor = await attacked();
  const page = await visitor.open();
  await signIn(page);
  await button(page, "Lock").click();
  await isLocked(page);
  await until("the lock has stored the copy", async () => (await replica(page)) !== undefined);
  await me.sessions.endOthers();
  await send(page, [{ name: "unlock", input: password }]);
  await isSignedOut(page);
  await page.getByText("Your session was ended elsewhere").waitFor();
  t.equal(await page.getByText("Example mail").count(), 0);
  await until("the copy is removed", async () => (await replica(page)) === undefined);
  // Longer than a copy waits before it is stored.
  await page.waitForTimeout(6000);
  t.equal(await replica(page), undefined);
  await visitor.context.close();
});

await t.test("signing out of a locked session removes the copy of the vaults", async (t) => {
  const visitor = await attacked();
  const page = await visitor.open();
  await signIn(page);
  await button(page, "Lock").click();
  await isLocked(page);
  await until("the lock has stored the copy", async () => (await replica(page)) !== undefined);
  await button(page, "Sign out").click();
  await isSignedOut(page);
  await until("the copy is removed", async () => (await replica(page)) === undefined);
  t.same(await visitor.troubles(), []);
  await visitor.context.close();
});

await t.test("without shared workers, signing out of one tab leaves no copy of another tab", async (t) => {
  const visitor = await attacked({ withoutSharedWorker: true });
  const [first, second] = [await visitor.open(), await visitor.open()];
  for (const page of [first, second]) await signIn(page);
  // Both have a change that is not stored yet.
  const { id } = await me.records.create(vaultId, { type: "login", fields: { name: "Just written" } });
  for (const page of [first, second]) await page.getByText("Just written").first().waitFor();
  await button(second, "Sign out").click();
  for (const page of [first, second]) await isSignedOut(page);
  // Longer than a copy waits before it is stored.
  await first.waitForTimeout(6000);
  t.equal(await replica(first), undefined);
  await me.records.remove(vaultId, id);
  t.same(await visitor.troubles(), []);
  await visitor.context.close();
});

await t.test("a tab imports the file that it shows, and no other tab's", async (t) => {
  const visitor = await attacked();
  const [first, second] = [await visitor.open("/import"), await visitor.open("/import")];
  await first.getByRole("textbox", { name: "E-mail" }).fill(email);
  await first.getByLabel("Password", { exact: true }).fill(password);
  await button(first, "Sign in").click();
  for (const [page, name] of [
    [first, "First"],
    [second, "Second"],
  ] as const) {
    const csv = Buffer.from(`name,url,username,password,note\n${name},https://a.example,a,b,\n`);
    await page.getByLabel("File", { exact: true }).setInputFiles({ name: "a.csv", mimeType: "text/csv", buffer: csv });
    await button(page, "Look into it").click();
    await button(page, "Import 1").waitFor();
  }
  await button(first, "Import 1").click();
  await first.getByRole("alert").filter({ hasText: "Look into the file again" }).waitFor();
  const names = async () => (await me.records.list(vaultId)).map(({ fields }) => fields["name"]);
  t.same(await names(), ["Example mail"]);
  await button(first, "Look into it").click();
  await button(first, "Import 1").click();
  await first.getByText("1 record is imported.").waitFor();
  t.same((await names()).sort(), ["Example mail", "First"]);
  await visitor.context.close();
});
