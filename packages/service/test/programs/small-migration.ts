import { migrate } from "@coffer/postgres";
import { runMigration } from "@coffer/service";

// A service's migration program: the second of two migrations sleeps for the seconds of a variable.
const files = [
  { name: "0001_first.sql", text: "create table first (id int);" },
  { name: "0002_second.sql", text: `select pg_sleep(${process.env["SLEEP_SECONDS"] ?? "0"});` },
];
await runMigration({ schema: "small", migrateService: ({ url }) => migrate({ url, schema: "small", files }) });
