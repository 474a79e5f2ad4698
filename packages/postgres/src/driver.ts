import pg from "pg";
import { BackendTerminatedError, createDriverFactory } from "slonik";
import type { DriverCommand, DriverFactory } from "slonik";
import { boundTransactions } from "./connection.ts";
import { ConnectionFailure, hasStalePlan, isConnectionLost } from "./failure.ts";
import { createStatementNames } from "./statement-names.ts";

/** slonik stops using a connection, and does not try to roll back on it, when it meets this error. */
function asSlonikError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return isConnectionLost(error) || hasStalePlan(error) ? new BackendTerminatedError(error) : error;
}

/**
 * slonik's way to `pg`. Unlike slonik's own driver it asks Postgres nothing when a pool is made, so that a service
 * starts while Postgres is away; takes every connection URI that `pg` takes; and gives up on a connection that does not
 * answer.
 */
export function createDriver(config: pg.ClientConfig): DriverFactory {
  const nameOf = createStatementNames();
  return createDriverFactory(() =>
    Promise.resolve({
      createPoolClient: ({ clientEventEmitter }) => {
        // queryMode keeps several statements out of one string; the types of `pg` do not know it.
        const client = new pg.Client({ ...config, queryMode: "extended" } as pg.ClientConfig);
        client.on("error", (error) => {
          // While slonik does not listen (before the connection is its own, after it gave it up), an error event would
          // end the process. The connection's next use meets the error again.
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
