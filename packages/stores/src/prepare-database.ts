import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import pg from "pg";

/** A role that may log in and owns one schema, of the same or another name. */
export interface SchemaOwner {
  role: string;
  schema: string;
  password: string;
}

export interface PrepareOptions {
  /** The URL of a role that may create roles and schemas, and the database if it is named. */
  url: string;
  /** Created if missing, for these roles alone. Without it, the database of `url` is used. */
  database?: string;
  owners: readonly SchemaOwner[];
  /** Made in the schema `public` if possible; without them the services are slower. */
  extensions?: readonly string[];
}

export interface PreparedDatabase {
  /** The owner's address of the database. */
  url: string;
  /** Each role's own address, by role. */
  urls: Record<string, string>;
}

const quote = pg.escapeIdentifier;
const text = pg.escapeLiteral;

/** Any number, equal for every start. */
const lockKey = 0x0c0ffe01;

/**
 * Makes the roles and their schemas, and sets each role's password. May run again, also concurrently.
 * Throws the errors of `pg`.
 */
export async function prepareDatabase({
  url,
  database,
  owners,
  extensions = [],
}: PrepareOptions): Promise<PreparedDatabase> {
  const own = new URL(url);
  if (database !== undefined) {
    await connected(url, (client) => makeDatabase(client, database));
    own.pathname = `/${database}`;
  }
  await connected(own.href, async (client) => {
    await client.query("BEGIN");
    await client.query("SELECT pg_advisory_xact_lock($1)", [lockKey]);
    const server = await client.query<Server>(
      `SELECT current_database() AS name, rolsuper AS super, current_setting('server_version_num')::int AS version
         FROM pg_roles WHERE rolname = current_user`,
    );
    const [about = { name: "", super: false, version: 0 }] = server.rows;
    if (database !== undefined) await closeToOthers(client, about.name);
    for (const owner of owners) await makeOwner(client, owner, about);
    await client.query("COMMIT");
    for (const name of extensions) {
      await client.query(`CREATE EXTENSION IF NOT EXISTS ${quote(name)} SCHEMA public`).catch(() => undefined);
    }
  });
  return { url: own.href, urls: Object.fromEntries(owners.map((owner) => [owner.role, urlOf(own, owner)])) };
}

interface Server {
  name: string;
  super: boolean;
  version: number;
}

async function connected(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function makeDatabase(client: pg.Client, name: string): Promise<void> {
  const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = $1", [name]);
  if (rowCount === 0) await client.query(`CREATE DATABASE ${quote(name)}`);
}

/** A new database: only the roles below and superusers may connect. */
async function closeToOthers(client: pg.Client, name: string): Promise<void> {
  await client.query(`REVOKE ALL ON DATABASE ${quote(name)} FROM PUBLIC`);
  await client.query("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
}

async function makeOwner(client: pg.Client, owner: SchemaOwner, server: Server): Promise<void> {
  const role = quote(owner.role);
  const { rowCount } = await client.query("SELECT FROM pg_roles WHERE rolname = $1", [owner.role]);
  await client.query(
    `${rowCount === 0 ? "CREATE" : "ALTER"} ROLE ${role} LOGIN PASSWORD ${text(scramVerifier(owner.password))}`,
  );
  // Without superuser rights a schema can only be given to a role that one belongs to.
  if (!server.super) await client.query(`GRANT ${role} TO CURRENT_USER`);
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${quote(owner.schema)} AUTHORIZATION ${role}`);
  await client.query(`GRANT CONNECT, TEMPORARY ON DATABASE ${quote(server.name)} TO ${role}`);
  const settings = [
    ["search_path", quote(owner.schema)],
    // An endless transaction would hold the watermark, by which changes are followed.
    ["idle_in_transaction_session_timeout", "'15s'"],
    ...(server.version >= 170_000 ? [["transaction_timeout", "'5min'"]] : []),
  ];
  for (const [name = "", value = ""] of settings) await client.query(`ALTER ROLE ${role} SET ${name} = ${value}`);
}

function urlOf(database: URL, { role, password }: SchemaOwner): string {
  const url = new URL(database);
  url.username = encodeURIComponent(role);
  url.password = encodeURIComponent(password);
  return url.href;
}

const iterations = 4096;

/**
 * The form in which Postgres stores a password (RFC 5803), so that the password is in no statement and
 * no log of the server. `password` is ASCII.
 */
function scramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  const salted = pbkdf2Sync(password, salt, iterations, 32, "sha256");
  const keyOf = (name: string): Buffer => createHmac("sha256", salted).update(name).digest();
  const stored = createHash("sha256").update(keyOf("Client Key")).digest("base64");
  const server = keyOf("Server Key").toString("base64");
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${stored}:${server}`;
}
