import { ConfigurationError, readEnvironment } from "@coffer/env";
import { ServiceError } from "@coffer/errors";
import { createDatabase } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import type { RotatingKey } from "./keys/rotate.ts";
import { rotateKey, rotatingKeys } from "./keys/rotate.ts";
import { settlingMilliseconds } from "./keys/settled.ts";
import { schema } from "./migrate.ts";

const usage = `usage: rotate ${rotatingKeys.join("|")}   (with COFFER_POSTGRES_URL)\n`;

/** Replaces a key of a running installation, and returns the exit code: 0, 1 when it could not, 2 for a wrong call. */
async function main(args: readonly string[]): Promise<number> {
  const [key, ...rest] = args;
  if (!isRotatingKey(key) || rest.length > 0) {
    process.stderr.write(usage);
    return 2;
  }
  try {
    const { COFFER_POSTGRES_URL: url } = readEnvironment(process.env, ["COFFER_POSTGRES_URL"]);
    if (url === undefined) throw new ConfigurationError(["COFFER_POSTGRES_URL is required"]);
    const telemetry = createTelemetry({ service: "auth-sm", level: "silent" });
    const database = createDatabase({ url, schema, poolSize: 1, telemetry });
    await rotateKey(database, key, new Date()).finally(() => database.close());
    process.stdout.write(`a new ${key} is made: every replica uses it in ${settlingMilliseconds / 1000} seconds\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof ConfigurationError || error instanceof ServiceError)) throw error;
    process.stderr.write(`rotate: ${error.message}\n`);
    return 1;
  }
}

function isRotatingKey(text: string | undefined): text is RotatingKey {
  return rotatingKeys.some((key) => key === text);
}

process.exitCode = await main(process.argv.slice(2));
