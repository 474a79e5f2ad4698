import { createHash, timingSafeEqual } from "node:crypto";
import type { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { accountOf } from "../accounts/account-mac.ts";
import { countRecoveryStart } from "../accounts/count-start.ts";
import { recoveryRefusal } from "../accounts/finish-refusals.ts";
import { loginCall } from "../accounts/login-call.ts";
import { respondToRegistration } from "../accounts/opaque.ts";
import { millisecondsToFinish } from "../accounts/start-login.ts";
import type { SealedKeys } from "../accounts/view.ts";
import type { Deps } from "../deps.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import { insertLoginStart } from "../store/accounts/login-starts.ts";
import { findRecoveryRecord, type RecoveryRecord } from "../store/accounts/users.ts";
import type { RecoveryStart } from "./bodies.ts";

/** The keys that open the account again with the recovery key. */
export interface RecoveryStarted extends SealedKeys {
  recovery_id: string;
  registration_response: string;
}

type StartCall = Call<unknown, unknown, RecoveryStart>;

/**
 * POST /api/auth/recovery/start
 * A wrong proof takes the same steps for an unknown e-mail: the OPAQUE answer is made, and a row
 * that the sweep of failed logins turns into an audit record.
 */
export async function startRecovery(deps: Deps, { body, request }: StartCall): Promise<RecoveryStarted> {
  const keys = await deps.keys.present();
  const record = await findRecoveryRecord(deps.database.pool, body.email);
  const answer = respondToRegistration(keys.newestSetup.setup, body.email, body.registration_request);
  const isProven = isProof(body.proof, record.recovery_proof_hash);
  const started = await deps.database.transaction(async (tx): Promise<RecoveryStarted | ServiceError> => {
    const id = deps.newId();
    const storedKeys = isProven ? keysOf(record) : null;
    await remember(tx, deps, keys, { id, email: body.email, record, request, isProven: storedKeys !== null });
    if (storedKeys === null) return recoveryRefusal({ kind: "wrong" });
    return { recovery_id: id, registration_response: answer, ...storedKeys };
  });
  if (started instanceof Error) throw started;
  return started;
}

async function remember(
  tx: Transaction,
  deps: Deps,
  keys: KeyRing,
  {
    id,
    email,
    record,
    request,
    isProven,
  }: { id: string; email: string; record: RecoveryRecord; request: StartCall["request"]; isProven: boolean },
): Promise<void> {
  const now = deps.now();
  const account = accountOf(keys, email);
  if (isProven) await countRecoveryStart(tx, { account, now });
  await insertLoginStart(tx, {
    id,
    kind: "recovery",
    account,
    userId: record.user_id,
    passwordVersion: record.password_version,
    deviceHash: null,
    setupId: isProven ? keys.newestSetup.id : null,
    serverState: "",
    call: loginCall(request, isProven ? 200 : 401),
    expiresAt: isProven ? new Date(now.getTime() + millisecondsToFinish) : now,
    refusedAt: isProven ? null : now,
  });
}

/** Compared when the account has no recovery key. */
const nothing = Buffer.alloc(32);

function isProof(proof: string, proofHash: string | null): boolean {
  const hash = createHash("sha256").update(Buffer.from(proof, "base64url")).digest();
  return timingSafeEqual(hash, proofHash === null ? nothing : Buffer.from(proofHash, "hex"));
}

function keysOf(record: RecoveryRecord): SealedKeys | null {
  const { recovery_encrypted_user_key, public_key, encrypted_private_key } = record;
  if (recovery_encrypted_user_key === null || public_key === null || encrypted_private_key === null) return null;
  return { encrypted_user_key: recovery_encrypted_user_key, public_key, encrypted_private_key };
}
