import { inChain } from "../audit/in-chain.ts";
import type { Deps } from "../deps.ts";
import { openCredentials } from "../endpoints/seal-credentials.ts";
import type { FormatTarget, SiemFormatter } from "../formats/format.ts";
import { formatterOf } from "../formats/formats.ts";
import type { Channel } from "../outgoing/channel.ts";
import type { BacklogRecord, DeliveryState, DeliveryStore } from "../store/deliveries.ts";
import { disableFailing } from "../store/deliveries.ts";
import type { Batch } from "./batch.ts";
import { batchOf } from "./batch.ts";
import { deliveryAudit } from "./delivery-audit.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import { backlogStart, skipOld } from "./skip-old.ts";
import { waitAfter } from "./retry-schedule.ts";
import type { BatchProgress } from "./send-batch.ts";
import { sendBatch } from "./send-batch.ts";

/** An endpoint that has only failed for this long is disabled. */
const disabledAfterMilliseconds = 5 * 24 * 60 * 60 * 1_000;

const keyMissing = "the credentials cannot be opened: put their key back into COFFER_SIEM_KEYS, or set them again";

/** The dependencies of a worker, besides those of operations. */
export interface DeliveryDeps extends Deps {
  deliveries: DeliveryStore;
  replicaId: string;
  metrics: DeliveryMetrics;
  /** From 0 to 1. */
  random(): number;
}

/** The input of a worker's run. */
export interface DeliveryRun {
  id: string;
  channel: Channel;
  /** Whether to stop after the request under way. */
  isStopping(): boolean;
}

/**
 * Delivers the backlog of one endpoint, batch after batch, until nothing waits, a delivery fails,
 * or the lease is lost. While one batch is sent, the next is read and encoded and the position
 * after the last is stored. Returns how many records were parked.
 */
export async function deliver(deps: DeliveryDeps, run: DeliveryRun): Promise<{ parked: number }> {
  const { deliveries, replicaId } = deps;
  let state = await deliveries.find(run.id, replicaId, deps.now().toISOString());
  let position = state?.position ?? 0;
  let ahead: Promise<Next> | undefined;
  let saved: Promise<DeliveryState | null> | undefined;
  let parked = 0;
  try {
    while (state !== null && !run.isStopping()) {
      let next: Next = await (ahead ?? read(deps, state, position));
      ahead = undefined;
      if (isTooOld(deps, next.backlog)) {
        await saved;
        saved = undefined;
        await skipOld(deps, { ...state, position });
        state = await deliveries.find(run.id, replicaId, deps.now().toISOString());
        if (state?.position === position) break;
        position = state?.position ?? 0;
        continue;
      }
      // The settings have changed since the batch was encoded.
      if (next.settings !== state.updated_at) next = encode(deps, state, next.backlog);
      const { target, batch } = next;
      if (target === null) {
        deps.metrics.count(state.format, { taken: 0, parked: 0, failure: { error: keyMissing } });
        await failed(deps, state, { position, error: keyMissing, progress: null });
        break;
      }
      if (batch === null) break;
      ahead = read(deps, state, batch.last, next);
      // The loop awaits it later; until then a rejection is not unhandled.
      ahead.catch(() => undefined);
      const progress: BatchProgress = await send(formatterOf(state.format), { batch, target, channel: run.channel });
      deps.metrics.count(state.format, progress);
      if (saved !== undefined) state = await saved;
      saved = undefined;
      parked += progress.parked;
      position = progress.through ?? position;
      if (state === null) break;
      if (progress.failure !== null) {
        await failed(deps, state, { position, error: progress.failure.error, progress });
        break;
      }
      saved = succeeded(deps, state, { position, progress });
      saved.catch(() => undefined);
    }
  } finally {
    await saved;
  }
  return { parked };
}

/** The first records of a backlog, encoded. */
interface Next {
  backlog: readonly BacklogRecord[];
  /** When the settings were changed with which it is encoded. */
  settings: string;
  /** Null when the key of the credentials is missing. */
  target: FormatTarget<never> | null;
  /** Null without a record, or without a target. */
  batch: Batch | null;
}

/** Reads and encodes the records after a place. `before` is the batch before them. */
async function read(deps: DeliveryDeps, state: DeliveryState, after: number, before?: Next): Promise<Next> {
  const { mostRecords, mostBytes } = formatterOf(state.format);
  const limits = { limit: mostRecords, bytes: mostBytes, before: before?.backlog };
  return encode(deps, state, await deps.deliveries.backlog(state, after, limits), before);
}

function encode(deps: DeliveryDeps, state: DeliveryState, backlog: readonly BacklogRecord[], before?: Next): Next {
  const settings = state.updated_at;
  const target = before?.settings === settings ? before.target : targetOf(deps, state);
  return { backlog, settings, target, batch: target && batchOf(backlog, formatterOf(state.format), target) };
}

function isTooOld({ now }: DeliveryDeps, [first]: readonly BacklogRecord[]): boolean {
  return first !== undefined && Number(first.seconds) * 1_000 < Date.parse(backlogStart(now()));
}

function targetOf(deps: DeliveryDeps, { id, url, credentials: sealed }: DeliveryState): FormatTarget<never> | null {
  const credentials = openCredentials(deps, id, sealed);
  if (credentials === null) return null;
  const { hostName, now } = deps;
  return { url, credentials: credentials as never, hostName, now }; // checked for the endpoint's format when it was set
}

function send(
  formatter: SiemFormatter<never>,
  { batch, target, channel }: { batch: Batch; target: FormatTarget<never>; channel: Channel },
): Promise<BatchProgress> {
  return sendBatch(batch, formatter.frame, (body, count) => formatter.send(channel, target, body, count));
}

function succeeded(
  { deliveries, replicaId, now }: DeliveryDeps,
  { id }: DeliveryState,
  { position, progress: { status, parked, refusal } }: { position: number; progress: BatchProgress },
): Promise<DeliveryState | null> {
  const at = now().toISOString();
  return deliveries.succeed({ id, replicaId, position, parked, at, status, error: refusal });
}

interface Failed {
  position: number;
  error: string;
  progress: BatchProgress | null;
}

async function failed(deps: DeliveryDeps, state: DeliveryState, { position, error, progress }: Failed): Promise<void> {
  const { deliveries, replicaId, random } = deps;
  const { id, updated_at: seenUpdatedAt } = state;
  const now = deps.now();
  const at = now.toISOString();
  // Records that were delivered or parked before the failure count as a success.
  const hasProgress = progress !== null && progress.through !== null;
  const failingSince = hasProgress ? at : (state.failing_since ?? at);
  const attempts = hasProgress ? 1 : state.attempts + 1;
  const wait = waitAfter(attempts, { retryAfterSeconds: progress?.failure?.retryAfterSeconds, random: random() });
  const status = progress?.status ?? null;
  await deliveries.fail({
    ...{ id, replicaId, position, parked: progress?.parked ?? 0, at, status, error },
    ...{ seenUpdatedAt, failingSince, attempts, nextAttemptAt: new Date(now.getTime() + wait).toISOString() },
  });
  if (now.getTime() - Date.parse(failingSince) < disabledAfterMilliseconds) return;
  await inChain(deps, state.org_id, async ({ tx, append }) => {
    const disabled = `disabled after five days of failures: ${error}`;
    if (!(await disableFailing(tx, { id, replicaId, seenUpdatedAt, at, error: disabled }))) return;
    const action = "siem.webhook.delivery.failed";
    await append(deliveryAudit(deps, { action, reason: "disabled", orgId: state.org_id, endpointId: id, at, status }));
  });
}
