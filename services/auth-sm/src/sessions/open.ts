import type { RequestContext } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { hashDeviceCredential, newDeviceCredential } from "../accounts/device-credential.ts";
import { placeOf } from "../accounts/known-place.ts";
import { sealedKeys, type SealedKeys, userView, type UserView } from "../accounts/view.ts";
import type { Deps } from "../deps.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import { storeCredential } from "../store/accounts/device-credentials.ts";
import { noteKnownPlace } from "../store/accounts/known-places.ts";
import { type Device, insertSession } from "../store/accounts/sessions.ts";
import type { UserRow } from "../store/accounts/users.ts";
import { refreshSeconds, type TokenPair, tokenPair } from "./access-token.ts";
import { hashRefreshToken, newRefreshToken, type RefreshToken } from "./refresh-token.ts";

/** A session with its tokens and the keys that open everything else. */
export interface SessionView extends TokenPair, SealedKeys {
  session_id: string;
  user: UserView;
}

/** The response to a login, with the credential for the device's next login. */
export interface NewSessionView extends SessionView {
  device_credential: string;
}

/**
 * Opens a session of a person who has proven the password. `deviceHash` is the hash of the known
 * device's credential with which the login started.
 */
export async function openSession(
  tx: Transaction,
  deps: Deps,
  keys: KeyRing,
  {
    user,
    device,
    request,
    deviceHash = null,
  }: { user: UserRow; device: Device; request: RequestContext; deviceHash?: Buffer | null },
): Promise<NewSessionView> {
  const sessionId = deps.newId();
  const now = deps.now();
  const expiresAt = new Date(now.getTime() + refreshSeconds * 1000);
  const refreshToken = newRefreshToken(keys.refreshKey, { sessionId, generation: 1, secret: deps.randomBytes(32) });
  await insertSession(tx, {
    id: sessionId,
    userId: user.id,
    device,
    ip: request.ip,
    refreshHash: hashRefreshToken(refreshToken),
    now,
    expiresAt,
  });
  await noteKnownPlace(tx, { userId: user.id, place: placeOf(request.ip), now });
  const credential = newDeviceCredential(deps.randomBytes);
  await storeCredential(tx, {
    hash: hashDeviceCredential(credential),
    replaces: deviceHash,
    userId: user.id,
    sessionId,
    now,
  });
  const view = await sessionView(deps, keys, { user, sessionId, refreshToken, now, expiresAt });
  return { ...view, device_credential: credential };
}

export async function sessionView(
  deps: Deps,
  keys: KeyRing,
  session: { user: UserRow; sessionId: string; refreshToken: RefreshToken; now: Date; expiresAt: Date },
): Promise<SessionView> {
  const { user, sessionId, refreshToken, now, expiresAt } = session;
  return {
    ...(await tokenPair(deps, keys, { userId: user.id, sessionId, refreshToken: refreshToken.text, now, expiresAt })),
    session_id: sessionId,
    user: userView(user),
    ...sealedKeys(user),
  };
}
