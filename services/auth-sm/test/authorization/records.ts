import type { Caller } from "./cast.ts";
import type { Cell } from "./tables.ts";

type Org = { orgId: string };

/**
 * The audit record of a refused request (siem.md): action, outcome, reason and chain. There is none
 * for an anonymous caller or a malformed request.
 */
export function recordsOf(cell: Cell, caller: Caller, ours: Org, foreign: Org): string[] {
  const { endpoint, action, words, status, error, caller: name } = cell;
  const record = (...parts: (string | null)[]): string[] => [parts.map((part) => part ?? "-").join(" ")];
  if (status === 401) {
    // A machine that has ended is known all the same.
    if (caller.kind !== "machine" || !endpoint.includes("/api/sm/")) return [];
    return record("client.auth.failed", "failure", name === "T" ? "expired" : error, caller.chain);
  }
  // Right in form, of all that is answered 400 here, is only a secret with a uid that is taken.
  if (action === "secret.created" && status === 400) return record(action, "failure", "uid_taken", caller.chain);
  if (action === null || status === 400) return [];
  const outcome = status === 403 ? "denied" : "failure";
  // The inviting organization has the record; an unknown token belongs to no organization.
  if (action === "org.member.accepted") {
    return status === 403 ? record(action, outcome, error, words[0] === "ours" ? ours.orgId : foreign.orgId) : [];
  }
  // What is about the person is in the person's chains.
  const chain = action.startsWith("user.") && !endpoint.includes(" /api/org/") ? caller.personsChain : caller.chain;
  return record(action, outcome, error, chain);
}
