import type { Person } from "./people.ts";
import { execute, orgOf } from "./members.ts";
import type { TestService } from "./service.ts";

/**
 * Puts `count` folders into a person's organization, by the tables, with a `manage` grant of the
 * person on each. Returns their ids by name.
 */
export async function insertFolders(
  service: TestService,
  { owner, count, keyCharacters = 84 }: { owner: Person; count: number; keyCharacters?: number },
): Promise<string[]> {
  const rows = await execute(
    service,
    `WITH made AS (
       INSERT INTO auth_sm.folders (id, org_id, name, name_folded, created_at, updated_at)
       SELECT gen_random_uuid(), $1, 'many ' || to_char(n, 'FM000000'), 'many ' || to_char(n, 'FM000000'), now(), now()
       FROM generate_series(1, $3::integer) AS n
       RETURNING id, name
     ), granted AS (
       INSERT INTO auth_sm.folder_members (folder_id, user_id, permission, encrypted_key, encrypted_key_alg, added_at)
       SELECT id, $2, 'manage', repeat('QUJD', $4::integer / 4), 'box-user', now() FROM made
     )
     SELECT id FROM made ORDER BY name`,
    [await orgOf(service, owner), owner.userId, count, keyCharacters],
  );
  return (rows as { id: string }[]).map(({ id }) => id);
}
