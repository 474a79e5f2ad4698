import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import type { Deps } from "../deps.ts";
import { insertLoginStart } from "../store/accounts/login-starts.ts";
import { findLoginRecord } from "../store/accounts/users.ts";
import { accountOf } from "./account-mac.ts";
import type { LoginStart } from "./bodies.ts";
import { countLoginStart, refuseEarlyLogin } from "./count-start.ts";
import { credentialsSince, hashDeviceCredential } from "./device-credential.ts";
import { knownSince, placeOf } from "./known-place.ts";
import { loginCall } from "./login-call.ts";
import { respondToLogin } from "./opaque.ts";

/** How long a started login or recovery can be finished. */
export const millisecondsToFinish = 60_000;

interface LoginStarted {
  login_id: string;
  login_response: string;
}

type StartCall = Call<unknown, unknown, LoginStart>;

/**
 * POST /api/auth/login/start
 * A started login counts as a failure until it is finished. An unknown e-mail takes the same steps:
 * a count, an OPAQUE answer, a row, and a login that cannot succeed.
 */
export async function startLogin(deps: Deps, call: StartCall): Promise<LoginStarted> {
  try {
    return await begin(deps, call);
  } catch (error) {
    if (error instanceof ServiceError && error.code === "rate_limited") {
      deps.authFailures.inc({ reason: "login_delayed" });
    }
    throw error;
  }
}

async function begin(deps: Deps, { body, request }: StartCall): Promise<LoginStarted> {
  const keys = await deps.keys.present();
  const { pool } = deps.database;
  const now = deps.now();
  const place = placeOf(request.ip);
  const hash = body.device_credential === undefined ? null : hashDeviceCredential(body.device_credential);
  const record = await findLoginRecord(pool, body.email, {
    place: { place, since: knownSince(now) },
    credential: { hash, since: credentialsSince(now) },
  });
  const deviceHash = record.is_known_device ? hash : null;
  const login = {
    account: accountOf(keys, body.email),
    place,
    isKnownPlace: record.is_known_place,
    deviceHash,
    now,
  };
  await refuseEarlyLogin(pool, login);
  // The oldest setup answers for an unknown e-mail. So that answer stays the same when a setup is
  // added, as does the answer for a person who registered before.
  const { setup } = await deps.keys.setup(record.opaque_setup_id ?? keys.setups[0].id);
  const { registration_record: registrationRecord } = record;
  const answer = respondToLogin(setup, body.email, registrationRecord, body.start_login_request);
  const id = deps.newId();
  await deps.database.transaction(async (tx) => {
    await countLoginStart(tx, login);
    await insertLoginStart(tx, {
      id,
      kind: "login",
      account: login.account,
      userId: record.user_id,
      passwordVersion: record.password_version,
      setupId: null,
      deviceHash,
      serverState: answer.serverState,
      call: loginCall(request, 200),
      expiresAt: new Date(now.getTime() + millisecondsToFinish),
      refusedAt: null,
    });
  });
  return { login_id: id, login_response: answer.loginResponse };
}
