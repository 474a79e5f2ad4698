import type { AuditedCall } from "@coffer/http";
import { actorOf, recordAudit } from "../audit.ts";
import { requireActingOrg } from "../callers/acting-org.ts";
import type { Caller } from "../callers/caller.ts";
import type { Deps } from "../deps.ts";
import { answerOf, type ScanAnswer } from "./answer.ts";
import type { ScanBody } from "./body.ts";

/** The limits of a response, so that a body full of secrets cannot fill the memory. */
const room = { occurrences: 10_000, bytes: 4 * 1024 * 1024 };

/** POST /api/scanner/scan */
export async function scan(
  deps: Deps,
  { caller, body, audit }: AuditedCall<Caller, unknown, ScanBody>,
): Promise<ScanAnswer> {
  const orgId = await requireActingOrg(deps, caller);
  const answer = answerOf(await deps.scans.scan({ documents: body.documents ?? [], diff: body.diff, room }, "http"));
  const { findings, inputs, bytes } = answer.summary;
  const record = audit({ orgId, actor: actorOf(caller), count: findings, changes: { inputs, bytes } });
  await recordAudit(deps, record);
  return answer;
}

/**
 * Before a large body is read.
 * @throws ServiceError `unavailable` while the queue is full
 */
export function requireRoom({ scans }: Pick<Deps, "scans">): Promise<void> {
  scans.requireRoom();
  return Promise.resolve();
}
