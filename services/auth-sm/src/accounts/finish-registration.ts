import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import { canonicalPublicKey } from "@coffer/tokens";
import type { Deps } from "../deps.ts";
import { claimInvite } from "../invites/claim.ts";
import { joinOrg } from "../invites/join.ts";
import { foundOrg } from "../orgs/found.ts";
import type { SessionView } from "../sessions/open.ts";
import { openSession } from "../sessions/open.ts";
import { insertUser } from "../store/users.ts";
import { registrant, requireBegunRecord } from "./begun-registration.ts";
import type { Registration } from "./bodies.ts";
import { requireSignupBy } from "./signups.ts";
import { auditUserEvent } from "./user-events.ts";

/**
 * POST /api/auth/register/finish: the account, its organizations when it is invited to one or names one, and its first
 * session. An invitation is looked at first: without a good one nobody learns which e-mail has an account.
 */
export async function finishRegistration(
  deps: Deps,
  { body, request }: Call<unknown, unknown, Registration>,
): Promise<SessionView> {
  requireSignupBy(deps.config, body.invite_token);
  const keys = await deps.keys.present();
  const setupId = await requireBegunRecord(deps.database.pool, deps, {
    starter: registrant(keys, body.email),
    email: body.email,
    registrationRecord: body.registration_record,
  });
  const { spki } = canonicalPublicKey(body.public_key);
  const userId = deps.newId();
  const registered = await deps.database.transaction(async (tx) => {
    const now = deps.now();
    const stranger = { type: "anonymous", id: null } as const;
    const { invite_token: token, email } = body;
    const invite = token === undefined ? null : await claimInvite(tx, deps, { token, email, actor: stranger, request });
    if (invite instanceof ServiceError) return invite;
    const user = await insertUser(tx, {
      id: userId,
      email,
      name: body.name ?? email,
      opaqueSetupId: setupId,
      registrationRecord: body.registration_record,
      publicKey: spki,
      encryptedUserKey: body.encrypted_user_key,
      encryptedPrivateKey: body.encrypted_private_key,
      recovery: body.recovery && {
        proofHash: body.recovery.proof_hash,
        encryptedUserKey: body.recovery.encrypted_user_key,
      },
      now,
    });
    if (user === null) throw new ServiceError("conflict", "an account with this e-mail exists: log in instead");
    const session = await openSession(tx, deps, keys, { user, device: body.device, request });
    const actor = { type: "user", id: userId, session_id: session.session_id } as const;
    if (invite !== null) await joinOrg(tx, deps, { invite, userId, actor, request, status: 201 });
    if (body.org_name !== undefined) {
      await foundOrg(tx, deps, { name: body.org_name, userId, actor, request });
    }
    await auditUserEvent(tx, deps, request, userId, {
      action: "user.registered",
      actor,
      target: { type: "user", id: userId },
      status: 201,
    });
    return session;
  });
  if (registered instanceof ServiceError) throw registered;
  return registered;
}
