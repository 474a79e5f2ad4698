import { createHash } from "node:crypto";
import { ServiceError } from "@coffer/errors";
import { type Anonymous, auditOf, type Call, uuidText } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { Transaction } from "@coffer/postgres";
import { canonicalPublicKey } from "@coffer/tokens";
import { z } from "zod";
import { type TokenRefusal, unknownToken, usableToken } from "../access/one-time-token.ts";
import type { Deps } from "../deps.ts";
import { publishFolderChange } from "../folders/publish-change.ts";
import { listClientFolders } from "../store/machines/client-folders.ts";
import { insertClient } from "../store/machines/clients.ts";
import {
  grantTokenFolders,
  type HeldToken,
  holdTokenApplication,
  lockToken,
  markTokenUsed,
  type UsableToken,
} from "../store/machines/token-spending.ts";
import { namedFolders } from "../tokens/named-folders.ts";
import { refuseWholeToken, wholeTokenIn } from "./whole-token.ts";

/**
 * A whole token is extracted before validation: an error elsewhere in the body must not hide that
 * it leaked.
 */
export const bootstrapBody = z.preprocess(
  (body) => {
    const { token } = Object(body) as { token?: unknown };
    const whole = typeof token === "string" ? wholeTokenIn(token) : undefined;
    return whole === undefined ? body : { token: whole, public_key: "unread" };
  },
  z.object({
    token: z.string().trim().min(1).max(512),
    public_key: z.string().min(1).max(4096),
    client_id: uuidText.optional(),
  }),
);
type BootstrapCall = Call<Anonymous, unknown, z.infer<typeof bootstrapBody>>;

export interface Bootstrapped {
  client_id: string;
  application_id: string;
  encrypted_folder_keys: Record<string, string>;
  org_id: string;
  folders: { id: string; name: string; permission: "read" | "write" }[];
}

/**
 * POST /api/sm/v1/bootstrap
 * One transaction consumes the token under its row lock. Every check that can refuse runs before
 * that. Of two concurrent calls the second finds the token used.
 */
export async function bootstrap(deps: Deps, call: BootstrapCall): Promise<Bootstrapped> {
  const { body, request } = call;
  await refuseWholeToken(deps, body.token, request);
  const { spki } = canonicalPublicKey(body.public_key);
  const clientId = body.client_id ?? deps.newId();
  const spent = await deps.database.transaction(async (tx) => {
    const hash = tokenHashOf(call);
    await holdTokenApplication(tx, hash);
    const token = await lockToken(tx, { hash, ip: request.ip, now: deps.now() });
    if (token === null) return { token, refusal: unknownToken("unknown") };
    const usable = usableToken(token);
    if ("error" in usable) return { token, refusal: usable };
    const client = await makeClient(tx, deps, call, { token: usable, clientId, spki });
    return client === null ? { token, refusal: takenClientId() } : { token, refusal: null, client };
  });
  if (spent.refusal === null) return spent.client;
  await recordRefusal(deps, call, spent.token, spent.refusal);
  throw spent.refusal.error;
}

function tokenHashOf({ body }: BootstrapCall): Buffer {
  return createHash("sha256").update(body.token).digest();
}

function takenClientId(): TokenRefusal {
  const error = new ServiceError("invalid_request", "this client_id is taken: make another one");
  return { error, reason: "client_id_taken" };
}

/**
 * Consumes the token for a new client. Returns null, without any change, when the client id is
 * taken.
 */
async function makeClient(
  tx: Transaction,
  deps: Deps,
  call: BootstrapCall,
  { token, clientId, spki }: { token: UsableToken; clientId: string; spki: string },
): Promise<Bootstrapped | null> {
  const now = deps.now();
  const inserted = await insertClient(tx, {
    id: clientId,
    orgId: token.org_id,
    applicationId: token.application_id,
    name: token.name,
    publicKey: spki,
    tokenHash: tokenHashOf(call),
    allowedCidrs: token.allowed_cidrs,
    expiresAt: token.client_expires_at,
    now,
  });
  if (!inserted) return null;
  await markTokenUsed(tx, token, now);
  await grantTokenFolders(tx, token.id, clientId, now);
  const folders = await listClientFolders(tx, clientId);
  await publishFolderChange(tx, deps, { folderIds: folders.map(({ id }) => id), change: "membership" });
  await enqueueAudit(
    tx,
    auditOf(deps, call.request, {
      org_id: token.org_id,
      action: "client.bootstrapped",
      actor: { type: "client", id: clientId, application_id: token.application_id },
      target: { type: "client", id: clientId, parent_id: token.application_id },
      status: 200,
      changes: { token_id: token.id, ...namedFolders(folders.map(({ id }) => id)) },
    }),
  );
  return {
    client_id: clientId,
    application_id: token.application_id,
    encrypted_folder_keys: Object.fromEntries(
      folders.flatMap(({ id, encrypted_key }) => (encrypted_key === null ? [] : [[id, encrypted_key] as const])),
    ),
    org_id: token.org_id,
    folders: folders.map(({ id, name, permission }) => ({ id, name, permission })),
  };
}

/**
 * A refused attempt with an existing token is recorded in its organization's audit. For an unknown
 * token, which takes as long, only a log line and a metric are written.
 */
async function recordRefusal(
  deps: Deps,
  { request }: BootstrapCall,
  token: HeldToken | null,
  { error, reason }: TokenRefusal,
): Promise<void> {
  if (token === null) {
    deps.authFailures.inc({ reason: "unknown_token" });
    deps.telemetry.log.info({ request_id: request.id }, "bootstrap with an unknown one-time token");
    await deps.audit(null);
    return;
  }
  await deps.audit(
    auditOf(deps, request, {
      org_id: token.org_id,
      action: "client.bootstrap.failed",
      actor: { type: "anonymous", id: null },
      target: { type: "token", id: token.id, parent_id: token.application_id },
      outcome: error.code === "access_denied" ? "denied" : "failure",
      reason,
      status: error.status,
    }),
  );
}
