import { ServiceError } from "@coffer/errors";
import pg from "pg";
import { boundTransactions, limits } from "./connection.ts";
import { type GatheredSocket, gatheredSocket } from "./gathered-socket.ts";
import { ConnectionFailure, hasStalePlan, translate } from "./failure.ts";

/** A statement under its name, prepared once per connection. */
export interface Statement {
  name: string;
  text: string;
}

/** A pipelined connection of `pg`: opened at first use, reopened after a loss. */
export interface PipelinedConnection {
  /** Sends a statement without waiting for earlier ones. Throws translated errors. */
  query(statement: Statement, values: unknown[]): Promise<unknown[]>;
  /** Statements without a response. */
  readonly pending: number;
  /** Whether statements of this event loop turn are being gathered: one more costs no write. */
  readonly gathering: boolean;
  /** Waits for pending statements and refuses new ones. */
  close(): Promise<void>;
}

interface Connection {
  client: pg.Client;
  gathered: GatheredSocket;
}

/** Beyond this, a queued statement would not be answered in time. */
const mostPending = 2_000;

export function createPipelinedConnection(
  config: pg.ClientConfig,
  onError: (error: unknown) => void = () => undefined,
): PipelinedConnection {
  let current: Promise<Connection> | undefined;
  let latest: GatheredSocket | undefined;
  let pending = 0;
  let closed = false;

  const open = async (): Promise<Connection> => {
    const gathered = gatheredSocket();
    const client = new pg.Client({ ...config, pipeline: true, stream: () => gathered.socket });
    const forget = () => {
      if (current === opening) current = undefined;
    };
    client.on("error", forget);
    client.on("end", forget);
    const opening = current;
    try {
      await client.connect();
      await client.query(boundTransactions);
      latest = gathered;
      return { client, gathered };
    } catch (error) {
      forget();
      throw new ConnectionFailure(error);
    }
  };

  const connected = (): Promise<Connection> => {
    if (closed) throw new ServiceError("unavailable", "the service is shutting down", { retryAfterSeconds: 1 });
    return (current ??= Promise.resolve().then(open));
  };

  const send = async ({ name, text }: Statement, values: unknown[]): Promise<unknown[]> => {
    const opening = connected();
    const { client, gathered } = await opening;
    try {
      gathered.gather();
      const { rows } = await client.query<Record<string, unknown>>({ name, text, values });
      return rows;
    } catch (error) {
      if (!hasStalePlan(error)) throw error;
      // The table changed: a new connection plans again. Pending statements finish on the old one.
      if (current === opening) current = undefined;
      void client.end().catch(() => undefined);
      throw error;
    }
  };

  return {
    async query(statement, values) {
      if (pending >= mostPending) {
        throw new ServiceError("unavailable", "too many requests wait for the database; try again", {
          retryAfterSeconds: 1,
        });
      }
      pending += 1;
      try {
        return await send(statement, values);
      } catch (error) {
        onError(error);
        throw translate(error);
      } finally {
        pending -= 1;
      }
    },
    get pending() {
      return pending;
    },
    get gathering() {
      return latest?.gathering ?? false;
    },
    async close() {
      closed = true;
      const connection = await current?.catch(() => undefined);
      await connection?.client.end().catch(() => undefined);
    },
  };
}

/** Short timeouts: a statement that hangs blocks those behind it. */
export function shortStatements(config: pg.ClientConfig): pg.ClientConfig {
  return { ...config, statement_timeout: limits.shortStatement, query_timeout: limits.shortAnswer };
}
