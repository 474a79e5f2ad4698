import type { Person } from "./people.ts";
import { execute, orgOf } from "./members.ts";
import type { TestService } from "./service.ts";

/**
 * Puts `count` secrets into a folder, by the table, and returns their uids in the order of their
 * creation. The payload of each has this many bytes.
 */
export async function insertSecrets(
  service: TestService,
  { owner, folder, count, bytes = 8 }: { owner: Person; folder: string; count: number; bytes?: number },
): Promise<string[]> {
  const orgId = await orgOf(service, owner);
  const rows = await execute(
    service,
    `INSERT INTO auth_sm.secrets (org_id, uid, folder_id, record_type, title, title_folded, title_encrypted,
       encrypted_payload, wrapped_dek, fields, field_names, key_version, version, created_at, updated_at)
     SELECT $1, left(replace(gen_random_uuid()::text, '-', ''), 22), $2, 'note', 'many ' || n,
       'many ' || n, '', repeat('QUJD', $4::integer / 4), 'QUJD', '{}', '{}', 1, 1,
       now() - interval '1 hour' + n * interval '1 millisecond', now()
     FROM generate_series(1, $3::integer) AS n
     RETURNING uid, created_at`,
    [orgId, folder, count, bytes],
  );
  return (rows as { uid: string; created_at: Date }[])
    .sort((a, b) => a.created_at.getTime() - b.created_at.getTime())
    .map(({ uid }) => uid);
}
