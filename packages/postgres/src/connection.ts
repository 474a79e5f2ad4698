import type pg from "pg";
import { parseIntoClientConfig } from "pg-connection-string";
import { parseColumn } from "./columns.ts";

/** How long Postgres and the network may take, in milliseconds. Each bound exists so that nothing waits for ever. */
export const limits = {
  connect: 3_000,
  /** How long a caller waits for a free connection of a pool, or for a statement that others share to begin. */
  acquire: 3_000,
  lock: 5_000,
  statement: 10_000,
  idleInTransaction: 15_000,
  transaction: 30_000,
  /** The same for the single short statements of hot paths. */
  shortStatement: 3_000,
  shortAnswer: 5_000,
  /** How long closing waits for what runs. */
  close: 5_000,
  /** Without an answer for this long the connection is given up: the network was cut and nobody said so. */
  answer: 12_000,
} as const;

const schemaName = /^[a-z_][a-z0-9_]{0,62}$/;
const plainSetting = /^[a-z_.]+=[\w.]*$/;

/**
 * What every connection of a service has in common. `url` is a connection URI; `schema` becomes the search path; `more` are
 * further settings of Postgres, by name.
 * Throws a TypeError for a schema name, or a setting, that would need quoting.
 */
export function connectionConfig(
  url: string,
  schema: string,
  applicationName: string,
  more: Readonly<Record<string, string>> = {},
): pg.ClientConfig {
  if (!schemaName.test(schema)) throw new TypeError(`not a plain schema name: ${JSON.stringify(schema)}`);
  const others = Object.entries(more).map(([name, value]) => `${name}=${value}`);
  const odd = others.find((setting) => !plainSetting.test(setting));
  if (odd !== undefined) throw new TypeError(`not a plain setting: ${JSON.stringify(odd)}`);
  const given = parseIntoClientConfig(url);
  const settings = [
    given.options ?? "",
    `-c search_path=${schema}`,
    "-c TimeZone=UTC",
    "-c DateStyle=ISO",
    "-c IntervalStyle=iso_8601",
    ...others.map((setting) => `-c ${setting}`),
  ];
  return {
    ...given,
    options: settings.join(" ").trim(),
    application_name: applicationName,
    keepAlive: true,
    connectionTimeoutMillis: limits.connect,
    statement_timeout: limits.statement,
    lock_timeout: limits.lock,
    idle_in_transaction_session_timeout: limits.idleInTransaction,
    query_timeout: limits.answer,
    types: { getTypeParser: parseColumn as typeof pg.types.getTypeParser },
  };
}

/**
 * Every statement finds its rows by their keys, however little the planner knows of a table that was empty a minute ago.
 * For connections whose statements all do.
 */
export function byKey(config: pg.ClientConfig): pg.ClientConfig {
  const settings = [
    "-c enable_seqscan=off",
    "-c enable_hashjoin=off",
    "-c enable_mergejoin=off",
    "-c plan_cache_mode=force_generic_plan",
  ];
  return { ...config, options: [config.options ?? "", ...settings].join(" ").trim() };
}

/**
 * Sent first on every connection. Bounds whole transactions on servers that can (17 and later); older ones have the
 * bound on idle ones only.
 */
export const boundTransactions = {
  name: "coffer_bound_transactions",
  text: "select set_config(name, $1, false) from pg_settings where name = 'transaction_timeout'",
  values: [`${limits.transaction}ms`],
};
