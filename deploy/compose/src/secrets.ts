import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { natsServerConfig, natsUsers } from "@coffer/bus";
import { type ServiceName, serviceNames } from "@coffer/events";
import { redisAcl, redisUsers } from "@coffer/ratelimit";
import { onBus, type ServiceRow } from "../../local/src/services/services.ts";

/** The major version of the Valkey in compose.yaml. */
const redisVersion = 8;

/** The content of each file in secrets/, with new random passwords. */
export function newSecrets(rows: readonly ServiceRow[]): Record<string, string> {
  const [postgres, nats, redis] = [passwords(), passwords(), passwords()];
  const own = onBus(rows).flatMap(({ name, schema }) => {
    const credentials = JSON.stringify({ [name]: { user: name, password: nats[name] } });
    return [
      ...(schema === null
        ? []
        : [[`${name}.postgres-url`, `postgres://${schema}:${postgres[name]}@postgres:5432/coffer`]]),
      [`${name}.nats-credentials`, credentials],
      [`${name}.redis-url`, `redis://${name}:${redis[name]}@redis:6379`],
      ...(name === "siem-forwarder" ? [[`${name}.siem-keys`, randomBytes(32).toString("base64url")]] : []),
    ];
  });
  return {
    "postgres-password": password(),
    "postgres.sql": schemasSql(rows, postgres),
    "nats.conf": natsServerConfig({ users: natsUsers(nats), host: "0.0.0.0", port: 4222 }),
    "redis.conf": [
      "bind * -::*",
      "protected-mode no",
      'save ""',
      "appendonly no",
      "maxmemory-policy noeviction",
      ...redisAcl({ users: redisUsers(redis), version: redisVersion }),
      "",
    ].join("\n"),
    ...(Object.fromEntries(own) as Record<string, string>), // pairs of a name and a text
  };
}

/** Postgres runs this once, as its superuser, in the new database, like prepareDatabase of `npm start`. */
function schemasSql(rows: readonly ServiceRow[], passwordOf: Readonly<Record<ServiceName, string>>): string {
  const lines = [
    "REVOKE ALL ON DATABASE coffer FROM PUBLIC;",
    "REVOKE CREATE ON SCHEMA public FROM PUBLIC;",
    "CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public;",
  ];
  for (const { name, schema } of onBus(rows)) {
    if (schema === null) continue;
    lines.push(
      `CREATE ROLE ${schema} LOGIN PASSWORD '${passwordOf[name]}';`,
      `CREATE SCHEMA ${schema} AUTHORIZATION ${schema};`,
      `GRANT CONNECT, TEMPORARY ON DATABASE coffer TO ${schema};`,
      `ALTER ROLE ${schema} SET search_path = ${schema};`,
      `ALTER ROLE ${schema} SET idle_in_transaction_session_timeout = '15s';`,
      `ALTER ROLE ${schema} SET transaction_timeout = '5min';`,
    );
  }
  return [...lines, ""].join("\n");
}

/**
 * Writes secrets/ and .env below `folder`. Throws an Error if there are secrets: the database has their
 * passwords. The folder has mode 0700, so that other users of the host cannot read the files, which the
 * containers' users can.
 */
export function writeSecrets(
  folder: string,
  rows: readonly ServiceRow[],
  { domain, version }: { domain: string; version: string },
): void {
  const secrets = join(folder, "secrets");
  if (existsSync(secrets))
    throw new Error(`${secrets} exists: the stores use its passwords. Remove it to make new ones`);
  mkdirSync(secrets, { mode: 0o700 });
  for (const [name, content] of Object.entries(newSecrets(rows))) {
    writeFileSync(join(secrets, name), content);
    chmodSync(join(secrets, name), 0o444);
  }
  // Its owner may add the signing secrets of Stripe.
  writeFileSync(join(folder, ".env"), `COFFER_DOMAIN=${domain}\nCOFFER_VERSION=${version}\n`, { mode: 0o600 });
}

/**
 * A URL, a NATS configuration, a Redis configuration and a literal of SQL need no quoting for these
 * letters.
 */
const password = (): string => randomBytes(24).toString("base64url");

function passwords(): Record<ServiceName, string> {
  return Object.fromEntries(serviceNames.map((name) => [name, password()])) as Record<ServiceName, string>; // one each
}
