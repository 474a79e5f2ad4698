import pg from "pg";
import t from "tap";
import { prepareDatabase } from "@coffer/stores";
import { testPostgres } from "@coffer/testkit";

const server = await testPostgres(t, { own: true });
const owners = [
  { role: "auth_sm", schema: "auth_sm", password: "first-password" },
  { role: "vaults", schema: "vaults", password: "second-password" },
];

async function query(url: string | undefined, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url ?? "" });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

await t.test("each role works in its own schema and sees nothing of another", async (t) => {
  const { urls } = await prepareDatabase({ url: server.url, database: "coffer", owners });
  await query(urls["auth_sm"], "CREATE TABLE account (id int); INSERT INTO account VALUES (1)");
  t.same(await query(urls["auth_sm"], "SELECT id FROM auth_sm.account"), [{ id: 1 }]);
  await t.rejects(query(urls["vaults"], "SELECT id FROM auth_sm.account"), { code: "42501" });
  await t.rejects(query(urls["vaults"], "CREATE SCHEMA other"), { code: "42501" });
  await t.rejects(query(urls["vaults"], "CREATE TABLE public.t (id int)"), { code: "42501" });
});

await t.test("no transaction of a role can stay open for ever", async (t) => {
  const { urls } = await prepareDatabase({ url: server.url, database: "coffer", owners });
  const [row] = await query(
    urls["vaults"],
    `SELECT current_setting('idle_in_transaction_session_timeout') AS idle,
            current_setting('transaction_timeout') AS transaction`,
  );
  t.same(row, { idle: "15s", transaction: "5min" });
});

await t.test("it may run again, by several at once, and the newest password counts", async (t) => {
  const changed = owners.map((owner) => ({ ...owner, password: `${owner.password}-2` }));
  const all = await Promise.all(
    [1, 2, 3].map(() => prepareDatabase({ url: server.url, database: "coffer", owners: changed })),
  );
  t.same(await query(all[0]?.urls["auth_sm"], "SELECT id FROM account"), [{ id: 1 }], "the data is still there");
  const old = new URL(all[0]?.urls["auth_sm"] ?? "");
  old.password = "first-password";
  await t.rejects(query(old.href, "SELECT 1"), { code: "28P01" });
});

await t.test("no password is in the server's log or statements", async (t) => {
  const rows = await query(server.url, "SELECT rolpassword FROM pg_authid WHERE rolname = 'vaults'");
  t.match(rows, [{ rolpassword: /^SCRAM-SHA-256\$4096:/ }]);
});

await t.test("the owner of an existing database without superuser rights is enough", async (t) => {
  await query(server.url, "CREATE ROLE operator LOGIN CREATEROLE PASSWORD 'operator'");
  await query(server.url, "CREATE DATABASE shared OWNER operator");
  const url = new URL(server.url);
  url.username = url.password = "operator";
  url.pathname = "/shared";
  const own = owners.map((owner) => ({ ...owner, role: `${owner.role}_shared` }));
  const prepared = await prepareDatabase({ url: url.href, owners: own, extensions: ["pg_trgm"] });
  t.equal(prepared.url, url.href);
  await query(prepared.urls["vaults_shared"], "CREATE TABLE mine (id int)");
  t.same(await query(prepared.urls["vaults_shared"], "SELECT id FROM vaults.mine"), []);
  t.same(await query(url.href, "SELECT extname FROM pg_extension WHERE extname = 'pg_trgm'"), [{ extname: "pg_trgm" }]);
});

await t.test("an extension that the server lacks is not a failure", async (t) => {
  await t.resolves(prepareDatabase({ url: server.url, database: "coffer", owners, extensions: ["no_such_thing"] }));
});
