import { createHash } from "node:crypto";
import { ServiceError } from "@coffer/errors";
import { type Call, uuidText } from "@coffer/http";
import { z } from "zod";
import { everyone, requireMembership } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { findFellowKey } from "../store/organizations/members.ts";

export const userPath = z.object({ id: uuidText });

/** The key that values are encrypted to, with the fingerprint that two people compare before. */
export interface PublicKeyView {
  /** base64 of the SPKI DER. */
  public_key: string;
  /** Lower-case hex SHA-256 of the DER. */
  fingerprint: string;
}

/**
 * GET /api/users/{id}/public_key
 * For people in the caller's organizations, or in the one that `X-Coffer-Org` names.
 */
export async function showPublicKey(
  deps: Deps,
  { caller, params }: Call<User, z.infer<typeof userPath>>,
): Promise<PublicKeyView> {
  const { pool } = deps.database;
  const { userId: callerId, orgId } = caller;
  if (orgId !== undefined) await requireMembership(pool, caller, everyone);
  const key = await findFellowKey(pool, { callerId, userId: params.id, orgId });
  if (key === null) throw new ServiceError("not_found", "your organizations have no member with this id");
  return { public_key: key, fingerprint: createHash("sha256").update(Buffer.from(key, "base64")).digest("hex") };
}
