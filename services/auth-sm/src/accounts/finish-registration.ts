import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import { canonicalPublicKey } from "@coffer/tokens";
import { orConflict } from "../conflict.ts";
import type { Deps } from "../deps.ts";
import { orgRes } from "../histories/resources.ts";
import { claimInvite } from "../invites/claim.ts";
import { joinOrg } from "../invites/join.ts";
import { foundOrg } from "../orgs/found.ts";
import { type NewSessionView, openSession } from "../sessions/open.ts";
import { storeKeyring } from "../store/accounts/keyrings.ts";
import { hasHistory } from "../store/histories.ts";
import { insertUser } from "../store/accounts/users.ts";
import { registrant, requirePendingRecord } from "./pending-registration.ts";
import type { Registration } from "./bodies.ts";
import { requireSignupBy } from "./signups.ts";
import { auditUserEvent } from "./user-events.ts";

/**
 * POST /api/auth/register/finish
 * Creates the account, its first session, and the organization that the body names or joins the one
 * of the invitation. The invitation is checked first: a caller without a valid one must not learn
 * which e-mails have accounts.
 */
export async function finishRegistration(
  deps: Deps,
  { body, request }: Call<unknown, unknown, Registration>,
): Promise<NewSessionView> {
  requireSignupBy(deps.config, body.invite_token);
  const keys = await deps.keys.present();
  const setupId = await requirePendingRecord(deps.database.pool, deps, {
    starter: registrant(keys, body.email),
    email: body.email,
    registrationRecord: body.registration_record,
  });
  const { spki } = canonicalPublicKey(body.public_key);
  if (body.entry !== undefined && body.org_name === undefined)
    throw new ServiceError("invalid_request", "`entry` begins the history of an organization: it needs `org_name`");
  const userId = body.user_id ?? deps.newId();
  const registered = await deps.database.transaction(async (tx) => {
    const now = deps.now();
    const stranger = { type: "anonymous", id: null } as const;
    const { invite_token: token, email } = body;
    const invite = token === undefined ? null : await claimInvite(tx, deps, { token, email, actor: stranger, request });
    if (invite instanceof ServiceError) return invite;
    const inserted = insertUser(tx, {
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
    const user = await orConflict(inserted, { users_pkey: "this id of a person is taken: make another one" });
    if (user === null) throw new ServiceError("conflict", "an account with this e-mail exists: log in instead");
    const session = await openSession(tx, deps, keys, { user, device: body.device, request });
    const actor = { type: "user", id: userId, session_id: session.session_id } as const;
    if (body.keyring !== undefined) await storeKeyring(tx, userId, { version: 1, sealed: body.keyring });
    // Where the organization has a history, a join must be signed: the invitation permits only the
    // registration.
    if (invite !== null && !(await hasHistory(tx, orgRes(invite.org_id)))) {
      await joinOrg(tx, deps, { invite, userId, actor, request, status: 201 });
    }
    if (body.org_name !== undefined) {
      const { org_id: id, org_name: name, entry } = body;
      await foundOrg(tx, deps, { id, name, entry, userId, actor, request });
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
