import { hasStalePlan } from "./failure.ts";
import type { PipelinedConnection, Statement } from "./pipelined-connection.ts";

/** Runs one named prepared statement with its values, `$1` first. Throws translated errors. */
export type Prepared<Row> = (values: unknown[]) => Promise<Row[]>;

type Connections = readonly [PipelinedConnection, ...PipelinedConnection[]];

/**
 * Gathers the statements of one event loop turn on the least busy connection: they share one socket
 * write. For reads, which do not block each other.
 */
export function sharedWrite(connections: Connections): PipelinedConnection {
  return connections.find(({ gathering }) => gathering) ?? leastBusy(connections);
}

/** The least busy connection. For writes, each of which waits for the commit before it. */
export function leastBusy(connections: Connections): PipelinedConnection {
  let least = connections[0];
  for (const connection of connections) if (connection.pending < least.pending) least = connection;
  return least;
}

/** Prepares `statement`; `choose` picks the connection for each call. */
export function prepare<Row>(
  connections: Connections,
  choose: (connections: Connections) => PipelinedConnection,
  statement: Statement,
): Prepared<Row> {
  return async (values) => {
    const connection = choose(connections);
    const rows = await connection.query(statement, values).catch((error: unknown) => {
      // It did not run, so a retry on the new connection is safe.
      if (hasStalePlan(error)) return connection.query(statement, values);
      throw error;
    });
    // The hot path checks no rows: the caller vouches for `Row`.
    return rows as Row[];
  };
}
