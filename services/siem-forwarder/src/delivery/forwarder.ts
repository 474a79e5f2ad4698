import { type Channel, createChannel } from "../outgoing/channel.ts";
import { hasSiem } from "../plans/plans.ts";
import {
  forgetFailures,
  forgetReplica,
  type LeaseTimes,
  listOwned,
  noteReplica,
  type OwnedEndpoint,
  releaseLeases,
  renewLeases,
  takeLeases,
} from "../store/leases.ts";
import { deliver, type DeliveryDeps } from "./deliver.ts";
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

interface State {
  readonly deps: DeliveryDeps;
  readonly timeoutMilliseconds: number | undefined;
  /** By the endpoint's id. */
  readonly workers: Map<string, Promise<void>>;
  readonly channels: Map<string, Channel>;
  /**
   * The organizations whose plan has no SIEM, as of the last look: their workers stop after the
   * request under way.
   */
  paused: ReadonlySet<string>;
  /** The look under way. */
  looking: Promise<void> | undefined;
  /** Whether the last look failed. */
  failing: boolean;
  closing: boolean;
}

/**
 * Starts the delivery. Each endpoint has its own worker and connections, so that none waits for
 * another.
 */
export function startForwarder(deps: DeliveryDeps, options: ForwarderOptions = {}): Forwarder {
  const { everyMilliseconds = tickMilliseconds, timeoutMilliseconds } = options;
  const state: State = {
    deps,
    timeoutMilliseconds,
    workers: new Map(),
    channels: new Map(),
    paused: new Set(),
    looking: undefined,
    failing: false,
    closing: false,
  };
  const timer = everyMilliseconds === null ? undefined : setInterval(() => void lookOnce(state), everyMilliseconds);
  timer?.unref();

  return {
    async tick() {
      await state.looking;
      await lookOnce(state);
      await Promise.all(state.workers.values());
    },
    close(seconds) {
      clearInterval(timer);
      return close(state, seconds);
    },
  };
}

/** Looks for due endpoints, unless a look is under way. Logs the first of several failures. */
function lookOnce(state: State): Promise<void> {
  return (state.looking ??= look(state)
    .then(
      () => {
        state.failing = false;
      },
      (error: unknown) => {
        // Postgres is away, or the schema is not there yet.
        if (!state.failing) state.deps.telemetry.log.warn({ err: error }, "SIEM deliveries wait");
        state.failing = true;
      },
    )
    .finally(() => {
      state.looking = undefined;
    }));
}

async function look(state: State): Promise<void> {
  const owned = await holdLeases(state);
  await pause(state, owned);
  reportBacklog(state, owned);
  closeUnused(state, owned);
  startWorkers(state, owned);
}

/** Renews, takes and gives up leases. Returns the endpoints of this replica. */
async function holdLeases({ deps, workers }: State): Promise<readonly OwnedEndpoint[]> {
  const { pool } = deps.database;
  const times = timesOf(deps);
  const replicas = await noteReplica(pool, times);
  await renewLeases(pool, times);
  await takeLeases(pool, times, replicas);
  if (replicas > 1) await releaseLeases(pool, times, { replicas, busy: [...workers.keys()] });
  const notSince = new Date(deps.now().getTime() - reportMilliseconds).toISOString();
  return listOwned(pool, { ...times, notSince });
}

/** Pauses the endpoints of organizations whose plan has no SIEM. That is no failure of theirs. */
async function pause(state: State, owned: readonly OwnedEndpoint[]): Promise<void> {
  const { deps } = state;
  const plans = await deps.plans.of([...new Set(owned.map(({ org_id }) => org_id))]);
  const paused = new Set(owned.flatMap(({ org_id }) => (hasSiem(plans.get(org_id)) ? [] : [org_id])));
  state.paused = paused;
  await forgetFailures(deps.database.pool, deps.replicaId, [...paused]);
}

function reportBacklog({ deps }: State, owned: readonly OwnedEndpoint[]): void {
  const waiting = new Map<string, number>();
  for (const { format, backlog } of owned) waiting.set(format, (waiting.get(format) ?? 0) + backlog);
  deps.metrics.setBacklog(waiting);
}

function closeUnused({ channels, workers }: State, owned: readonly OwnedEndpoint[]): void {
  const ids = new Set(owned.map(({ id }) => id));
  for (const [id, channel] of channels) {
    if (ids.has(id) || workers.has(id)) continue;
    channel.close();
    channels.delete(id);
  }
}

function startWorkers(state: State, owned: readonly OwnedEndpoint[]): void {
  const { workers, paused, closing } = state;
  for (const endpoint of owned) {
    if (closing || paused.has(endpoint.org_id) || workers.has(endpoint.id)) continue;
    workers.set(
      endpoint.id,
      work(state, endpoint).finally(() => workers.delete(endpoint.id)),
    );
  }
}

async function work(
  state: State,
  { id, org_id, is_due: isDue, backlog, has_parked: hasParked }: OwnedEndpoint,
): Promise<void> {
  const { deps } = state;
  try {
    const run = { id, channel: channelOf(state, id), isStopping: () => state.closing || state.paused.has(org_id) };
    const { parked } = isDue && backlog > 0 ? await deliver(deps, run) : { parked: 0 };
    if (hasParked || parked > 0) await reportParked(deps, { id, org_id });
  } catch (error) {
    deps.telemetry.log.warn({ err: error, endpoint_id: id }, "a SIEM delivery was interrupted");
  }
}

function channelOf({ deps, channels, timeoutMilliseconds }: State, id: string): Channel {
  const channel = channels.get(id) ?? createChannel({ destinations: deps.destinations, timeoutMilliseconds });
  channels.set(id, channel);
  return channel;
}

async function close(state: State, seconds: number): Promise<void> {
  const { deps, channels, workers } = state;
  const closeChannels = (): void => {
    for (const channel of channels.values()) channel.close();
  };
  state.closing = true;
  await state.looking;
  const cut = setTimeout(closeChannels, seconds * 1_000);
  await Promise.all(workers.values());
  clearTimeout(cut);
  closeChannels();
  await forgetReplica(deps.database.pool, deps.replicaId).catch(() => undefined);
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
