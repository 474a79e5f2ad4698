import type { Queryable } from "@coffer/postgres";
import { addDrill, type DrillResult, findDrill } from "../store/restore-drills.ts";
import type { Restored } from "./verify-restored.ts";

/** When a drill ran, and which backup it restored. */
export interface DrillTimes {
  backupAt: Date;
  startedAt: Date;
  endedAt: Date;
}

/** The result of a drill, by what the copy holds alone. */
export function resultOf(restored: Restored, { backupAt, startedAt, endedAt }: DrillTimes): DrillResult {
  return {
    ended_at: endedAt.toISOString(),
    backup_at: backupAt.toISOString(),
    seconds: (endedAt.getTime() - startedAt.getTime()) / 1000,
    chains: restored.chains,
    records: restored.records,
    rows: Object.values(restored.rows).reduce((sum, count) => sum + count, 0),
    problem: restored.problem,
  };
}

/**
 * Stores the result of a drill in the running installation, whose metrics show it. Records are
 * never deleted, so a copy with fewer records than the copy of an earlier drill is a problem,
 * unless its backup is older.
 */
export async function reportDrill(db: Queryable, restored: Restored, times: DrillTimes): Promise<DrillResult> {
  const former = await findDrill(db, { succeeded: true });
  const result = resultOf(restored, times);
  if (former !== null && Date.parse(former.backup_at) <= times.backupAt.getTime() && result.records < former.records)
    result.problem ??= `${result.records} audit records, and ${former.records} in the drill before`;
  await addDrill(db, result);
  return result;
}
