import type pg from "pg";
import { parseIntoClientConfig } from "pg-connection-string";
import { parseColumn } from "./columns.ts";

/** Timeouts of Postgres and the network, in milliseconds. */
export const limits = {
  connect: 3_000,
  /** The wait for a free connection, or for a shared batch to begin. */
  acquire: 3_000,
  lock: 5_000,
  statement: 10_000,
  idleInTransaction: 15_000,
  transaction: 30_000,
  /** For the short statements of hot paths. */
  shortStatement: 3_000,
  shortAnswer: 5_000,
  /** How long closing waits for running statements. */
  close: 5_000,
  /** Drops a connection without a response, as after a silent network failure. */
  answer: 12_000,
} as const;

const schemaName = /^[a-z_][a-z0-9_]{0,62}$/;
const plainSetting = /^[a-z_.]+=[\w.]*$/;

/**
 * The configuration of every connection of a service. `schema` becomes the search path; `more` has
 * further Postgres settings. Throws a TypeError for a schema name or setting that would need
 * quoting.
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
 * Forces index access, also while the planner's statistics are stale. For connections whose
 * statements all find rows by key.
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
 * The first statement of a connection: sets the transaction timeout on servers that have it (17 and
 * later).
 */
export const boundTransactions = {
  name: "coffer_bound_transactions",
  text: "select set_config(name, $1, false) from pg_settings where name = 'transaction_timeout'",
  values: [`${limits.transaction}ms`],
};
