import pg from "pg";
import { type Answer, call } from "./call.ts";
import { type Person, register } from "./people.ts";
import type { TestService } from "./service.ts";

export type Role = "owner" | "admin" | "auditor" | "member";

/** Runs one statement as the database's owner, for what no endpoint does. */
export async function execute(service: TestService, text: string, values: unknown[] = []): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: service.postgres.url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(text, values);
    return rows;
  } finally {
    await client.end();
  }
}

/** Invites an e-mail to the organization in which `person` acts. */
export function invite(
  service: { url: string },
  { token }: Pick<Person, "token">,
  body: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return call(service, "POST", "/api/org/invites", { token, body, headers });
}

/** Accepts an invitation. */
export function accept(
  service: { url: string },
  { token }: Pick<Person, "token">,
  inviteToken: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return call(service, "POST", "/api/org/invites/accept", { token, body: { token: inviteToken }, headers });
}

/** Makes a person a member of an organization. */
export async function join(
  service: TestService,
  orgId: string,
  person: Person,
  role: Role,
  status: "active" | "suspended" = "active",
): Promise<void> {
  await execute(
    service,
    `INSERT INTO auth_sm.memberships (org_id, user_id, role, status, joined_at) VALUES ($1, $2, $3, $4, now())
     ON CONFLICT (org_id, user_id) DO UPDATE SET role = excluded.role, status = excluded.status`,
    [orgId, person.userId, role, status],
  );
}

/** Shares a folder with a person. */
export async function share(
  service: TestService,
  folderId: string,
  person: Person,
  permission: "read" | "write" | "manage",
): Promise<void> {
  await execute(
    service,
    `INSERT INTO auth_sm.folder_members (folder_id, user_id, permission, encrypted_key, encrypted_key_alg, added_at)
     VALUES ($1, $2, $3, 'shared.with.a.jwe.', 'jwe', now())
     ON CONFLICT (folder_id, user_id) DO UPDATE SET permission = excluded.permission`,
    [folderId, person.userId, permission],
  );
}

/** An organization with a person in each role, and a member of another organization. */
export interface Company {
  orgId: string;
  owner: Person;
  admin: Person;
  auditor: Person;
  member: Person;
  suspended: Person;
  stranger: Person;
  strangersOrgId: string;
}

export async function startCompany(service: TestService): Promise<Company> {
  const owner = await register(service, { orgName: "Company" });
  const stranger = await register(service, { orgName: "Strangers" });
  const [orgId, strangersOrgId] = [await orgOf(service, owner), await orgOf(service, stranger)];
  const [admin, auditor, member, suspended] = [
    await register(service),
    await register(service),
    await register(service),
    await register(service),
  ];
  await join(service, orgId, admin, "admin");
  await join(service, orgId, auditor, "auditor");
  await join(service, orgId, member, "member");
  await join(service, orgId, suspended, "admin", "suspended");
  return { orgId, owner, admin, auditor, member, suspended, stranger, strangersOrgId };
}

/** The id of the organization that a person has founded. */
export async function orgOf(service: TestService, { userId }: Person): Promise<string> {
  const text = "SELECT org_id FROM auth_sm.memberships WHERE user_id = $1 ORDER BY joined_at LIMIT 1";
  const [row] = (await execute(service, text, [userId])) as { org_id: string }[];
  if (row === undefined) throw new Error("this person has no organization");
  return row.org_id;
}
