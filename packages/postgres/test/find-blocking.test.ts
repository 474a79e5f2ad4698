import pg from "pg";
import t from "tap";
import { testPostgres } from "@coffer/testkit";
import { findBlocking } from "./find-blocking.ts";

const { url } = await testPostgres(t);
const client = new pg.Client({ connectionString: url });
await client.connect();
t.teardown(() => client.end());

const before = {
  name: "0001_tables.sql",
  text: `create table folders (id int primary key, name text);
    create table secrets (id int primary key, folder_id int, title text, size int);`,
};

const cases: [text: string, found: RegExp | null][] = [
  ["create table machines (id int primary key, folder_id int references folders)", null],
  ["alter table secrets add column expires_at timestamptz", null],
  ["alter table secrets add column tags jsonb not null default '[]'", null],
  ["alter table secrets add constraint positive check (size > 0) not valid", null],
  ["update secrets set title = '' where id = 7", null],
  ["insert into folders select id, title from secrets", null],
  ["alter table secrets alter column size drop not null", null],
  ["-- without transaction\ncreate index concurrently by_folder on secrets (folder_id);", null],
  ["create index by_folder on secrets (folder_id)", /reads every row of secrets while writes wait/],
  ["alter table secrets alter column size type bigint", /rewrites secrets/],
  ["alter table secrets add column made_at timestamptz default clock_timestamp()", /rewrites secrets/],
  ["alter table secrets alter column title set not null", /reads every row of secrets/],
  ["alter table secrets add constraint positive check (size > 0)", /reads every row of secrets/],
  ["alter table secrets add foreign key (folder_id) references folders", /reads every row of secrets/],
  ["alter table secrets add unique (title)", /reads every row of secrets/],
  ["update secrets set title = ''", /changes rows of secrets by a scan/],
  ["delete from secrets where size is null", /changes rows of secrets by a scan/],
  ["-- without transaction\nupdate secrets set title = '';", /without a transaction: update secrets/],
];

for (const [at, [text, expected]] of cases.entries())
  await t.test(text, async (t) => {
    const schema = `case_${at}`;
    await client.query(`create schema ${schema}`);
    await client.query(`set search_path = ${schema}`);
    const found = await findBlocking(client, schema, [before, { name: "0002_change.sql", text }]);
    if (expected === null) t.same(found, []);
    else t.match(found, [expected]);
  });
