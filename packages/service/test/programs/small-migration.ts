import { migrate } from "@coffer/postgres";
import { runMigration } from "@coffer/service";

// A service's migration program: the outbox and a migration that sleeps for the seconds of a variable.
const text = `create table first (id int); select pg_sleep(${process.env["SLEEP_SECONDS"] ?? "0"});`;
const files = [{ name: "0001_first.sql", text }];
await runMigration({ schema: "small", migrateService: ({ url }) => migrate({ url, schema: "small", files }) });
