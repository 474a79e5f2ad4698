import { ConfigurationError, readEnvironment } from "@coffer/env";
import { ServiceError } from "@coffer/errors";
import type { Database } from "@coffer/postgres";
import { createDatabase } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import { rotateKey, withdrawSigningKeys } from "./keys/rotate.ts";
import { settlingMilliseconds } from "./keys/settled.ts";
import { schema } from "./migrate.ts";

interface Command {
  run: (database: Database, now: Date) => Promise<void>;
  done: string;
}

const settled = `every replica uses it in ${settlingMilliseconds / 1000} seconds`;

/** What can be asked for, by its words. */
const commands: Readonly<Record<string, Command>> = {
  "signing-key": {
    run: (database, now) => rotateKey(database, "signing-key", now),
    done: `a new signing key is made: ${settled}, and the old one stays good for a token's life`,
  },
  "signing-key --withdraw-old": {
    run: withdrawSigningKeys,
    done: "a new signing key is made, and the old ones are withdrawn: their tokens are refused within five minutes",
  },
  "opaque-setup": {
    run: (database, now) => rotateKey(database, "opaque-setup", now),
    done: `a new OPAQUE setup is made: ${settled}, and the old one stays for the passwords that were set by it`,
  },
};

const usage = `usage, with COFFER_POSTGRES_URL: rotate ${Object.keys(commands).join(" | ")}\n`;

/** Replaces a key of a running installation, and returns the exit code: 0, 1 when it could not, 2 for a wrong call. */
async function main(args: readonly string[]): Promise<number> {
  const asked = args.join(" ");
  const command = Object.hasOwn(commands, asked) ? commands[asked] : undefined;
  if (command === undefined) {
    process.stderr.write(usage);
    return 2;
  }
  try {
    const { COFFER_POSTGRES_URL: url } = readEnvironment(process.env, ["COFFER_POSTGRES_URL"]);
    if (url === undefined) throw new ConfigurationError(["COFFER_POSTGRES_URL is required"]);
    const telemetry = createTelemetry({ service: "auth-sm", level: "silent" });
    const database = createDatabase({ url, schema, poolSize: 1, telemetry });
    await command.run(database, new Date()).finally(() => database.close());
    process.stdout.write(`${command.done}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof ConfigurationError || error instanceof ServiceError)) throw error;
    process.stderr.write(`rotate: ${error.message}\n`);
    return 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
