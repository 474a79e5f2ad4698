import { ServiceError } from "@coffer/errors";
import { changesSince } from "@coffer/events";
import type { Holder } from "../connections/connection.ts";
import type { Deps } from "../deps.ts";
import type { SyncRequest } from "./read-request.ts";

export type Part = ReturnType<typeof changesSince.output.parse>;

// A part has up to 512 KiB, and vaults audits it before the reply.
const timeoutMilliseconds = 10_000;

/**
 * Makes the function that reads the parts of an answer, from the beginning (null) or from the
 * `after` of a part; with `onlyDeleted` only deletions. Requests the next part while the caller
 * uses this one.
 */
export function partsFrom(
  { bus, requestSlots }: Pick<Deps, "bus" | "requestSlots">,
  { connectionId, userId, sessionId, requestId, ip, userAgent }: Holder,
  { lastSync, limit }: SyncRequest,
) {
  const person = { user_id: userId, session_id: sessionId };
  const caller = { ...person, connection_id: connectionId, request_id: requestId, ip, user_agent: userAgent };
  const requestPart = async (after: string | null, onlyDeleted: boolean): Promise<Part> => {
    const about = onlyDeleted ? { only_deleted: true } : {};
    const input = { ...caller, last_sync: lastSync, limit, after, ...about };
    const part = await requestSlots(() => bus.request(changesSince, input, { timeoutMilliseconds }));
    requireLengths(part);
    return part;
  };

  return async function* parts(
    first: string | null,
    { onlyDeleted = false } = {},
  ): AsyncGenerator<{ from: string | null; part: Part }> {
    const request = (after: string | null): Promise<Part> => requestPart(after, onlyDeleted);
    let from: string | null = first;
    let pending = request(from);
    for (;;) {
      const part = await pending;
      const here = from;
      from = part.after;
      if (from !== null) {
        pending = request(from);
        // The caller may stop before it arrives.
        pending.catch(() => undefined);
      }
      yield { from: here, part };
      if (from === null) return;
    }
  };
}

/** Changes are split by their lengths: wrong lengths would split a change in the middle. */
function requireLengths({ changes, change_lengths: lengths }: Part): void {
  const commas = Math.max(0, lengths.length - 1);
  if (lengths.reduce((sum, length) => sum + length, commas) !== changes.length)
    throw new ServiceError("internal_error", "the changes of a part do not have the declared lengths");
}
