import { createHash, hkdfSync } from "node:crypto";
import { ServiceError } from "@coffer/errors";
import type { RequestContext } from "@coffer/http";
import { enqueueAudit } from "@coffer/postgres";
import { auditOf } from "../audit.ts";
import type { Deps } from "../deps.ts";
import type { HeldToken } from "../store/token-spending.ts";
import { lockToken, markTokenRevoked } from "../store/token-spending.ts";

/** How a one-time token looks where it is shown to a person; only what is derived from it is ever to be sent. */
const displayPrefix = "cft1_";
// What is derived has 43 characters too: none of them holds a whole token by chance.
const wholeToken = /cft1_[\w-]{43}(?![\w-])/;

/** The one-time token that is in a text as it was shown to a person, whatever was pasted with it; undefined for none. */
export function wholeTokenIn(text: string): string | undefined {
  const trimmed = text.trim();
  return wholeToken.exec(trimmed)?.[0] ?? (trimmed.startsWith(displayPrefix) ? trimmed : undefined);
}

/**
 * Refuses a token that was sent whole. Its seed opens the folder keys that were sealed for it, and has now been where it
 * must never be: it is revoked. One that is spent already has nothing left to revoke but the client that it made, and of one
 * that is unknown there are a log line and a metric.
 * @throws ServiceError `invalid_request` when there is a whole token in `token`
 */
export async function refuseWholeToken(deps: Deps, token: string, request: RequestContext): Promise<void> {
  const whole = wholeTokenIn(token);
  if (whole === undefined) return;
  const seed = Buffer.from(whole.slice(displayPrefix.length), "base64url");
  const sent = Buffer.from(hkdfSync("sha256", seed, new Uint8Array(0), "coffer/ott/auth/v1", 32)).toString("base64url");
  const hash = createHash("sha256").update(sent).digest();
  const leaked = await deps.database.transaction(async (tx) => {
    const now = deps.now();
    const held = await lockToken(tx, { hash, ip: request.ip, now });
    if (held === null) return null;
    if (isOpen(held)) await markTokenRevoked(tx, held.id, now);
    await enqueueAudit(tx, auditOf(deps, request, entryOf(held)));
    return held;
  });
  if (leaked === null) {
    deps.authFailures.inc({ reason: "unknown_token" });
    deps.telemetry.log.info({ request_id: request.id }, "a whole one-time token that is unknown");
  }
  throw new ServiceError(
    "invalid_request",
    `the token was sent whole, with its ${displayPrefix} prefix, ${consequenceOf(leaked)}, ` +
      "and send only what is derived from it",
  );
}

/** Whether there is something left to revoke. */
function isOpen({ used, revoked }: HeldToken): boolean {
  return !used && !revoked;
}

function entryOf(held: HeldToken) {
  const { id, org_id, application_id } = held;
  const about = { org_id, target: { type: "token", id, parent_id: application_id }, reason: "sent_whole", status: 400 };
  if (isOpen(held)) return { ...about, action: "token.revoked", actor: { type: "system", id: "auth-sm" } } as const;
  const actor = { type: "anonymous", id: null } as const;
  return { ...about, action: "client.bootstrap.failed", actor, outcome: "failure" } as const;
}

function consequenceOf(leaked: HeldToken | null): string {
  return leaked?.used === true
    ? "after it was used, so that its folder keys leaked: revoke the client that it made, make a new token"
    : "and is revoked because it leaked: make a new one";
}
