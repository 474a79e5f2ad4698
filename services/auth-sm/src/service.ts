import { randomBytes } from "node:crypto";
import { createAuditLog, deliverOver, startRelay } from "@coffer/outbox";
import { type Database } from "@coffer/postgres";
import { createQuota, type Quota } from "@coffer/quota";
import {
  buildService,
  createServiceBase,
  newId,
  type ServiceBase,
  type ServiceInstance,
  type Shared,
  startSweeper,
} from "@coffer/service";
import type { Telemetry } from "@coffer/telemetry";
import { verifyMachineToken, verifyUserToken } from "@coffer/tokens";
import { deviceCredentialSweep } from "./accounts/device-credential.ts";
import { knownPlaceSweep } from "./accounts/known-place.ts";
import { pendingSweep } from "./accounts/sweep-pending.ts";
import { loginStartSweep } from "./accounts/sweep-login-starts.ts";
import { createClientActivity } from "./clients/activity.ts";
import type { Config } from "./config.ts";
import type { Deps } from "./deps.ts";
import { loggingFolderChanges } from "./folders/log-changes.ts";
import { folderChangesSweep } from "./folders/sweep-changes.ts";
import { stagedSweep } from "./folders/sweep-staged.ts";
import { findPublicKey } from "./keys/find-public-key.ts";
import { loadServerKeys } from "./keys/server-keys.ts";
import { keySweep } from "./keys/sweep.ts";
import { lostMembershipsSweep } from "./members/publish-lost.ts";
import { migrations, schema } from "./migrate.ts";
import { recordRefusal } from "./refusals.ts";
import { answerRequests } from "./replies.ts";
import { routes } from "./routes.ts";
import { createAnnouncer } from "./sessions/announce.ts";
import { sessionSweep } from "./sessions/sweep.ts";
import { createClientKeys } from "./store/machines/client-keys.ts";
import { createSecretReads } from "./store/secrets/secret-reads.ts";
import { createSecretWrites } from "./store/secrets/secret-writes.ts";

/** For tests: the clock. */
export interface Seams {
  now?: () => Date;
}

/**
 * Builds the service by hand from its configuration. It does not listen yet, and its stores may be
 * unavailable.
 */
export function createService(config: Config, shared: Shared = {}, seams: Seams = {}): ServiceInstance {
  const connections = (telemetry: Telemetry): Quota =>
    createQuota(telemetry, {
      items: config.COFFER_QUOTA_SECRETS,
      mebibytes: config.COFFER_QUOTA_MIB,
      kinds: {
        secrets: { owner: "the organization", items: "secrets" },
        staged: { owner: "your rotations under way", items: "secrets" },
      },
    });
  const base = createServiceBase({ name: "auth-sm", config, schema, migrations, shared, connections, ...seams });
  const { bus, database, telemetry } = base;
  const deps = buildDeps(base);
  const relay = startRelay({ database, deliver: loggingFolderChanges(database, deliverOver(bus)), telemetry });
  bus.onConnect(() => relay.nudge());
  answerRequests(deps);
  const sweeps = [
    loginStartSweep,
    pendingSweep,
    sessionSweep,
    knownPlaceSweep,
    deviceCredentialSweep,
    keySweep,
    folderChangesSweep,
    stagedSweep,
    lostMembershipsSweep,
  ].map((sweep) => sweep(deps));
  const sweepers = sweeps.map((sweep) => startSweeper(sweep, telemetry.log));
  return buildService(base, {
    routes,
    deps,
    onRefused: (route, call, error) => recordRefusal(deps, route, call, error),
    async close() {
      await Promise.all(sweepers.map((sweeper) => sweeper.close()));
      await deps.activity.close();
      deps.announcer.close();
      deps.keys.close();
      await relay.close();
    },
  });
}

function buildDeps(base: ServiceBase<Config>): Deps {
  const { config, database, now, telemetry } = base;
  const keys = loadServerKeys({ database, now, randomBytes, telemetry });
  const issuer = config.COFFER_BASE_URL[0] ?? "";
  return {
    ...base,
    newId,
    randomBytes,
    keys,
    audit: createAuditLog(database),
    verifyMachine: machineVerifier(config, database, now),
    verifyUser: verifyUserToken({ issuer, now, findKey: (kid) => findPublicKey(keys, kid) }),
    reads: createSecretReads(database),
    writes: createSecretWrites(database),
    announcer: createAnnouncer(base),
    activity: createClientActivity(database, telemetry.log),
  };
}

function machineVerifier(config: Config, database: Database, now: () => Date): Deps["verifyMachine"] {
  const clientKeys = createClientKeys(database);
  return verifyMachineToken({ audiences: config.COFFER_BASE_URL, now, findKey: clientKeys.find });
}
