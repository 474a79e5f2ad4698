import { createHash } from "node:crypto";
import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { Transaction } from "@coffer/postgres";
import { requireLockedApplication } from "../access/application.ts";
import { transactionInSession } from "../access/lasting-session.ts";
import { requireManagedFolders } from "../access/managed-folder.ts";
import { managers } from "../access/membership.ts";
import type { ApplicationPath } from "../applications/bodies.ts";
import type { User } from "../callers/user.ts";
import { orConflict } from "../conflict.ts";
import { requireRoom } from "../counts/require-room.ts";
import type { Deps } from "../deps.ts";
import { appendEntry } from "../histories/append-entry.ts";
import { folderRes } from "../histories/resources.ts";
import { type AccessTokenRow, getAccessToken, insertAccessToken } from "../store/machines/access-tokens.ts";
import { holdApplication } from "../store/machines/applications.ts";
import type { NewToken } from "./bodies.ts";
import { clientExpiry, tokenExpiry } from "./expiry.ts";
import { namedFolders } from "./named-folders.ts";

/** `token` is set only when this service made it, and is returned only once. */
export interface IssuedToken extends AccessTokenRow {
  token?: string;
}

/** POST /api/org/applications/{id}/tokens */
export async function issueToken(
  deps: Deps,
  { caller, params, body, audit }: AuditedCall<User, ApplicationPath, NewToken>,
): Promise<IssuedToken> {
  const now = deps.now();
  const expiresAt = tokenExpiry(body.expires_at, now);
  const clientExpiresAt = clientExpiry(body.client_expires_at, now);
  const made = body.token_hash === undefined ? deps.randomBytes(32).toString("base64url") : undefined;
  const hash =
    made === undefined ? Buffer.from(body.token_hash ?? "", "hex") : createHash("sha256").update(made).digest();
  const id = deps.newId();
  const token = await transactionInSession(deps, caller, async (tx) => {
    const reached = await requireLockedApplication(tx, caller, params.id, { allowed: managers, lock: holdApplication });
    const { orgId, actor, application } = reached;
    const folders = await requireManagedFolders(tx, caller, { orgId, named: body.folders });
    await requireRoom(tx, deps, "tokens", orgId);
    const row = {
      id,
      orgId,
      applicationId: application.id,
      name: body.name,
      hash,
      madeByClient: made === undefined,
      allowedCidrs: body.allowed_cidrs ?? null,
      createdBy: caller.userId,
      now,
      expiresAt,
      clientExpiresAt,
      folders: folders.map(({ folder_id, permission, encrypted_folder_key }) => ({
        folderId: folder_id,
        permission,
        encryptedFolderKey: encrypted_folder_key ?? null,
      })),
    };
    await inviteMachine(tx, { orgId, userId: caller.userId, body });
    await orConflict(insertAccessToken(tx, row), { access_tokens_hash_key: "this token exists: make another one" });
    const issued = await getAccessToken(tx, id, now);
    await enqueueAudit(
      tx,
      audit({
        orgId,
        actor,
        target: { id },
        changes: {
          name: body.name,
          ...namedFolders(body.folders.map(({ folder_id }) => folder_id)),
          expires_at: issued.expires_at,
          client_expires_at: issued.client_expires_at,
          allowed_cidrs: body.allowed_cidrs ?? [],
        },
      }),
    );
    return issued;
  });
  return made === undefined ? token : { ...token, token: made };
}

/** Opens the invitation of the future machine in each folder that has a history. */
async function inviteMachine(
  tx: Transaction,
  { orgId, userId, body }: { orgId: string; userId: string; body: NewToken },
): Promise<void> {
  const { token_hash: tag, folders } = body;
  for (const { folder_id: folderId, permission: perm, entry } of folders) {
    await appendEntry(tx, {
      res: folderRes(folderId),
      orgId,
      entry,
      by: `user:${userId}`,
      // The service must not know the seed of an invitation, so a token that it makes has none.
      expected: () => (tag === undefined ? null : { invite: { tag, kind: "client", perm } }),
    });
  }
}
