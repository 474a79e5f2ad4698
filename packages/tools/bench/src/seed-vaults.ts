import { createHash, randomUUID } from "node:crypto";
import { signUserToken } from "@coffer/tokens";
import pg from "pg";
import { audience, type RunningCoffer } from "./coffer.ts";

/** The size of the database and the number of devices. */
export interface VaultsSize {
  /** Records of 1 KiB in 50 vaults that everyone shares. */
  records: number;
  /** Records of 2 KiB in a separate vault. */
  large: number;
  /** Concurrently connected devices. */
  connections: number;
}

/** A person with an access token that is valid for an hour. */
export interface Person {
  userId: string;
  token: string;
}

/** The seeded data. The n-th record is in vault n modulo 50. */
export interface SeededVaults {
  size: VaultsSize;
  /** They all see all of the 50 vaults. */
  people: readonly [Person, ...Person[]];
  vaultIds: readonly [string, ...string[]];
  recordId(n: number): string;
  /** The vault of the large records, visible to its owner only. */
  large: { vaultId: string; owner: Person };
}

const vaults = 50;
const persons = 100;

/** Fills an empty vaults schema. The service cannot open ciphertext, so its content is arbitrary. */
export async function seedVaults(coffer: RunningCoffer, size: VaultsSize): Promise<SeededVaults> {
  const people = await Promise.all(Array.from({ length: persons }, () => newPerson(coffer)));
  const owner = await newPerson(coffer);
  const vaultIds = Array.from({ length: vaults }, () => randomUUID());
  const largeId = randomUUID();
  const client = new pg.Client({ connectionString: coffer.postgresUrl, options: "-c search_path=vaults,public" });
  await client.connect();
  try {
    await insertVaults(client, vaultIds, people);
    await insertVaults(client, [largeId], [owner]);
    await client.query(
      `INSERT INTO records (vault_id, id, type, encrypted_data, created_at, updated_at)
       SELECT ($1::uuid[])[n % $2 + 1], md5('record ' || n)::uuid, 'login', repeat(md5(n::text), 43), now(), now()
       FROM generate_series(0, $3::integer - 1) AS n`,
      [vaultIds, vaults, size.records],
    );
    await client.query(
      `INSERT INTO records (vault_id, id, type, encrypted_data, created_at, updated_at)
       SELECT $1, md5('large ' || n)::uuid, 'login', repeat(md5(n::text), 86), now(), now()
       FROM generate_series(1, $2::integer) AS n`,
      [largeId, size.large],
    );
    await client.query("VACUUM ANALYZE");
  } finally {
    await client.end();
  }
  return {
    size,
    people: people as [Person, ...Person[]], // there are 100
    vaultIds: vaultIds as [string, ...string[]], // there are 50
    recordId,
    large: { vaultId: largeId, owner },
  };
}

async function insertVaults(client: pg.Client, vaultIds: string[], members: readonly Person[]): Promise<void> {
  await client.query(
    `INSERT INTO vaults (id, name, type, created_at, updated_at)
     SELECT id, 'vault', 'shared', now(), now() FROM unnest($1::uuid[]) AS v (id)`,
    [vaultIds],
  );
  const eachMember = `FROM unnest($1::uuid[]) AS v (vault_id) CROSS JOIN unnest($2::uuid[]) AS m (user_id)`;
  const values = [vaultIds, members.map(({ userId }) => userId)];
  await client.query(
    `INSERT INTO vault_members (vault_id, user_id, permission, encrypted_key, key_version, added_at)
     SELECT vault_id, user_id, 'manage', repeat('QUJD', 20), 1, now() ${eachMember}`,
    values,
  );
  await client.query(
    `INSERT INTO sights (vault_id, user_id, began_snapshot)
     SELECT vault_id, user_id, pg_current_snapshot() ${eachMember}`,
    values,
  );
}

async function newPerson({ signingKey }: RunningCoffer): Promise<Person> {
  const userId = randomUUID();
  const token = await signUserToken(
    signingKey,
    { sub: userId, sid: randomUUID() },
    { issuer: audience, lifetimeSeconds: 3600, now: () => new Date(), newId: randomUUID },
  );
  return { userId, token };
}

function recordId(n: number): string {
  const hex = createHash("md5").update(`record ${n}`).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
