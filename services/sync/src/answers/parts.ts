import { ServiceError } from "@coffer/errors";
import { changesSince } from "@coffer/events";
import type { Holder } from "../connections/connection.ts";
import type { Deps } from "../deps.ts";
import type { SyncRequest } from "./read-request.ts";

export type Part = ReturnType<typeof changesSince.output.parse>;

// A part has up to 512 KiB and is on record before it comes.
const timeoutMilliseconds = 10_000;

/**
 * Makes the function that reads the parts of an answer, from the first (null) or from one that an earlier part named,
 * whole or of what was deleted alone.
 * The next part is asked for while the one before is used.
 */
export function partsFrom(
  { bus, turns }: Pick<Deps, "bus" | "turns">,
  { connectionId, userId, sessionId, requestId, ip, userAgent }: Holder,
  { lastSync, limit }: SyncRequest,
) {
  const person = { user_id: userId, session_id: sessionId };
  const caller = { ...person, connection_id: connectionId, request_id: requestId, ip, user_agent: userAgent };
  const askFor = async (after: string | null, onlyDeleted: boolean): Promise<Part> => {
    const about = onlyDeleted ? { only_deleted: true } : {};
    const input = { ...caller, last_sync: lastSync, limit, after, ...about };
    const part = await turns(() => bus.request(changesSince, input, { timeoutMilliseconds }));
    requireLengths(part);
    return part;
  };

  return async function* parts(
    first: string | null,
    { onlyDeleted = false } = {},
  ): AsyncGenerator<{ from: string | null; part: Part }> {
    const ask = (after: string | null): Promise<Part> => askFor(after, onlyDeleted);
    let from: string | null = first;
    let asked = ask(from);
    for (;;) {
      const part = await asked;
      const here = from;
      from = part.after;
      if (from !== null) {
        asked = ask(from);
        // Its user may stop before it comes.
        asked.catch(() => undefined);
      }
      yield { from: here, part };
      if (from === null) return;
    }
  };
}

/** The changes are cut by their lengths alone: by others a device would get torn ones. */
function requireLengths({ changes, change_lengths: lengths }: Part): void {
  const commas = Math.max(0, lengths.length - 1);
  if (lengths.reduce((sum, length) => sum + length, commas) !== changes.length)
    throw new ServiceError("internal_error", "the changes of a part have other lengths than it says");
}
