import { newPassword } from "@coffer/console-app/new-password";
import { personClient } from "@coffer/sdk";
import { register } from "@coffer/sdk/account";
import { testDirectory, until } from "@coffer/testkit";
import type { CDPSession, Page } from "playwright-core";
import t from "tap";
import { npmStart } from "../../local/test/npm-start.ts";
import { inaccessible, startVisitors, type Visitor, type VisitorOptions } from "./browser.ts";

// A passkey opens the session in place of the password. The authenticator is the browser's own, for tests.

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
// A passkey belongs to a name.
const newVisitor = await startVisitors(t, url.replace("127.0.0.1", "localhost"));
const email = "alice@example.com";
const [password, changed] = [newPassword({ kind: "words", length: 5 }), newPassword({ kind: "words", length: 5 })];
const device = { id: crypto.randomUUID(), name: "test", type: "cli" };
const { session, recoveryKey } = await register({ url, email, password, device });
const me = personClient(session, url);
const { id: vaultId } = await me.vaults.create("Private", { type: "personal" });
await me.records.create(vaultId, { type: "login", fields: { name: "Example mail", password: "s3cret" } });

declare global {
  /** What the browser has answered to the page. */
  var answers: PublicKeyCredential[];
  /** Whether the page wanted the person's verification, each time that it asked. */
  var verifications: (string | undefined)[];
}

const internal = {
  protocol: "ctap2",
  ctap2Version: "ctap2_1",
  transport: "internal",
  hasResidentKey: true,
  hasUserVerification: true,
  hasPrf: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const;

interface Device {
  visitor: Visitor;
  page: Page;
  cdp: CDPSession;
  authenticatorId: string;
  /** Paths of the requests of the page and its worker. */
  requested: string[];
}

/** A browser with an authenticator, signed in and at the account. */
async function signedIn(options: VisitorOptions = {}, authenticator: Partial<typeof internal> | object = {}) {
  const visitor = await newVisitor(options);
  await visitor.context.addInitScript(() => {
    globalThis.answers = [];
    globalThis.verifications = [];
    // An empty page has none.
    if (!("credentials" in navigator)) return;
    for (const name of ["create", "get"] as const) {
      const ask = navigator.credentials[name].bind(navigator.credentials);
      navigator.credentials[name] = async (given?: CredentialCreationOptions & CredentialRequestOptions) => {
        const { userVerification, authenticatorSelection } = given?.publicKey ?? {};
        verifications.push(userVerification ?? authenticatorSelection?.userVerification);
        const answer = await ask(given);
        answers.push(answer as PublicKeyCredential);
        return answer;
      };
    }
  });
  const requested: string[] = [];
  visitor.context.on("request", (request) => requested.push(new URL(request.url()).pathname));
  const page = await visitor.open("/account");
  const cdp = await visitor.context.newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: { ...internal, ...authenticator },
  });
  await page.getByRole("textbox", { name: "E-mail" }).fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await button(page, "Sign in").click();
  await section(page).waitFor();
  return { visitor, page, cdp, authenticatorId, requested } satisfies Device;
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const section = (page: Page) => page.getByRole("region", { name: "Passkey of this browser" });
const isSignedOut = (page: Page) => page.getByRole("heading", { name: "Sign in" }).waitFor();

async function add(page: Page, typed = password): Promise<void> {
  if (!(await section(page).getByRole("textbox", { name: "Name of the passkey" }).isVisible()))
    await button(page, "Add a passkey").click();
  await section(page).getByRole("textbox", { name: "Name of the passkey" }).fill("This laptop");
  await section(page).getByLabel("Password", { exact: true }).fill(typed);
  await section(page).getByRole("button", { name: "Add a passkey" }).click();
}

const isAdded = (page: Page) => section(page).getByText("“This laptop”, added").waitFor();

/** What the browser stores of passkeys. */
function stored(page: Page): Promise<string | undefined> {
  return page.evaluate(
    () =>
      new Promise((resolve) => {
        const opening = indexedDB.open("coffer passkeys", 1);
        opening.onupgradeneeded = () => opening.result.createObjectStore("coffer");
        opening.onsuccess = () => {
          const request = opening.result.transaction("coffer").objectStore("coffer").get("sealed");
          request.onsuccess = () => {
            opening.result.close();
            resolve(request.result as string | undefined);
          };
        };
      }),
  );
}

const isEmpty = (text: string | undefined): boolean => text === undefined || text === "{}";

await t.test("it is added with the password, and opens a lock by keyboard in all tabs", async (t) => {
  const { visitor, page, cdp, authenticatorId } = await signedIn();
  await add(page, `${password} not`);
  await section(page).getByText("That is not your password.").waitFor();
  t.equal(await page.evaluate(() => answers.length), 0, "the browser was not asked");
  t.same(await inaccessible(page), []);
  await add(page);
  await isAdded(page);
  t.same(await inaccessible(page), []);
  const second = await visitor.open("/account");
  await isAdded(second);

  await button(second, "Lock").click();
  await button(page, "Unlock with passkey").waitFor();
  t.same(await inaccessible(page), []);
  await page.bringToFront();
  await page.getByLabel("Password", { exact: true }).focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await isAdded(page);
  await isAdded(second);

  // Without the verification of its person the authenticator answers nothing. The password opens the lock too.
  await button(page, "Lock").click();
  await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
  await button(page, "Unlock with passkey").click();
  await page.getByText("The passkey was not used").waitFor();
  t.same(await inaccessible(page), []);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await button(page, "Unlock").click();
  await isAdded(page);

  const left = await page.evaluate(() =>
    answers.map((answer) => {
      const { first } = answer.getClientExtensionResults().prf?.results ?? {};
      return first?.byteLength ?? null;
    }),
  );
  t.same(left, [0, 0], "the page has moved the answers to the worker");
  t.same([...new Set(await page.evaluate(() => verifications))], ["required"]);
  const everything = (await visitor.traces(page)) + (await page.evaluate(() => seen.messages)).join("\n");
  for (const text of [password, session.user_key, "s3cret"]) t.notOk(everything.includes(text));
  t.notMatch(everything, /eyJ[\w-]+\.|refresh_token|access_token/);
  t.notOk((await stored(page))?.includes(email));

  await button(page, "Remove the passkey").click();
  await button(second, "Add a passkey").waitFor();
  t.ok(isEmpty(await stored(page)));
  await button(page, "Lock").click();
  await button(page, "Unlock").waitFor();
  t.equal(await button(page, "Unlock with passkey").count(), 0);
  t.same(await visitor.troubles(), []);
  await visitor.context.close();
});

await t.test("it opens the session after a reload that has ended the worker, without a login", async (t) => {
  const { visitor, page, requested } = await signedIn({ withoutSharedWorker: true });
  await add(page);
  await isAdded(page);
  const sessions = async () => (await me.sessions.list()).length;
  const before = await sessions();
  await page.reload();
  await isSignedOut(page);
  t.same(await inaccessible(page), []);
  requested.length = 0;
  await button(page, "Unlock with passkey").click();
  await isAdded(page);
  await page.getByText("Up to date").waitFor();
  t.same(
    requested.filter((path) => /^\/api\/auth\/(?!sessions$)/.test(path)),
    [],
  );
  t.ok(
    requested.some((path) => path.startsWith("/api/")),
    "the requests of the worker are seen",
  );
  t.equal(await sessions(), before);

  // The session has the key of its lock: the password opens it too.
  await button(page, "Lock").click();
  await page.getByLabel("Password", { exact: true }).fill(password);
  await button(page, "Unlock").click();
  await isAdded(page);

  // A login by password is what it opens from then on.
  await page.reload();
  await page.getByRole("textbox", { name: "E-mail" }).fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await button(page, "Sign in").click();
  await isAdded(page);
  await page.reload();
  await button(page, "Unlock with passkey").click();
  await isAdded(page);
  const current = (await me.sessions.list()).find(({ device }) => device.name.includes("Chrome"));
  t.equal(await sessions(), before + 1);

  // What another device ends does not open.
  await page.reload();
  await isSignedOut(page);
  for (const { id, current: own } of await me.sessions.list()) if (!own) await me.sessions.end(id);
  t.ok(current !== undefined);
  await button(page, "Unlock with passkey").click();
  await page.getByText("Your session was ended elsewhere.").waitFor();
  await until("the passkey is removed", async () => isEmpty(await stored(page)));
  t.equal(await button(page, "Unlock with passkey").count(), 0);
  await visitor.context.close();
});

await t.test("signing out removes it, also from a lock, and by hand before anyone signs in", async (t) => {
  const { visitor, page } = await signedIn({ withoutSharedWorker: true });
  for (const end of ["signed in", "locked", "before"]) {
    await add(page);
    await isAdded(page);
    if (end === "locked") await button(page, "Lock").click();
    if (end === "before") {
      await page.reload();
      await button(page, "Remove that session").click();
    } else await button(page, "Sign out").click();
    await isSignedOut(page);
    await until(`it is removed: ${end}`, async () => isEmpty(await stored(page)));
    t.equal(await button(page, "Unlock with passkey").count(), 0, end);
    await page.getByRole("textbox", { name: "E-mail" }).fill(email);
    await page.getByLabel("Password", { exact: true }).fill(password);
    await button(page, "Sign in").click();
    await button(page, "Add a passkey").waitFor();
  }
  t.same(await visitor.troubles(), []);
  await visitor.context.close();
});

await t.test("an authenticator without PRF, and a refused request, store nothing", async (t) => {
  const { visitor, page, cdp, authenticatorId } = await signedIn({}, { hasPrf: false });
  await add(page);
  await section(page).getByText("it has no PRF").waitFor();
  t.same(await inaccessible(page), []);
  t.ok(isEmpty(await stored(page)));
  await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
  await add(page);
  await section(page).getByText("The passkey was not used").waitFor();
  t.ok(isEmpty(await stored(page)));
  t.same(await visitor.troubles(), []);
  await visitor.context.close();

  const numbers = await newVisitor();
  const other = await numbers.context.newPage();
  await other.goto(`${url}/account`);
  await other.getByRole("textbox", { name: "E-mail" }).fill(email);
  await other.getByLabel("Password", { exact: true }).fill(password);
  await button(other, "Sign in").click();
  await section(other).waitFor();
  await add(other);
  await section(other).getByText("A passkey needs an address with a name").waitFor();
  await numbers.context.close();
});

await t.test("a security key, a new password, and German", async (t) => {
  const usb = { transport: "usb", hasResidentKey: false };
  const { visitor, page } = await signedIn({ withoutSharedWorker: true }, usb);
  await add(page);
  await isAdded(page);
  await button(page, "Change the password").click();
  const own = page.getByRole("region", { name: "Your password", exact: true });
  await own.getByLabel("Password", { exact: true }).fill(password);
  await own.getByLabel("New password").fill(changed);
  await own.getByLabel("Password again").fill(changed);
  await own.getByRole("button", { name: "Change the password" }).click();
  await page.getByText("The password is changed.").waitFor();
  await page.reload();
  await button(page, "Unlock with passkey").click();
  await isAdded(page);
  await page.getByText("Up to date").waitFor();
  await button(page, "Lock").click();
  await page.getByLabel("Password", { exact: true }).fill(password);
  await button(page, "Unlock").click();
  await page.getByText("That is not your password.").waitFor();
  await page.getByLabel("Password", { exact: true }).fill(changed);
  await button(page, "Unlock").click();
  await isAdded(page);

  const settings = page.getByRole("region", { name: "In this browser" });
  await settings.getByRole("combobox", { name: "Language" }).selectOption("Deutsch");
  await page.getByText("Saved").first().waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Anmelden" }).waitFor();
  t.same(await inaccessible(page), []);
  await button(page, "Mit Passkey entsperren").click();
  await page.getByRole("region", { name: "Passkey dieses Browsers" }).getByText("hinzugefügt").waitFor();
  t.same(await inaccessible(page), []);

  // A recovery ends the session, and its passkey with it.
  await page.goto(new URL("/recover", page.url()).href);
  await page.getByRole("textbox", { name: "E-Mail" }).fill(email);
  await page.getByLabel("Ihr Wiederherstellungsschlüssel", { exact: true }).fill(recoveryKey);
  await page.getByLabel("Neues Passwort").fill(password);
  await page.getByLabel("Passwort noch einmal").fill(password);
  await button(page, "Passwort setzen").click();
  await page.getByRole("region", { name: "Ihr Wiederherstellungsschlüssel" }).waitFor();
  t.ok(isEmpty(await stored(page)));
  await visitor.context.close();
});
