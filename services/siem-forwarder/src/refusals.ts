import type { RefusalRecorder } from "@coffer/service";
import { actingOrg } from "./access.ts";
import { appendAudit } from "./audit/append.ts";
import type { Deps } from "./deps.ts";

/**
 * Refused calls belong in the chain of the organization in which the caller acts, or without one in
 * the caller's own.
 */
export function refusalsOf(deps: Deps): RefusalRecorder {
  return {
    newId: () => deps.newId(),
    orgOf: (caller) => actingOrg(deps, caller),
    record: (draft) => appendAudit(deps, { records: [draft] }),
  };
}
