import pg from "pg";
import { BackendTerminatedError, createDriverFactory, type DriverCommand, type DriverFactory } from "slonik";
import { boundTransactions } from "./connection.ts";
import { ConnectionFailure, hasStalePlan, isConnectionLost } from "./failure.ts";
import { createStatementNames } from "./statement-names.ts";

/** After a BackendTerminatedError slonik drops the connection without a rollback. */
function asSlonikError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return isConnectionLost(error) || hasStalePlan(error) ? new BackendTerminatedError(error) : error;
}

/**
 * A slonik driver over `pg`. Unlike slonik's own driver, it sends no query when a pool is made, so
 * that a service starts without Postgres. It accepts every connection URI of `pg`, and drops a
 * connection that does not respond.
 */
export function createDriver(config: pg.ClientConfig): DriverFactory {
  const nameOf = createStatementNames();
  return createDriverFactory(() =>
    Promise.resolve({
      createPoolClient: ({ clientEventEmitter }) => {
        // queryMode "extended" refuses several statements in one string; missing in the types of
        // `pg`.
        const client = new pg.Client({ ...config, queryMode: "extended" } as pg.ClientConfig);
        client.on("error", (error) => {
          // slonik does not listen before it owns the connection and after it dropped it: an error
          // event would end the process. The next use of the connection fails again.
          if (clientEventEmitter.listenerCount("error") > 0) {
            clientEventEmitter.emit("error", asSlonikError(error) as Error);
          }
        });
        client.on("notice", ({ message }) => {
          if (message !== undefined) clientEventEmitter.emit("notice", { message });
        });
        return Promise.resolve({
          connect: async () => {
            try {
              await client.connect();
              await client.query(boundTransactions);
            } catch (error) {
              throw new ConnectionFailure(error);
            }
          },
          end: () => client.end(),
          query: async (text, values, options) => {
            try {
              const name = options?.name ?? nameOf(text);
              const query = { text, ...(name !== undefined && { name }), ...(values !== undefined && { values }) };
              const result = await client.query<Record<string, unknown>>(query);
              return {
                command: result.command as DriverCommand,
                fields: result.fields.map(({ dataTypeID, name }) => ({ dataTypeId: dataTypeID, name })),
                rowCount: result.rowCount,
                rows: result.rows,
              };
            } catch (error) {
              throw asSlonikError(error);
            }
          },
          stream: () => {
            throw new TypeError("rows are read in pages, not as a stream");
          },
        });
      },
    }),
  );
}
