import { ConfigurationError, readEnvironment } from "@coffer/env";
import { ServiceError } from "@coffer/errors";
import { createDatabase, type Database } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import { rotateKey, revokeSigningKeys } from "./keys/rotate.ts";
import { activationMilliseconds } from "./keys/active-key.ts";
import { schema } from "./migrate.ts";

interface Command {
  run: (database: Database, now: Date) => Promise<void>;
  done: string;
}

const delay = `every replica uses it in ${activationMilliseconds / 1000} seconds`;

/** The commands by their words. */
const commands: Readonly<Record<string, Command>> = {
  "signing-key": {
    run: (database, now) => rotateKey(database, "signing-key", now),
    done: `a new signing key is made: ${delay}, and the old one stays valid for a token's lifetime`,
  },
  "signing-key --withdraw-old": {
    run: revokeSigningKeys,
    done: "a new signing key is made, and the old ones are revoked: their tokens are refused within five minutes",
  },
  "opaque-setup": {
    run: (database, now) => rotateKey(database, "opaque-setup", now),
    done: `a new OPAQUE setup is made: ${delay}, and the old one stays for the passwords that were set with it`,
  },
};

const usage = `usage, with COFFER_POSTGRES_URL: rotate ${Object.keys(commands).join(" | ")}\n`;

/**
 * Replaces a key of a running installation. Returns the exit code: 0, 1 for a failure, 2 for a
 * usage error.
 */
async function main(args: readonly string[]): Promise<number> {
  const words = args.join(" ");
  const command = Object.hasOwn(commands, words) ? commands[words] : undefined;
  if (command === undefined) {
    process.stderr.write(usage);
    return 2;
  }
  try {
    const { COFFER_POSTGRES_URL: url } = readEnvironment(process.env, ["COFFER_POSTGRES_URL"]);
    if (url === undefined) throw new ConfigurationError(["COFFER_POSTGRES_URL is required"]);
    const telemetry = createTelemetry({ service: "auth-sm", level: "silent" });
    const database = createDatabase({ url, schema, poolSize: 1, telemetry });
    try {
      await command.run(database, new Date());
    } finally {
      await database.close();
    }
    process.stdout.write(`${command.done}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof ConfigurationError || error instanceof ServiceError)) throw error;
    process.stderr.write(`rotate: ${error.message}\n`);
    return 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
