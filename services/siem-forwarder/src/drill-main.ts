import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { ConfigurationError, readEnvironment } from "@coffer/env";
import { ServiceError } from "@coffer/errors";
import { createDatabase, QueryFailure } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import { z } from "zod";
import { reportDrill, resultOf } from "./drill/report-drill.ts";
import { verifyRestored } from "./drill/verify-restored.ts";
import { schema } from "./migrate.ts";

const usage =
  "usage, with COFFER_POSTGRES_URL of the running installation: drill-main.ts --copy URL --drill FILE [--own-schema] [--no-report]\n" +
  "--copy is the restored copy. FILE says which backup it is: what backup.mjs choose writes\n" +
  "--own-schema: the role of --copy reads the schema of this service alone\n" +
  "--no-report: there is no running installation, and the result is only printed\n";

/** The file that `backup.mjs choose` writes beside the restored copy. */
const drillFile = z.object({
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime(),
  schemas: z.record(z.string(), z.unknown()),
});

/**
 * Verifies a restored copy, stores the result in the running installation and prints it as JSON.
 * Returns the exit code: 0, 1 when the copy is not whole or cannot be read, 2 for a usage error.
 */
async function main(args: string[]): Promise<number> {
  const options = readArguments(args);
  if (options === null) {
    process.stderr.write(usage);
    return 2;
  }
  try {
    const { COFFER_POSTGRES_URL: url } = readEnvironment(process.env, ["COFFER_POSTGRES_URL"]);
    if (url === undefined && options.report) throw new ConfigurationError(["COFFER_POSTGRES_URL is required"]);
    const drill = drillFile.parse(JSON.parse(readFileSync(options.drill, "utf8")));
    const schemas = options.ownSchema ? [schema] : Object.keys(drill.schemas);
    const restored = await withDatabase(options.copy, (db) => verifyRestored(db, schemas));
    const times = {
      backupAt: new Date(drill.created_at),
      startedAt: new Date(drill.started_at),
      endedAt: new Date(),
    };
    const result =
      url === undefined || !options.report
        ? resultOf(restored, times)
        : await withDatabase(url, (db) => reportDrill(db, restored, times));
    process.stdout.write(`${JSON.stringify({ ...result, rows: restored.rows })}\n`);
    return result.problem === null ? 0 : 1;
  } catch (error) {
    const expected = [ConfigurationError, ServiceError, QueryFailure].some((kind) => error instanceof kind);
    const { message, stack } = error instanceof Error ? error : { message: String(error) };
    process.stderr.write(`drill: ${expected ? message : (stack ?? message)}\n`);
    return 1;
  }
}

interface Options {
  copy: string;
  drill: string;
  ownSchema: boolean;
  report: boolean;
}

function readArguments(args: string[]): Options | null {
  const known = {
    copy: { type: "string" },
    drill: { type: "string" },
    "own-schema": { type: "boolean", default: false },
    "no-report": { type: "boolean", default: false },
  } as const;
  try {
    const { values } = parseArgs({ args, options: known });
    if (values.copy === undefined || values.drill === undefined) return null;
    const { copy, drill } = values;
    return { copy, drill, ownSchema: values["own-schema"], report: !values["no-report"] };
  } catch {
    return null; // parseArgs throws for unknown arguments
  }
}

async function withDatabase<Value>(
  url: string,
  work: (db: ReturnType<typeof createDatabase>["pool"]) => Promise<Value>,
): Promise<Value> {
  const telemetry = createTelemetry({ service: "siem-forwarder", level: "silent" });
  const database = createDatabase({ url, schema, poolSize: 1, telemetry });
  try {
    return await work(database.pool);
  } finally {
    await database.close();
  }
}

process.exitCode = await main(process.argv.slice(2));
