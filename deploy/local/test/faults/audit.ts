import { type Caller, demand } from "./caller.ts";
import type { Deed, Ledger } from "./ledger.ts";

export interface Recorded {
  action: string;
  outcome: string;
  actor: { id: string | null };
  target: { id: string | null };
  request: { id: string };
}

/** The audit of an organization. */
export interface Audit {
  /** Oldest first. */
  records: readonly Recorded[];
  byRequest: ReadonlyMap<string, readonly Recorded[]>;
}

/** The whole audit of the person's organization. */
export async function readAudit(url: string, person: Caller): Promise<Audit> {
  const records: Recorded[] = [];
  let cursor = "";
  do {
    const path = `/api/org/audit?limit=1000${cursor}`;
    const body = await demand(url, { method: "GET", path, bearer: person.bearer() });
    const page = body as unknown as { data: Recorded[]; next_cursor: string | null }; // as the interface describes it
    records.push(...page.data);
    cursor = page.next_cursor === null ? "" : `&cursor=${page.next_cursor}`;
  } while (cursor !== "");
  return { records, byRequest: byRequest(records) };
}

function byRequest(records: readonly Recorded[]): Map<string, Recorded[]> {
  const map = new Map<string, Recorded[]>();
  for (const record of records) {
    const of = map.get(record.request.id);
    if (of === undefined) map.set(record.request.id, [record]);
    else of.push(record);
  }
  return map;
}

/** The records of a deed, of all its attempts: several may have succeeded. */
function successes({ attempts }: Deed, audit: Audit): Recorded[] {
  const records = attempts.flatMap(({ requestId }) => audit.byRequest.get(requestId) ?? []);
  return records.filter(({ outcome }) => outcome === "success");
}

/** Whether a deed was done, acknowledged or not. */
export function wasDone(deed: Deed, audit: Audit): boolean {
  return successes(deed, audit).length > 0;
}

/** The faults of the audit: an acknowledged deed is there once, any other at most once. */
export function auditProblems({ deeds }: Ledger, audit: Audit): string[] {
  return deeds.flatMap((deed) => {
    if (deed.action === null) return [];
    const what = `${deed.action} ${deed.attempts.map(({ requestId, status }) => `${requestId} (${status})`).join(", ")}`;
    const twice = deed.attempts.filter(({ requestId }) => (audit.byRequest.get(requestId) ?? []).length > 1);
    if (twice.length > 0) return [`${what}: a request is recorded more than once`];
    const [record, ...more] = successes(deed, audit);
    if (more.length > 0) return [`${what} is recorded ${more.length + 1} times`];
    if (record === undefined) return deed.acknowledged ? [`${what} is not recorded`] : [];
    const right = record.action === deed.action && (deed.target === null || deed.target === record.target.id);
    return right ? [] : [`${what} is recorded as ${record.action} of ${String(record.target.id)}`];
  });
}
