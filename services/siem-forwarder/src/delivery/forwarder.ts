import { hasSiem } from "../plans/plans.ts";
import type { Channel } from "../outgoing/channel.ts";
import { createChannel } from "../outgoing/channel.ts";
import {
  forgetFailures,
  forgetReplica,
  releaseLeases,
  listOwned,
  noteReplica,
  renewLeases,
  takeLeases,
} from "../store/leases.ts";
import type { LeaseTimes, OwnedEndpoint } from "../store/leases.ts";
import { deliver } from "./deliver.ts";
import type { DeliveryDeps } from "./deliver.ts";
import { reportMilliseconds, reportParked } from "./report-parked.ts";

/** As long as the first record of a batch waits for others. */
const tickMilliseconds = 1_000;
/** A lease ends this long after its last renewal: with the tick, a killed replica is replaced within 10 s. */
const leaseMilliseconds = 6_000;
const renewBeforeMilliseconds = 4_000;

/** Delivers to the endpoints whose leases this replica holds. */
export interface Forwarder {
  /** Starts workers for all due endpoints now. Resolves when these workers have ended. */
  tick(): Promise<void>;
  /** Starts no more work, cuts running requests after this number of seconds, and releases the leases. */
  close(seconds: number): Promise<void>;
}

export interface ForwarderOptions {
  /** The interval of the search for due endpoints. Null: only when `tick` is called. Default: 1 s. */
  everyMilliseconds?: number | null | undefined;
  /** How long a request may take. Default: 15 s. */
  timeoutMilliseconds?: number | undefined;
}

/**
 * Starts the delivery. Each endpoint has its own worker and connections, so that none waits for
 * another.
 */
export function startForwarder(deps: DeliveryDeps, options: ForwarderOptions = {}): Forwarder {
  const { everyMilliseconds = tickMilliseconds, timeoutMilliseconds } = options;
  const workers = new Map<string, Promise<void>>();
  const channels = new Map<string, Channel>();
  /** The organizations whose plan has no SIEM, as of the last look: their workers stop after the request under way. */
  let paused: ReadonlySet<string> = new Set();
  let looking: Promise<void> | undefined;
  let closing = false;
  let failing = false;

  const channelOf = (id: string): Channel => {
    const channel = channels.get(id) ?? createChannel({ destinations: deps.destinations, timeoutMilliseconds });
    channels.set(id, channel);
    return channel;
  };

  const work = async ({ id, org_id, is_due: isDue, backlog, has_parked: hasParked }: OwnedEndpoint): Promise<void> => {
    try {
      const run = { id, channel: channelOf(id), isStopping: () => closing || paused.has(org_id) };
      const { parked } = isDue && backlog > 0 ? await deliver(deps, run) : { parked: 0 };
      if (hasParked || parked > 0) await reportParked(deps, { id, org_id });
    } catch (error) {
      deps.telemetry.log.warn({ err: error, endpoint_id: id }, "a SIEM delivery was interrupted");
    }
  };

  const look = async (): Promise<void> => {
    const { pool } = deps.database;
    const times = timesOf(deps);
    const replicas = await noteReplica(pool, times);
    await renewLeases(pool, times);
    await takeLeases(pool, times, replicas);
    if (replicas > 1) await releaseLeases(pool, times, { replicas, busy: [...workers.keys()] });
    const notSince = new Date(deps.now().getTime() - reportMilliseconds).toISOString();
    const owned = await listOwned(pool, { ...times, notSince });
    const plans = await deps.plans.of([...new Set(owned.map(({ org_id }) => org_id))]);
    paused = new Set(owned.flatMap(({ org_id }) => (hasSiem(plans.get(org_id)) ? [] : [org_id])));
    await forgetFailures(pool, deps.replicaId, [...paused]);
    const waiting = new Map<string, number>();
    for (const { format, backlog } of owned) waiting.set(format, (waiting.get(format) ?? 0) + backlog);
    deps.metrics.setBacklog(waiting);
    const ids = new Set(owned.map(({ id }) => id));
    for (const [id, channel] of channels) {
      if (ids.has(id) || workers.has(id)) continue;
      channel.close();
      channels.delete(id);
    }
    for (const endpoint of owned) {
      if (closing || paused.has(endpoint.org_id) || workers.has(endpoint.id)) continue;
      workers.set(
        endpoint.id,
        work(endpoint).finally(() => workers.delete(endpoint.id)),
      );
    }
  };

  const lookOnce = (): Promise<void> =>
    (looking ??= look()
      .then(
        () => {
          failing = false;
        },
        (error: unknown) => {
          // Postgres is away, or the schema is not there yet.
          if (!failing) deps.telemetry.log.warn({ err: error }, "SIEM deliveries wait");
          failing = true;
        },
      )
      .finally(() => {
        looking = undefined;
      }));

  const timer = everyMilliseconds === null ? undefined : setInterval(() => void lookOnce(), everyMilliseconds);
  timer?.unref();

  return {
    async tick() {
      await looking;
      await lookOnce();
      await Promise.all(workers.values());
    },
    async close(seconds) {
      closing = true;
      clearInterval(timer);
      await looking;
      const cut = setTimeout(() => {
        for (const channel of channels.values()) channel.close();
      }, seconds * 1_000);
      await Promise.all(workers.values());
      clearTimeout(cut);
      for (const channel of channels.values()) channel.close();
      await forgetReplica(deps.database.pool, deps.replicaId).catch(() => undefined);
    },
  };
}

function timesOf({ now, replicaId }: DeliveryDeps): LeaseTimes {
  const at = now().getTime();
  const text = (milliseconds: number): string => new Date(at + milliseconds).toISOString();
  return {
    replicaId,
    now: text(0),
    until: text(leaseMilliseconds),
    renewBefore: text(renewBeforeMilliseconds),
    liveSince: text(-leaseMilliseconds),
  };
}
