import { auditAppend, recordsChanged, vaultChanged } from "@coffer/events";
import { createAuditLog, deliverOver, startRelay } from "@coffer/outbox";
import { createQuota, type Quota } from "@coffer/quota";
import {
  buildService,
  createServiceBase,
  createUsers,
  newId,
  recordRefusal,
  type RefusalRecorder,
  type ServiceInstance,
  type Shared,
  startSweeper,
} from "@coffer/service";
import type { Telemetry } from "@coffer/telemetry";
import type { Config } from "./config.ts";
import type { Deps } from "./deps.ts";
import { migrations, schema } from "./migrate.ts";
import { createMembershipCopy } from "./people/copy.ts";
import { lostMembershipsSweep } from "./people/lost-memberships.ts";
import { answerRequests } from "./replies.ts";
import { stagedSweep } from "./rotations/sweep.ts";
import { routes } from "./routes.ts";
import { findMembership } from "./store/memberships.ts";
import { createRecordReads } from "./store/records/record-reads.ts";
import { createRecordWrites } from "./store/records/record-writes.ts";
import { findVaultOrg } from "./store/vaults/vault-org.ts";
import { syncSweep } from "./sync/sweep.ts";
import { createTicker } from "./sync/ticker.ts";
import { observeWatermark } from "./sync/watermark-age.ts";
import { emptySweep } from "./vaults/empty.ts";

/** Test seams: the clock, and how often memberships are reconciled. */
export interface Seams {
  now?: () => Date;
  compareMilliseconds?: number;
}

/**
 * Builds the service from its configuration. It does not listen yet, and its stores may be away.
 */
export function createService(config: Config, shared: Shared = {}, seams: Seams = {}): ServiceInstance {
  const connections = (telemetry: Telemetry): Quota =>
    createQuota(telemetry, {
      items: config.COFFER_QUOTA_RECORDS,
      mebibytes: config.COFFER_QUOTA_MIB,
      kinds: {
        records: { owner: "the person who pays for this vault", items: "records" },
        staged: { owner: "your rotations under way", items: "records" },
      },
    });
  const base = createServiceBase({ name: "vaults", config, schema, migrations, shared, connections, ...seams });
  const { bus, database, telemetry } = base;
  const users = createUsers(base);
  const deps: Deps = {
    ...base,
    newId,
    audit: createAuditLog(database),
    ticker: createTicker(base),
    users,
    memberships: createMembershipCopy({ ...base, newId }, { everyMilliseconds: seams.compareMilliseconds }),
    reads: createRecordReads(database),
    writes: createRecordWrites(database),
    emptying: startSweeper(emptySweep(base), telemetry.log),
  };
  const subjects = [auditAppend, recordsChanged, vaultChanged];
  const relay = startRelay({ database, deliver: deliverOver(bus), telemetry, subjects });
  bus.onConnect(() => relay.nudge());
  answerRequests(deps);
  observeWatermark(base);
  const sweepers = [syncSweep(base), lostMembershipsSweep(deps), stagedSweep(base)].map((each) =>
    startSweeper(each, telemetry.log),
  );
  const refusals = refusalsOf(deps);
  return buildService(base, {
    routes,
    deps,
    onRefused: (route, call, error) => recordRefusal(refusals, route, call, error),
    async close() {
      users.close();
      await deps.emptying.close();
      await Promise.all(sweepers.map((sweeper) => sweeper.close()));
      await deps.memberships.close();
      await relay.close();
    },
  });
}

/**
 * Records refused calls in the chain of the vault's organization if the caller is a member, else of
 * the organization in which the caller acts, else of the caller.
 */
function refusalsOf(deps: Deps): RefusalRecorder {
  const { pool } = deps.database;
  return {
    newId: () => deps.newId(),
    async orgOf(caller, params) {
      const membership = await findMembership(pool, caller.userId, caller.orgId);
      const acting = membership?.status === "active" ? membership.org_id : null;
      return (await findVaultOrg(pool, caller.userId, params["id"])) ?? acting;
    },
    record: (draft) => deps.audit(draft),
  };
}
