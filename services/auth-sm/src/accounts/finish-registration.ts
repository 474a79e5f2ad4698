import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import { canonicalPublicKey } from "@coffer/tokens";
import type { Deps } from "../deps.ts";
import { foundOrg } from "../orgs/found.ts";
import type { SessionView } from "../sessions/open.ts";
import { openSession } from "../sessions/open.ts";
import { insertUser } from "../store/users.ts";
import type { Registration } from "./bodies.ts";
import { requireRegistrationRecord } from "./opaque.ts";
import { requireOpenSignups } from "./signups.ts";
import { auditUserEvent } from "./user-events.ts";

/** POST /api/auth/register/finish: the account, its organization when one is named, and its first session. */
export async function finishRegistration(
  deps: Deps,
  { body, request }: Call<unknown, unknown, Registration>,
): Promise<SessionView> {
  requireOpenSignups(deps.config);
  const keys = await deps.keys.present();
  const { newestSetup } = keys;
  requireRegistrationRecord(newestSetup.setup, body.email, body.registration_record);
  const { spki } = canonicalPublicKey(body.public_key);
  const userId = deps.newId();
  return deps.database.transaction(async (tx) => {
    const now = deps.now();
    const user = await insertUser(tx, {
      id: userId,
      email: body.email,
      name: body.name ?? body.email,
      opaqueSetupId: newestSetup.id,
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
}
