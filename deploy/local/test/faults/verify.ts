import { ask } from "./caller.ts";
import type { Caller } from "./caller.ts";
import type { Attempt, Ledger, Slot } from "./ledger.ts";
import { isAcknowledged, lastAcknowledged } from "./ledger.ts";

export interface Recorded {
  action: string;
  outcome: string;
  target: { id: string | null };
  request: { id: string };
}

/** All audit records of the person's organization, oldest first. */
export async function allRecords(url: string, person: Caller): Promise<Recorded[]> {
  const records: Recorded[] = [];
  let cursor = "";
  do {
    const path = `/api/org/audit?limit=1000${cursor}`;
    const { status, body } = await ask(url, { method: "GET", path, bearer: person.bearer() });
    if (status !== 200) throw new Error(`the audit was answered ${status}`);
    const page = body as unknown as { data: Recorded[]; next_cursor: string | null }; // as the interface describes it
    records.push(...page.data);
    cursor = page.next_cursor === null ? "" : `&cursor=${page.next_cursor}`;
  } while (cursor !== "");
  return records;
}

/** Records by the request that they are of. */
export function byRequest(records: readonly Recorded[]): Map<string, Recorded[]> {
  const map = new Map<string, Recorded[]>();
  for (const record of records) {
    const of = map.get(record.request.id);
    if (of === undefined) map.set(record.request.id, [record]);
    else of.push(record);
  }
  return map;
}

/** What is wrong with the audit: acknowledged is there once, as what it was; all else at most once. */
export function auditProblems({ attempts }: Ledger, records: ReadonlyMap<string, Recorded[]>): string[] {
  return attempts.flatMap((attempt) => {
    const found = records.get(attempt.requestId) ?? [];
    const what = `${attempt.action} ${attempt.requestId} (${attempt.status})`;
    if (found.length > 1) return [`${what} is recorded ${found.length} times`];
    if (!isAcknowledged(attempt)) return [];
    const [record] = found;
    if (record === undefined) return [`${what} is not recorded`];
    const right = isOf(record, attempt);
    return right ? [] : [`${what} is recorded as ${record.action} ${record.outcome} of ${String(record.target.id)}`];
  });
}

function isOf({ action, outcome, target }: Recorded, attempt: Attempt): boolean {
  return action === attempt.action && outcome === "success" && (attempt.uid === null || target.id === attempt.uid);
}

/** The ciphertext that each secret must have now: that of its last write that took effect, as the audit tells. */
export function expectedContents({ slots }: Ledger, records: ReadonlyMap<string, Recorded[]>) {
  const problems: string[] = [];
  const contents = new Map<string, string>();
  for (const slot of slots) {
    const last = lastEffective(slot, records);
    const acknowledged = lastAcknowledged(slot);
    if (last < acknowledged) problems.push(`write ${acknowledged} of ${slot.uid} was acknowledged and took no effect`);
    const content = slot.writes[last]?.content ?? null;
    if (content !== null) contents.set(slot.uid, content);
  }
  return { contents, problems };
}

function lastEffective({ writes }: Slot, records: ReadonlyMap<string, Recorded[]>): number {
  return writes.findLastIndex(({ requestId }) => records.get(requestId)?.some(({ outcome }) => outcome === "success"));
}

/** The ciphertext of every secret of the person's folder, by uid. */
export async function presentContents(url: string, person: Caller): Promise<Map<string, string>> {
  const { status, body } = await ask(url, { method: "GET", path: person.list, bearer: person.bearer() });
  if (status !== 200) throw new Error(`the list was answered ${status}`);
  const { data } = body as unknown as { data: { uid: string; data_encrypted: string }[] }; // as the interface describes it
  return new Map(data.map((each) => [each.uid, each.data_encrypted]));
}
