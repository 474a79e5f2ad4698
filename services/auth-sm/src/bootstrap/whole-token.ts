import { createHash, hkdfSync } from "node:crypto";
import { ServiceError } from "@coffer/errors";
import { auditOf, type RequestContext } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { Deps } from "../deps.ts";
import { type HeldToken, lockToken, markTokenRevoked } from "../store/machines/token-spending.ts";

/**
 * The prefix of a one-time token as a person sees it. A client must send only a value derived from
 * it.
 */
const displayPrefix = "cft1_";
// The derived value has 43 characters too, so it never contains a whole token by chance.
const wholeToken = /cft1_[\w-]{43}(?![\w-])/;

/**
 * The whole one-time token inside a pasted text; undefined when there is none.
 */
export function wholeTokenIn(text: string): string | undefined {
  const trimmed = text.trim();
  return wholeToken.exec(trimmed)?.[0] ?? (trimmed.startsWith(displayPrefix) ? trimmed : undefined);
}

/**
 * Refuses and revokes a token that was sent whole: its seed opens the folder keys that were
 * encrypted for it. For a token that is used already, only revoking its client helps, which the
 * message says. For an unknown token a log line and a metric are written.
 * @throws ServiceError `invalid_request` when `token` contains a whole token
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
    deps.telemetry.log.info({ request_id: request.id }, "an unknown one-time token was sent whole");
  }
  throw new ServiceError(
    "invalid_request",
    `the token was sent whole, with its ${displayPrefix} prefix, ${consequenceOf(leaked)}, ` +
      "and send only the value derived from it",
  );
}

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
    ? "after it was used, so its folder keys leaked: revoke the client that it made, make a new token"
    : "and was revoked because it leaked: make a new one";
}
