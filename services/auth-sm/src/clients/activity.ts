import type { Database } from "@coffer/postgres";
import type { Logger } from "@coffer/telemetry";
import { touchClients } from "../store/clients.ts";

const flushMilliseconds = 2000;

/** Remembers who was seen, and writes it down every two seconds: one statement for all, none on a request's path. */
export interface ClientActivity {
  /** A client has just been answered at this address. */
  seen(clientId: string, ip: string, at: Date): void;
  /** Writes down what is remembered, and stops. */
  close(): Promise<void>;
}

/** A sighting that cannot be written (the database is away) is kept for the next time; it is a convenience, no audit. */
export function createClientActivity(database: Database, log: Logger): ClientActivity {
  let sightings = new Map<string, { clientId: string; ip: string; at: string }>();

  const flush = async (): Promise<void> => {
    if (sightings.size === 0) return;
    const batch = sightings;
    sightings = new Map();
    try {
      await touchClients(database.pool, [...batch.values()]);
    } catch (error) {
      log.warn({ err: error }, "could not note when clients were last seen");
      sightings = new Map([...batch, ...sightings]);
    }
  };
  const timer = setInterval(() => void flush(), flushMilliseconds);
  timer.unref();

  return {
    seen(clientId, ip, at) {
      sightings.set(clientId, { clientId, ip, at: at.toISOString() });
    },
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
