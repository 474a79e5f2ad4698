import { setTimeout as sleep } from "node:timers/promises";
import { connect, errors, type NatsConnection } from "@nats-io/transport-node";
import type { Logger } from "@coffer/telemetry";
import type { BusOperation } from "./bus-metrics.ts";

export interface LinkOptions {
  /** One address or a comma list of the servers of a cluster. */
  url: string;
  service: string;
  user: string;
  password: string;
  log: Logger;
  /** Called with each new connection, before it is `current` and after which it may be used. */
  prepare: (connection: NatsConnection) => Promise<void>;
  /** Called when the server refuses this service a subject. The connection stays. */
  onRefusal: (operation: BusOperation) => void;
}

/** A connection that reconnects until it is closed, each time with a new connection object. */
export interface Link {
  /** The connection, while there is one. */
  current(): NatsConnection | undefined;
  onConnect(listener: () => void): void;
  onDisconnect(listener: () => void): void;
  /** Stops reconnecting. The current connection stays. */
  retire(): void;
  /** Retires and disconnects. */
  close(): Promise<void>;
}

const dialMilliseconds = 2000;
const shortestWait = 50;
const longestWait = 500;
// A silent loss is noticed after three intervals.
const pingMilliseconds = 1500;

/** Starts connecting in the background and returns at once. */
export function startLink({ url, service, user, password, log, prepare, onRefusal }: LinkOptions): Link {
  const stopped = new AbortController();
  const stopping = (): boolean => stopped.signal.aborted;
  const connectListeners: (() => void)[] = [];
  const disconnectListeners: (() => void)[] = [];
  let current: NatsConnection | undefined;

  const options = {
    servers: url.split(",").map((server) => server.trim()),
    name: service,
    user,
    pass: password,
    inboxPrefix: inboxPrefix(service),
    timeout: dialMilliseconds,
    // A new connection object each time: messages of a lost connection are never sent later.
    reconnect: false,
    pingInterval: pingMilliseconds,
    maxPingOut: 2,
    noAsyncTraces: true,
  };

  async function live(): Promise<void> {
    const connection = await connect(options);
    watchStatus(connection, log, onRefusal);
    try {
      await prepare(connection);
    } catch (error) {
      await connection.close();
      throw error;
    }
    if (stopping()) return connection.close();
    current = connection;
    log.info({ server: connection.getServer() }, "connected to the bus");
    for (const listener of connectListeners) listener();
    const reason = await connection.closed();
    current = undefined;
    for (const listener of disconnectListeners) listener();
    if (!stopping()) log.warn({ err: reason }, "connection to the bus lost");
  }

  async function run(): Promise<void> {
    let wait = shortestWait;
    let reported = false;
    while (!stopping()) {
      try {
        await live();
        [wait, reported] = [shortestWait, false];
      } catch (error) {
        if (!reported) log.warn({ err: error }, "the bus cannot be reached; retrying");
        reported = true;
      }
      await sleep(wait * (0.5 + Math.random() / 2), undefined, { signal: stopped.signal }).catch(() => undefined);
      wait = Math.min(wait * 2, longestWait);
    }
  }

  const running = run();
  return {
    current: () => current,
    onConnect: (listener) => void connectListeners.push(listener),
    onDisconnect: (listener) => void disconnectListeners.push(listener),
    retire: () => stopped.abort(),
    close: async () => {
      stopped.abort();
      await current?.close();
      await running;
    },
  };
}

/** How the reply subjects of every service begin. No other subject begins so. */
const anyInbox = "_INBOX_";

/** The prefix of reply subjects, to which only this service may subscribe. */
export function inboxPrefix(service: string): string {
  return `${anyInbox}${service}`;
}

function watchStatus(connection: NatsConnection, log: Logger, onRefusal: LinkOptions["onRefusal"]): void {
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type !== "error") continue;
      const { error } = status;
      const operation = error instanceof errors.PermissionViolationError ? refusedOperation(error) : undefined;
      if (operation !== undefined) onRefusal(operation);
      // The subscription itself logs its refusal.
      if (operation !== "subscribe") log.error({ err: error }, "the bus refused something");
    }
  })();
}

type Violation = InstanceType<typeof errors.PermissionViolationError>;

function refusedOperation({ operation, subject }: Violation): BusOperation {
  if (operation === "subscription") return "subscribe";
  return subject.startsWith(anyInbox) ? "reply" : "publish";
}
