import { timestampText } from "@coffer/http";
import { z } from "zod";

/** A sync request of a device. */
export interface SyncRequest {
  /** The `server_time` of its last answer; null for a first sync. */
  readonly lastSync: string | null;
  /** The most changes and deletions of the answer; null: all. */
  readonly limit: number | null;
}

const shape = z.object({
  type: z.literal("sync_request", { error: 'must be "sync_request"' }),
  last_sync: timestampText.nullish(),
  limit: z
    .int({ error: "must be a whole number", abort: true })
    .min(1, "must be from 1 to 1000")
    .max(1000, "must be from 1 to 1000")
    .nullish(),
});

/**
 * Parses a client message. Returns an error text, which never quotes the message, if it is invalid.
 */
export function readRequest(data: Buffer, isBinary: boolean): SyncRequest | string {
  if (isBinary) return "messages must be text";
  let value: unknown;
  try {
    value = JSON.parse(data.toString("utf8"));
  } catch {
    return "the message is not JSON";
  }
  const parsed = shape.safeParse(value);
  if (parsed.success) return { lastSync: parsed.data.last_sync ?? null, limit: parsed.data.limit ?? null };
  const issue = parsed.error.issues[0];
  if (issue === undefined || issue.path.length === 0) return "the message is not an object";
  return `${issue.path.map(String).join(".")}: ${issue.message}`;
}
