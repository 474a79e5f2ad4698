import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import t from "tap";
import { serviceNames } from "@coffer/events";
import { testDirectory, testPostgres } from "@coffer/testkit";
import { dataFormat, openInstallation } from "../../src/data/installation.ts";
import { migrateAll } from "../../src/data/migrate-all.ts";
import { resetDataDirectory } from "../../src/data/reset.ts";
import { allServices } from "../../src/services/services.ts";
import { aboutDataDirectory } from "../../src/startup-error.ts";
import { npmStart } from "../npm-start.ts";

/** The one-line output of a start that must fail. */
async function failedStart(t: Tap, directory: string, args: string[] = []): Promise<string> {
  const started = npmStart(t, { directory, args });
  t.equal(await started.exited, 1);
  t.equal(started.stdout(), "");
  t.match(started.stderr(), /^coffer: .*\n$/);
  return started.stderr();
}
type Tap = Pick<typeof t, "teardown" | "equal" | "match">;

await t.test("a data directory that cannot be used is a line with its path", async (t) => {
  const folder = testDirectory(t);
  const file = join(folder, "file");
  writeFileSync(file, "");
  t.match(await failedStart(t, file), `cannot use ${file}`);
  t.match(await failedStart(t, join(file, "below")), `cannot use ${join(file, "below")}`);
  t.match(await failedStart(t, "/proc/coffer/data"), "cannot use /proc/coffer: it cannot be made there");
  const other = testDirectory(t);
  writeFileSync(join(other, "run"), "");
  t.match(await failedStart(t, other), `cannot use ${join(other, "run")}: it is a file, not a folder. COFFER_DATA_DIR`);
});

const passwords = Object.fromEntries(serviceNames.map((name) => [name, "secret-word"]));
const redis = { ...passwords, owner: "secret-word" };
const broken: Record<string, string> = {
  "is empty": "",
  "was cut off": '{"createdAt":"2026-11-20T10:00:00.000Z","redis":"secret-word',
  "is of another shape": '{"redis":"secret-word"}',
  "lacks a service": JSON.stringify({ postgres: { ...passwords, sync: undefined }, nats: passwords, redis }),
  "is no object": "null",
};
for (const [what, content] of Object.entries(broken)) {
  await t.test(`an installation.json that ${what} is named, with what to do, and not quoted`, (t) => {
    const directory = testDirectory(t);
    const path = join(directory, "installation.json");
    writeFileSync(path, content);
    t.throws(() => openInstallation(directory), { name: "StartupError", message: `${path} does not hold` });
    t.throws(() => openInstallation(directory), { message: /backup.*--reset/ });
    try {
      openInstallation(directory);
    } catch (error) {
      t.notMatch(String(error), "secret-word");
    }
    t.end();
  });
}

const made = { createdAt: "2026-11-20T10:00:00.000Z", postgres: passwords, nats: passwords, redis };
for (const [format, what, advice] of [
  [undefined, "an earlier version of Coffer: its format is 1", "empty it with npm start -- --reset"],
  [1, "an earlier version of Coffer: its format is 1", "empty it with npm start -- --reset"],
  [2, "an earlier version of Coffer: its format is 2", "empty it with npm start -- --reset"],
  [dataFormat + 1, `a later version of Coffer: its format is ${dataFormat + 1}`, "start it with that version"],
] as const) {
  await t.test(`a data directory of format ${format ?? "1, which has no number,"} is refused`, (t) => {
    const directory = testDirectory(t);
    writeFileSync(join(directory, "installation.json"), JSON.stringify({ ...made, format }));
    const message = `${directory} was made by ${what}, this version needs ${dataFormat}; ${advice}`;
    t.throws(() => openInstallation(directory), { name: "StartupError", message });
    t.end();
  });
}

await t.test("a data directory from before there was a key for SIEM credentials gets one, which stays", (t) => {
  const directory = testDirectory(t);
  const before = { ...made, format: dataFormat, redis: { ...passwords, owner: "o" }, siemKey: undefined };
  writeFileSync(join(directory, "installation.json"), JSON.stringify(before));
  const { siemKey, ...others } = openInstallation(directory);
  t.match(siemKey, /^[\w-]{43}$/);
  t.same({ ...others, siemKey: undefined }, { ...before, stores: others.stores });
  t.same(openInstallation(directory), { ...others, siemKey });
  t.end();
});

await t.test("a data directory of another format is a line at the start, and a reset makes it new", async (t) => {
  const directory = testDirectory(t);
  const path = join(directory, "installation.json");
  writeFileSync(path, JSON.stringify(made));
  t.match(await failedStart(t, directory), "this version needs 3; empty it with npm start -- --reset");
  t.same(JSON.parse(readFileSync(path, "utf8")), made, "nothing was changed");
  await resetDataDirectory(directory, true);
  t.equal(openInstallation(directory).format, dataFormat);
});

await t.test("at the start such a file is a line, and the start may be tried again", async (t) => {
  const directory = testDirectory(t);
  mkdirSync(join(directory, "installation.json"));
  t.match(await failedStart(t, directory), /installation\.json does not hold/);
  t.same(readdirSync(join(directory, "run")), []);
});

await t.test("a database that cannot be brought up to date is reported in a sentence, with the service", async (t) => {
  const [row] = allServices;
  if (row?.schema == null) throw new Error("the first service has a schema");
  const { url } = await testPostgres(t);
  const migrate = (to = url) =>
    migrateAll({ rows: [row], postgresUrls: { [row.schema ?? ""]: to }, report: () => undefined });
  const query = async (text: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(text);
    } finally {
      await client.end();
    }
  };

  await query(`CREATE SCHEMA ${row.schema}; CREATE TABLE ${row.schema}.outbox ()`);
  await t.rejects(migrate(), {
    name: "StartupError",
    message: /^auth-sm: .*auth_sm.*relation "outbox" already exists$/,
  });
  await query(`DROP TABLE ${row.schema}.outbox`);
  await migrate();
  await query(`UPDATE ${row.schema}.migration SET checksum = 'another' WHERE name LIKE '0001%'`);
  await t.rejects(migrate(), {
    name: "StartupError",
    message: /^auth-sm: 0001\S+ has changed since it was applied.*another version/,
  });
  await t.rejects(migrate("postgres://unknown:secret-word@127.0.0.1:1/none"), {
    name: "StartupError",
    message: /^auth-sm: (?!.*secret-word)/,
  });
});

await t.test("a copy into the data directory that fails is a line that names its target; so is a full disk", (t) => {
  const directory = testDirectory(t);
  const [from, to] = [process.execPath, join(directory, "missing", "program")];
  const failed = (): NodeJS.ErrnoException => {
    try {
      copyFileSync(from, to);
    } catch (error) {
      return error as NodeJS.ErrnoException;
    }
    throw new Error("it was copied");
  };
  t.match(aboutDataDirectory(failed(), directory), {
    name: "StartupError",
    message: `cannot use ${to}: it cannot be made there`,
  });
  const full = Object.assign(failed(), { code: "ENOSPC" });
  t.match(aboutDataDirectory(full, "/elsewhere"), { message: `cannot use ${to}: the disk is full.` });
  const other = failed();
  t.equal(aboutDataDirectory(other, "/elsewhere"), other);
  t.end();
});
