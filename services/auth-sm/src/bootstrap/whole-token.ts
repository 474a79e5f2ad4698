import { createHash, hkdfSync } from "node:crypto";
import { ServiceError } from "@coffer/errors";
import type { RequestContext } from "@coffer/http";
import { enqueueAudit } from "@coffer/postgres";
import { auditOf } from "../audit.ts";
import type { Deps } from "../deps.ts";
import { lockToken, markTokenRevoked } from "../store/token-spending.ts";

/** How a one-time token looks where it is shown to a person; only what is derived from it is ever to be sent. */
const displayPrefix = "cft1_";

/**
 * Refuses a token that was pasted whole. Its seed opens the folder keys that were sealed for it, and has now been where
 * it must never be: the token is revoked.
 * @throws ServiceError `invalid_request` when `token` has the display form
 */
export async function refuseWholeToken(deps: Deps, token: string, request: RequestContext): Promise<void> {
  if (!token.startsWith(displayPrefix)) return;
  const seed = Buffer.from(token.slice(displayPrefix.length), "base64url");
  const sent = Buffer.from(hkdfSync("sha256", seed, new Uint8Array(0), "coffer/ott/auth/v1", 32)).toString("base64url");
  const hash = createHash("sha256").update(sent).digest();
  await deps.database.transaction(async (tx) => {
    const now = deps.now();
    const leaked = await lockToken(tx, { hash, ip: request.ip, now });
    if (leaked === null || leaked.revoked) return;
    await markTokenRevoked(tx, leaked.id, now);
    await enqueueAudit(
      tx,
      auditOf(deps, request, {
        org_id: leaked.org_id,
        action: "token.revoked",
        actor: { type: "system", id: "auth-sm" },
        target: { type: "token", id: leaked.id, parent_id: leaked.application_id },
        reason: "sent_whole",
        status: 400,
      }),
    );
  });
  throw new ServiceError(
    "invalid_request",
    `the token was sent whole, with its ${displayPrefix} prefix, and is revoked because it leaked: ` +
      "make a new one, and send only what is derived from it",
  );
}
