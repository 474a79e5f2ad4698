import type { AuditedCall } from "@coffer/http";
import type { User } from "@coffer/service";
import type { Deps } from "../deps.ts";
import type { RecordPath } from "./bodies.ts";
import { expectedMoment, notAsExpected } from "./expected.ts";
import { writeRecord } from "./write.ts";

/** DELETE /api/vaults/{id}/records/{rid}: any version, unless `If-Match` names one. */
export async function removeRecord(deps: Deps, call: AuditedCall<User, RecordPath>): Promise<void> {
  const { id: vaultId, rid: id } = call.params;
  const expected = expectedMoment(call.expected);
  const removed = await writeRecord(deps, call, { id }, (to) => deps.writes.remove({ ...to, expected }));
  if (removed === "other") throw await notAsExpected(deps.database.pool, { vaultId, id, expected });
}
