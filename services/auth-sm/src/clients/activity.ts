import { isIP } from "node:net";
import { ServiceError } from "@coffer/errors";
import type { Database } from "@coffer/postgres";
import type { Logger } from "@coffer/telemetry";
import { touchClients } from "../store/machines/clients.ts";

const flushMilliseconds = 2000;

/**
 * Collects when clients were last used and writes it every two seconds in one statement, off the
 * path of requests.
 */
export interface ClientActivity {
  /**
   * Stores that a client was answered at this address. Ignores a value that is not an IP address.
   */
  seen(clientId: string, ip: string, at: Date): void;
  /** Writes the collected values and stops. */
  close(): Promise<void>;
}

/**
 * Keeps values that cannot be written while the database is unavailable, and drops values that the
 * database refuses, so that they do not block others. The values are a convenience, not an audit.
 */
export function createClientActivity(database: Database, log: Logger): ClientActivity {
  let uses = new Map<string, { clientId: string; ip: string; at: string }>();

  const flush = async (): Promise<void> => {
    if (uses.size === 0) return;
    const batch = uses;
    uses = new Map();
    try {
      await touchClients(database.pool, [...batch.values()]);
    } catch (error) {
      if (error instanceof ServiceError && error.code === "unavailable") {
        log.warn({ err: error }, "cannot store when clients were last used; will retry");
        uses = new Map([...batch, ...uses]);
      } else {
        log.error({ err: error, clients: batch.size }, "cannot store when clients were last used");
      }
    }
  };
  const timer = setInterval(() => void flush(), flushMilliseconds);
  timer.unref();

  return {
    seen(clientId, ip, at) {
      if (isIP(ip) === 0) return;
      uses.set(clientId, { clientId, ip, at: at.toISOString() });
    },
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
