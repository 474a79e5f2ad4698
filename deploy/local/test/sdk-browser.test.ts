import t from "tap";
import { createClient, personClient } from "@coffer/sdk";
import type * as Sdk from "@coffer/sdk";
import { testDirectory } from "@coffer/testkit";
import { startBrowser } from "../../../packages/crypto/test/browser/start.ts";
import { newCli, newMachine, password } from "./cli/cli-person.ts";
import { npmStart, until } from "./npm-start.ts";
import { newAccount, newDevice, secondSession } from "./vault-people.ts";

// The SDK's own sources in a real browser, on a page of another origin, against a running Coffer.

const file = t;
const browser = await startBrowser(file);
const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const env = { ...limits, COFFER_SYNC_ALLOWED_ORIGINS: new URL(browser.url).origin };
const { url } = await npmStart(file, { directory: testDirectory(t), env }).ready;
const email = "alice@example.com";

declare global {
  /** The state of these tests in the page between their steps. */
  var state: { session: Sdk.PersonSession; sync: Sdk.Sync; events: string[] };
}

const page = await browser.openPage();
await page.evaluate(
  async ({ url, email, password }) => {
    const { register } = await import("@coffer/sdk/account");
    const device = { id: crypto.randomUUID(), name: "a page", type: "web" };
    const { session } = await register({ url, email, password, device, organization: "Example" });
    Object.assign(globalThis, { state: { session } });
  },
  { url, email, password },
);

await t.test("a vault that is made in a page opens in Node, and the other way round", async (t) => {
  const made = await page.evaluate(async (url) => {
    const { personClient } = await import("@coffer/sdk");
    const me = personClient(state.session, url);
    const vault = await me.vaults.create("Private");
    const record = await me.records.create(vault.id, { type: "login", fields: { name: "page", password: "from it" } });
    return { vault, record };
  }, url);
  const me = personClient(await secondSession(url, email), url);
  t.same(await me.records.list(made.vault.id), [made.record]);
  const { id } = await me.records.create(made.vault.id, { type: "login", fields: { name: "node", password: "to it" } });
  const seen = await page.evaluate(
    async ({ url, vaultId, id }) => {
      const { personClient } = await import("@coffer/sdk");
      const { fields } = await personClient(state.session, url).records.get(vaultId, id);
      return fields;
    },
    { url, vaultId: made.vault.id, id },
  );
  t.same(seen, { name: "node", password: "to it" });
});

await t.test("a page shares a vault, and removes the member again by a rotation", async (t) => {
  const invited = "bob@example.com";
  const token = await page.evaluate(
    async ({ url, invited }) => {
      const { personClient } = await import("@coffer/sdk");
      return (await personClient(state.session, url).invites.create(invited, "member")).token;
    },
    { url, invited },
  );
  const bob = await newAccount(url, invited, token);
  const shared = await page.evaluate(
    async ({ url, userId }) => {
      const { personClient } = await import("@coffer/sdk");
      const me = personClient(state.session, url);
      const { id } = await me.vaults.create("Team", { type: "shared" });
      await me.records.create(id, { type: "login", fields: { name: "team", password: "of the team" } });
      await me.vaults.share(id, { userId, permission: "write" });
      return id;
    },
    { url, userId: bob.user.id },
  );
  const his = personClient(bob, url);
  await his.vaults.accept(shared);
  t.match(await his.records.list(shared), [{ fields: { password: "of the team" } }]);
  await his.records.create(shared, { type: "login", fields: { name: "his", password: "from Bob" } });
  const left = await page.evaluate(
    async ({ url, id, userId }) => {
      const { personClient } = await import("@coffer/sdk");
      const me = personClient(state.session, url);
      await me.vaults.unshare(id, userId);
      const { key_version: version } = await me.vaults.get(id);
      const passwords = (await me.records.list(id)).map(({ fields }) => fields["password"]).sort();
      await me.vaults.remove(id);
      return { version, passwords };
    },
    { url, id: shared, userId: bob.user.id },
  );
  t.same(left, { version: 2, passwords: ["from Bob", "of the team"] });
});

await t.test("a page follows the vaults, and receives a change", async (t) => {
  await page.evaluate(async (url) => {
    const { personClient } = await import("@coffer/sdk");
    const { indexedDbStorage } = await import("@coffer/sdk/browser");
    const { session } = state;
    const events: string[] = [];
    const sync = await personClient(session, url).sync({
      storage: indexedDbStorage(`coffer ${session.user.id}`),
      onStorageError: (error) => events.push(String(error)),
      onChange: (changes) => {
        for (const change of changes)
          events.push(
            "record" in change ? `${change.action} ${change.record.fields["password"] ?? ""}` : change.action,
          );
      },
    });
    await sync.ready;
    Object.assign(state, { sync, events });
  }, url);
  const events = (): Promise<string[]> => page.evaluate(() => state.events);
  t.same((await events()).sort(), ["record_created from it", "record_created to it", "vault_created"]);

  const other = await newDevice(t, url, await secondSession(url, email));
  const [vault] = other.sync.vaults();
  await other.me.records.create(vault?.id ?? "", { type: "login", fields: { name: "live", password: "at once" } });
  await until(async () => (await events()).includes("record_created at once"));
});

await t.test("a reopened page has its records, sealed in IndexedDB, before it is connected", async (t) => {
  const held = await page.evaluate(async (url) => {
    const { personClient } = await import("@coffer/sdk");
    const { indexedDbStorage } = await import("@coffer/sdk/browser");
    const { session, sync } = state;
    await sync.stop();
    const storage = indexedDbStorage(`coffer ${session.user.id}`);
    const text = (await storage.load()) ?? "";
    const never = class {
      addEventListener(): void {
        // A service that never answers.
      }
      send(): void {
        throw new Error("not open");
      }
      close(): void {
        // Nothing to close.
      }
    };
    const again = await personClient(session, url).sync({ storage, webSocket: never });
    const records = await again.records();
    await again.stop();
    await storage.clear();
    return { text, passwords: records.map(({ fields }) => fields["password"]).sort(), cleared: await storage.load() };
  }, url);
  t.same(held.passwords, ["at once", "from it", "to it"]);
  t.equal(held.cleared, undefined);
  t.match(held.text, /^[A-Za-z0-9+/]+=*$/);
});

await t.test("a session that is revoked ends the page's sync with the reason", async (t) => {
  const ended = page.evaluate(async (url) => {
    const { personClient } = await import("@coffer/sdk");
    const sync = await personClient(state.session, url).sync();
    await sync.ready;
    Object.assign(globalThis, { ready: true });
    return sync.ended.then(
      () => "stopped",
      (error: unknown) => (error as Sdk.CofferError).message,
    );
  }, url);
  await page.waitForFunction(() => "ready" in globalThis);
  const session = await page.evaluate(() => state.session);
  await personClient(await secondSession(url, email), url).sessions.end(session.session_id);
  t.match(await ended, /user_revoked/);
});

await t.test("a page reads secrets as a machine", async (t) => {
  const cli = newCli(t, url);
  await cli.data(["login", "--email", email], { env: { COFFER_PASSWORD: password } });
  await cli.data(["folder", "create", "production"]);
  await cli.data(["set", "coffer://production/database/field/password"], { input: "s3cret" });
  await cli.data(["app", "create", "web"]);
  const { loadConfiguration } = await import("@coffer/sdk/node");
  const configuration = await loadConfiguration(await newMachine(cli, "web", ["production:read"]));
  const read = await page.evaluate(async (machine) => {
    const { createClient } = await import("@coffer/sdk");
    const client = createClient(machine);
    const uri = "coffer://production/database/field/password";
    return [await client.read(uri), (await client.resolve(uri)).value, (await client.search("data"))[0]?.title];
  }, configuration);
  t.same(read, ["s3cret", "s3cret", "database"]);
  t.equal(await createClient(configuration).read("coffer://production/database/field/password"), "s3cret");
});
