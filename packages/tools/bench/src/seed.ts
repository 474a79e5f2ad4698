import { generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";
import pg from "pg";

/** The size of the database: secrets in folders of 500, machines that each read one folder. */
export interface Size {
  secrets: number;
  clients: number;
}

/** A machine with a self-signed token, valid for an hour. */
export interface Machine {
  clientId: string;
  folder: number;
  token: string;
  /** Another valid token of the same machine, new to the service. */
  freshToken(): string;
}

/** The seeded data. `uid(n)` is the n-th secret's; it is in folder ⌊n / 500⌋. */
export interface Seeded {
  size: Size;
  orgId: string;
  folderIds: string[];
  machines: Machine[];
  uid(n: number): string;
}

export const secretsPerFolder = 500;

/**
 * Fills an empty auth-sm schema with one organization. Payloads have the size of 1 KiB of ciphertext in
 * base64, with arbitrary content.
 */
export async function seed(postgresUrl: string, size: Size, audience: string): Promise<Seeded> {
  const client = new pg.Client({ connectionString: postgresUrl, options: "-c search_path=auth_sm,public" });
  await client.connect();
  try {
    const orgId = randomUUID();
    const applicationId = randomUUID();
    const folderIds = Array.from({ length: size.secrets / secretsPerFolder }, () => randomUUID());
    await client.query("TRUNCATE orgs CASCADE");
    await client.query("INSERT INTO orgs (id, name, plan, created_at) VALUES ($1, 'Bench', 'enterprise', now())", [
      orgId,
    ]);
    await client.query(
      `INSERT INTO applications (id, org_id, name, name_folded, description, created_at)
       VALUES ($2, $1, 'bench', 'bench', '', now())`,
      [orgId, applicationId],
    );
    await client.query(
      `INSERT INTO folders (id, org_id, name, name_folded, created_at, updated_at)
       SELECT id, $1, 'folder-' || (n - 1), 'folder-' || (n - 1), now(), now()
       FROM unnest($2::uuid[]) WITH ORDINALITY AS f (id, n)`,
      [orgId, folderIds],
    );
    await client.query(
      `INSERT INTO secrets (org_id, uid, folder_id, record_type, title, title_folded, title_encrypted,
         encrypted_payload, wrapped_dek, fields, field_names, key_version, version, created_at, updated_at)
       SELECT $1, 'bench' || lpad(n::text, 17, '0'), ($2::uuid[])[n / $4 + 1], 'api_credential',
         'service ' || n || ' ' || md5(n::text), 'service ' || n || ' ' || md5(n::text), repeat('QUJD', 18),
         repeat(md5(n::text), 43), repeat('QUJD', 24), jsonb_build_object('password', repeat('QUJD', 20)),
         ARRAY['password'], 1, 1, now(), now()
       FROM generate_series(0, $3::integer - 1) AS n`,
      [orgId, folderIds, size.secrets, secretsPerFolder],
    );
    const machines = Array.from({ length: size.clients }, (_, n) => newMachine(n % folderIds.length, audience));
    await client.query(
      `INSERT INTO clients (id, org_id, application_id, name, public_key, created_at)
       SELECT id, $1, $2, 'machine', key, now() FROM unnest($3::uuid[], $4::text[]) AS c (id, key)`,
      [orgId, applicationId, machines.map(({ clientId }) => clientId), machines.map(({ publicKey }) => publicKey)],
    );
    await client.query(
      `INSERT INTO client_folders (client_id, folder_id, permission, added_at)
       SELECT c, f, 'write', now() FROM unnest($1::uuid[], $2::uuid[]) AS g (c, f)`,
      [machines.map(({ clientId }) => clientId), machines.map(({ folder }) => folderIds[folder])],
    );
    await client.query("VACUUM ANALYZE");
    return { size, orgId, folderIds, machines, uid: (n) => `bench${String(n).padStart(17, "0")}` };
  } finally {
    await client.end();
  }
}

function newMachine(folder: number, audience: string): Machine & { publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const clientId = randomUUID();
  let tokens = 0;
  const freshToken = (): string => signToken(privateKey, clientId, audience, (tokens += 1));
  return {
    clientId,
    folder,
    publicKey: publicKey.export({ type: "spki", format: "der" }).toString("base64"),
    token: freshToken(),
    freshToken,
  };
}

/** A machine's token by the specification (5.2); `serial` distinguishes tokens of one second. */
function signToken(key: KeyObject, clientId: string, audience: string, serial: number): string {
  const now = Math.floor(Date.now() / 1000);
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${encode({ alg: "ES256", typ: "JWT" })}.${encode({ sub: clientId, aud: audience, iat: now, exp: now + 3600, jti: serial })}`;
  const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}
