import { roles, type Role } from "@coffer/contract";
import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import type { Outranked } from "./members.ts";

const inviteRow = z.object({
  id: z.string(),
  email: z.string(),
  role: z.enum(roles),
  invited_by: z.string(),
  created_at: z.string(),
  expires_at: z.string(),
  tag: z.string().nullable(),
});
/** An open invitation as the organization's managers see it. */
export type InviteRow = z.infer<typeof inviteRow>;

const inviteColumns = sql.fragment`id, email, role, invited_by, created_at, expires_at,
  CASE WHEN made_by_client THEN encode(token_hash, 'hex') END AS tag`;

/**
 * The organization must have no other invitation to this e-mail. Throws on a hash that is taken
 * (`invites_token_key`).
 */
export function insertInvite(
  tx: Queryable,
  invite: {
    id: string;
    orgId: string;
    email: string;
    offer: Outranked<{ role: Role }>;
    tokenHash: Buffer;
    madeByClient: boolean;
    invitedBy: string;
    now: Date;
    expiresAt: Date;
  },
): Promise<InviteRow> {
  return tx.one(sql.type(inviteRow)`
    INSERT INTO invites (id, org_id, email, role, token_hash, made_by_client, invited_by, created_at, expires_at)
    VALUES (${invite.id}, ${invite.orgId}, ${invite.email}, ${invite.offer.role}, ${sql.binary(invite.tokenHash)},
      ${invite.madeByClient},
      ${invite.invitedBy}, ${invite.now.toISOString()}, ${invite.expiresAt.toISOString()})
    RETURNING ${inviteColumns}
  `);
}

/** The open invitations of an organization, oldest first. */
export function listInvites(db: Queryable, orgId: string, now: Date): Promise<readonly InviteRow[]> {
  return db.any(sql.type(inviteRow)`
    SELECT ${inviteColumns} FROM invites
    WHERE org_id = ${orgId} AND expires_at > ${now.toISOString()}::timestamptz ORDER BY created_at, id
  `);
}

export function countInvites(db: Queryable, orgId: string): Promise<number> {
  return db.oneFirst(sql.type(z.object({ count: z.number() }))`
    SELECT count(*) AS count FROM invites WHERE org_id = ${orgId}
  `);
}

/** An open invitation of the organization by its id; null when there is none. */
export function findInvite(db: Queryable, orgId: string, id: string, now: Date): Promise<InviteRow | null> {
  return db.maybeOne(sql.type(inviteRow)`
    SELECT ${inviteColumns} FROM invites
    WHERE org_id = ${orgId} AND id = ${id} AND expires_at > ${now.toISOString()}::timestamptz
  `);
}

/** The open invitation of the organization to this canonical e-mail; null when there is none. */
export function findInviteTo(db: Queryable, orgId: string, email: string): Promise<InviteRow | null> {
  return db.maybeOne(sql.type(inviteRow)`
    SELECT ${inviteColumns} FROM invites WHERE org_id = ${orgId} AND email = ${email}
  `);
}

const presentedInvite = inviteRow.extend({ org_id: z.string() });
export type PresentedInvite = z.infer<typeof presentedInvite>;

declare const own: unique symbol;

/** An invitation of the person who presents it. Only `ownInvite` of `access/` makes one. */
export type OwnInvite = PresentedInvite & { readonly [own]: true };

/** The open invitation with this token; null when there is none. */
export function findInviteByToken(db: Queryable, tokenHash: Buffer, now: Date): Promise<PresentedInvite | null> {
  return db.maybeOne(sql.type(presentedInvite)`
    SELECT org_id, ${inviteColumns} FROM invites
    WHERE token_hash = ${sql.binary(tokenHash)} AND expires_at > ${now.toISOString()}::timestamptz
  `);
}

/** Revokes an open invitation. */
export async function deleteInvite(tx: Queryable, { id }: Outranked<InviteRow>): Promise<void> {
  await tx.query(sql.typeAlias("void")`DELETE FROM invites WHERE id = ${id}`);
}

/** Deletes an invitation that its person has accepted. */
export async function spendInvite(tx: Queryable, { id }: OwnInvite): Promise<void> {
  await tx.query(sql.typeAlias("void")`DELETE FROM invites WHERE id = ${id}`);
}

export async function deleteExpiredInvites(tx: Queryable, orgId: string, now: Date): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    DELETE FROM invites WHERE org_id = ${orgId} AND expires_at <= ${now.toISOString()}::timestamptz
  `);
}

/** Deletes the invitations to these roles that a member has made; returns how many. */
export async function deleteInvitesBy(
  tx: Queryable,
  { orgId, userId, to }: { orgId: string; userId: string; to: readonly Role[] },
): Promise<number> {
  const { rowCount } = await tx.query(sql.typeAlias("void")`
    DELETE FROM invites WHERE org_id = ${orgId} AND invited_by = ${userId} AND role = ANY(${sql.array([...to], "text")})
  `);
  return rowCount;
}
