import type { AuditDraft } from "@coffer/events";
import type { AuditedCall } from "@coffer/http";
import type { User } from "@coffer/service";
import { userActor } from "@coffer/service";
import { requireSiemManager } from "../access.ts";
import { appendAudit } from "../audit/append.ts";
import type { Deps } from "../deps.ts";
import { formatterOf } from "../formats/formats.ts";
import type { Outcome } from "../formats/format.ts";
import { createChannel } from "../outgoing/channel.ts";
import { RequestFailure } from "../outgoing/request-failure.ts";
import { findEndpointRow } from "../store/endpoints.ts";
import type { EndpointPath } from "./bodies.ts";
import { endpointNotFound } from "./not-found.ts";
import { openCredentials } from "./seal-credentials.ts";

/** An endpoint's response to a test event. */
export interface TestAnswer {
  ok: boolean;
  /** The HTTP status; null when there was no answer. */
  status: number | null;
  error: string | null;
}

/** POST /api/org/siem/webhooks/{id}/test */
export async function testEndpoint(
  deps: Deps,
  { caller, params: { id }, audit }: AuditedCall<User, EndpointPath>,
): Promise<TestAnswer> {
  const orgId = await requireSiemManager(deps, caller);
  const row = await findEndpointRow(deps.database.pool, orgId, id);
  if (row === null) throw endpointNotFound();
  const by = { orgId, actor: userActor(caller) };
  const answer = answerOf(await sendTest(deps, row, audit(by)));
  const outcome = answer.ok ? "success" : "failure";
  await appendAudit(deps, { records: [audit({ ...by, outcome })] });
  return answer;
}

/** Sends the event over a separate connection: the endpoint's worker is not disturbed. */
async function sendTest(
  deps: Deps,
  { id, format, url, credentials: sealed }: NonNullable<Awaited<ReturnType<typeof findEndpointRow>>>,
  record: AuditDraft,
): Promise<Outcome> {
  const credentials = openCredentials(deps, id, sealed);
  if (credentials === null)
    return { kind: "failed", status: null, error: "the credentials cannot be opened: set them again" };
  const { hostName, now, destinations, outgoingMilliseconds } = deps;
  const target = { url, credentials: credentials as never, hostName, now }; // checked for the format when they were set
  const formatter = formatterOf(format);
  const { open, close } = formatter.frame;
  const channel = createChannel({ destinations, timeoutMilliseconds: outgoingMilliseconds });
  try {
    const seconds = (Date.parse(record.time) / 1_000).toFixed(6);
    const encoded = formatter.encode({ parse: () => record, seconds, text: JSON.stringify(record) }, target);
    return await formatter.send(channel, target, Buffer.from(`${open}${encoded}${close}`), 1);
  } catch (error) {
    if (!(error instanceof RequestFailure)) throw error;
    return { kind: "failed", status: null, error: error.message };
  } finally {
    channel.close();
  }
}

function answerOf(outcome: Outcome): TestAnswer {
  const { status } = outcome;
  if (outcome.kind !== "taken") return { ok: false, status, error: outcome.error };
  if (outcome.open !== undefined) return { ok: false, status, error: outcome.open.error };
  if (outcome.rejected.length > 0) return { ok: false, status, error: "the endpoint rejected the record" };
  return { ok: true, status, error: null };
}
