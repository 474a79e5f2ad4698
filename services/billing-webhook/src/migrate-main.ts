import { runMigration } from "@coffer/service";
import { migrateService, schema } from "./migrate.ts";

await runMigration({ schema, migrateService });
