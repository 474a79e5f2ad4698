import { createDatabase, migrate, sql } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import { testPostgres } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { createQuota, usageMigrations } from "../src/index.ts";

// The counter alone, without the tables whose triggers call it.

const { url } = await testPostgres(t);
await migrate({ url, schema: "counted", packages: { usage: usageMigrations } });

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, options: "-c search_path=counted -c lock_timeout=5s" });
  await client.connect();
  t.teardown(() => client.end());
  return client;
}
const client = await connect();
let owners = 0;
const newOwner = (): string => `00000000-0000-4000-8000-${String((owners += 1)).padStart(12, "0")}`;

/** Adds; false when that would exceed a limit. */
async function add(
  by: pg.Client,
  owner: string,
  { items = 0, bytes = 0, most = null, mostBytes = null }: Record<string, number | null>,
): Promise<boolean> {
  try {
    await by.query("SELECT add_usage($1, 'things', $2, $3, $4, $5)", [owner, items, bytes, most, mostBytes]);
    return true;
  } catch (error) {
    if ((error as pg.DatabaseError).code !== "CFQ01") throw error; // what pg throws
    return false;
  }
}

async function usageOf(owner: string): Promise<{ items: number; bytes: number }> {
  const text = "SELECT sum(items)::integer AS items, sum(bytes)::integer AS bytes FROM usage WHERE owner = $1";
  const { rows } = await client.query<{ items: number; bytes: number }>(text, [owner]);
  return rows[0] ?? { items: 0, bytes: 0 };
}

await t.test("each limit is reached exactly, and never exceeded", async (t) => {
  for (const most of [1, 7, 8, 9, 20, 64]) {
    const [itemsOwner, bytesOwner] = [newOwner(), newOwner()];
    for (let n = 0; n < most; n += 1) {
      t.equal(await add(client, itemsOwner, { items: 1, most }), true, `${n} of ${most}`);
      t.equal(await add(client, bytesOwner, { bytes: 1, mostBytes: most }), true);
    }
    t.equal(await add(client, itemsOwner, { items: 1, most }), false);
    t.equal(await add(client, bytesOwner, { bytes: 1, mostBytes: most }), false);
    t.equal(await add(client, itemsOwner, { items: -1, most }), true);
    t.equal(await add(client, itemsOwner, { items: 1, most }), true);
    t.same(await usageOf(itemsOwner), { items: most, bytes: 0 });
  }
});

await t.test("a writer does not wait for transactions that have counted and not committed", async (t) => {
  const owner = newOwner();
  t.equal(await add(client, owner, { items: 1, most: 1000 }), true);
  const others = await Promise.all(Array.from({ length: 7 }, connect));
  for (const other of others) {
    await other.query("BEGIN");
    t.equal(await add(other, owner, { items: 1, most: 1000 }), true);
  }
  await client.query("SET lock_timeout = '1s'");
  t.equal(await add(client, owner, { items: 1, most: 1000 }), true);
  await client.query("RESET lock_timeout");
  for (const other of others) await other.query("COMMIT");
  t.match(await usageOf(owner), { items: 9 });
});

await t.test("concurrent writers, of which some roll back, never exceed a limit and count everything", async (t) => {
  const writers = await Promise.all(Array.from({ length: 6 }, connect));
  const owner = newOwner();
  const most = 50;
  let [items, refused, highest] = [0, 0, 0];
  // A sequence for each writer, equal in each run.
  const work = writers.map(async (writer, n) => {
    for (let step = 0; step < 150; step += 1) {
      const more = ((step * 7 + n * 5) % 9) - 3;
      await writer.query("BEGIN");
      const done = await add(writer, owner, { items: more, bytes: more * 10, most, mostBytes: most * 10 });
      const commits = done && (step + n) % 5 !== 0;
      await writer.query(commits ? "COMMIT" : "ROLLBACK");
      if (commits) items += more;
      if (!done) refused += 1;
      const now = await usageOf(owner);
      highest = Math.max(highest, now.items);
      if (now.items > most || now.bytes > most * 10) throw new Error(`${now.items} items of ${most}`);
    }
  });
  await Promise.all(work);
  t.same(await usageOf(owner), { items, bytes: items * 10 });
  t.ok(refused > 0, "some were refused");
  t.ok(highest > most - 8, "the limit was reached");
});

await t.test("after a limit was lowered only the sum decides", async (t) => {
  const owner = newOwner();
  for (let n = 0; n < 40; n += 1) await add(client, owner, { items: 1, most: 1000 });
  for (let n = 40; n > 10; n -= 1) {
    t.equal(await add(client, owner, { items: 1, most: 10 }), false, `at ${n}`);
    t.equal(await add(client, owner, { items: -1, most: 10 }), true);
  }
  t.equal(await add(client, owner, { items: 1, most: 10 }), false, "at the limit");
  t.equal(await add(client, owner, { bytes: 5, most: 10 }), true, "a limit of items does not limit bytes");
  t.equal(await add(client, owner, { items: -1, most: 10 }), true);
  t.equal(await add(client, owner, { items: 1, most: 10 }), true);
});

await t.test("a refusal is quota_exceeded to the caller of a transaction and of a prepared write", async (t) => {
  const telemetry = createTelemetry({ service: "vaults", level: "silent" });
  const kinds = { things: { owner: "the owner", items: "things" } };
  const quota = createQuota(telemetry, { items: 2, mebibytes: 1, kinds });
  const database = createDatabase({ url, schema: "counted", telemetry, ...quota });
  t.teardown(() => database.close());
  await client.query(`
    CREATE TABLE things (owner uuid);
    CREATE FUNCTION count_things() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN
      PERFORM add_usage(owner, 'things', count(*), 0, quota('items'), quota('bytes')) FROM added GROUP BY owner;
      RETURN NULL;
    END $$;
    CREATE TRIGGER things_added AFTER INSERT ON things
      REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_things();
  `);
  const insert = database.preparedWriteEach<{ owner: string }>(
    "insert-things",
    `WITH requested AS (SELECT * FROM unnest($1::uuid[]) WITH ORDINALITY AS requested (owner, n)),
       written AS (INSERT INTO things SELECT owner FROM requested RETURNING owner)
     SELECT requested.n::integer AS n, requested.owner FROM requested`,
  );
  const [full, other] = [newOwner(), newOwner()];
  const exceeded = {
    code: "quota_exceeded",
    message: "the owner has the 2 things that its quota allows: delete some first",
  };
  // Together in one statement, which is refused as a whole and then retried one by one.
  const results = await Promise.allSettled([full, full, full, other, other].map((owner) => insert([owner])));
  t.equal(results.filter(({ status }) => status === "fulfilled").length, 4);
  const [refusal] = results.filter((result) => result.status === "rejected");
  t.match(refusal?.reason, exceeded);
  const statement = sql.typeAlias("void")`INSERT INTO things SELECT ${full}::uuid`;
  await t.rejects(
    database.transaction((tx) => tx.query(statement)),
    exceeded,
  );
  t.match(await usageOf(full), { items: 2 });
  t.match(await usageOf(other), { items: 2 });
});
