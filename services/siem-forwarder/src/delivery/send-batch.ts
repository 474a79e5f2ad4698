import type { Frame, Outcome } from "../formats/format.ts";
import { RequestFailure } from "../outgoing/request-failure.ts";
import type { Batch, BatchItem } from "./batch.ts";
import { bodyOf } from "./batch.ts";

/** How far a batch has come. */
export interface BatchProgress {
  /** All records up to this `seq` are delivered or parked; null if none is. */
  through: number | null;
  /** Records that the receiver will never take. */
  parked: number;
  taken: number;
  /** The HTTP status of the last answer. */
  status: number | null;
  /** Why records were parked. */
  refusal: string | null;
  /** Why the rest was not sent; null if the whole batch is delivered or parked. */
  failure: { error: string; retryAfterSeconds?: number | undefined } | null;
}

/** Sends a body with so many records. */
type Send = (body: Buffer, count: number) => Promise<Outcome>;

/**
 * Sends a batch, in order. If the receiver refuses its content, the batch is divided until the
 * refused records are alone: these are parked. Stops at the first failure that is not about the
 * content.
 */
export async function sendBatch(batch: Batch, frame: Frame, send: Send): Promise<BatchProgress> {
  const progress: BatchProgress = { through: null, parked: 0, taken: 0, status: null, refusal: null, failure: null };
  const groups: BatchItem[][] = batch.items.length === 0 ? [] : [batch.items];
  for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
    const body = group === batch.items ? batch.body : bodyOf(batch, frame, group);
    const outcome = await outcomeOf(() => send(body, group.length));
    progress.status = outcome.status;
    if (outcome.kind === "failed") {
      progress.failure = outcome;
      return progress;
    }
    if (outcome.kind === "refused" && group.length > 1) {
      const middle = Math.ceil(group.length / 2);
      groups.unshift(group.slice(0, middle), group.slice(middle));
      continue;
    }
    const { rejected, open } = outcome.kind === "refused" ? { rejected: [0], open: undefined } : outcome;
    const settled = open?.from ?? group.length;
    progress.parked += rejected.length;
    progress.taken += settled - rejected.length;
    if (rejected.length > 0)
      progress.refusal = outcome.kind === "refused" ? outcome.error : "the endpoint rejected records of a batch";
    progress.through = group[settled - 1]?.through ?? progress.through;
    if (open !== undefined) {
      progress.failure = open;
      return progress;
    }
  }
  progress.through = batch.last;
  return progress;
}

async function outcomeOf(send: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof RequestFailure) return { kind: "failed", status: null, error: error.message };
    throw error;
  }
}
