import { isIP } from "node:net";
import { ServiceError } from "@coffer/errors";
import type { Database } from "@coffer/postgres";
import type { Logger } from "@coffer/telemetry";
import { touchClients } from "../store/clients.ts";

const flushMilliseconds = 2000;

/** Remembers who was seen, and writes it down every two seconds: one statement for all, none on a request's path. */
export interface ClientActivity {
  /** A client has just been answered at this address; what is no address is not noted. */
  seen(clientId: string, ip: string, at: Date): void;
  /** Writes down what is remembered, and stops. */
  close(): Promise<void>;
}

/**
 * Sightings that cannot be written while the database is away are kept for the next time, those that it refuses are
 * dropped: none may stand in the way of the others. It is a convenience, no audit.
 */
export function createClientActivity(database: Database, log: Logger): ClientActivity {
  let sightings = new Map<string, { clientId: string; ip: string; at: string }>();

  const flush = async (): Promise<void> => {
    if (sightings.size === 0) return;
    const batch = sightings;
    sightings = new Map();
    try {
      await touchClients(database.pool, [...batch.values()]);
    } catch (error) {
      if (error instanceof ServiceError && error.code === "unavailable") {
        log.warn({ err: error }, "could not note when clients were last seen; will try again");
        sightings = new Map([...batch, ...sightings]);
      } else {
        log.error({ err: error, clients: batch.size }, "could not note when clients were last seen");
      }
    }
  };
  const timer = setInterval(() => void flush(), flushMilliseconds);
  timer.unref();

  return {
    seen(clientId, ip, at) {
      if (isIP(ip) === 0) return;
      sightings.set(clientId, { clientId, ip, at: at.toISOString() });
    },
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
