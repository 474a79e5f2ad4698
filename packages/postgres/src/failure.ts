import { ServiceError } from "@coffer/errors";

/**
 * A statement that Postgres refused. Safe to log: it omits the parts of the driver's error that
 * quote values (detail, where, parameters).
 */
export class QueryFailure extends Error {
  /** The SQLSTATE, for example `23505`; undefined if no statement reached Postgres. */
  readonly code: string | undefined;
  readonly constraint: string | undefined;
  readonly table: string | undefined;

  constructor(message: string, facts: { code?: string; constraint?: string; table?: string } = {}) {
    super(message);
    this.name = "QueryFailure";
    this.code = facts.code;
    this.constraint = facts.constraint;
    this.table = facts.table;
  }
}

/** A connection failed: name resolution, TLS, timeout. */
export class ConnectionFailure extends Error {
  constructor(cause: unknown) {
    super("the connection could not be made", { cause });
    this.name = "ConnectionFailure";
  }
}

/** The properties of `pg` errors that are used here. */
interface Facts {
  code?: unknown;
  constraint?: unknown;
  table?: unknown;
  message: string;
  cause?: unknown;
}

/** Five characters with a digit, unlike the codes of Node (`EPIPE`). */
const sqlStateForm = /^(?=.*\d)[0-9A-Z]{5}$/;

const undefinedTable = "42P01";

/** Temporary conditions of the server: the statement may succeed later. */
const passing = new Set([
  "25006", // read only: a standby that is not promoted yet
  "25P03", // idle in transaction for too long
  "25P04", // transaction for too long
  "3D000", // the database is being restored
  "40001", // serialization, after its retries
  "40P01", // deadlock, after its retries
  undefinedTable, // the migrations of this version have not run yet
  "55P03", // lock timeout
  "57014", // statement timeout
  "57P01",
  "57P02",
  "57P03", // shutting down, crashed, starting up
  "57P05",
]);
const passingClasses = new Set([
  "08", // connection
  "28", // credentials are being changed
  "53", // connections, disk, memory
  "58", // input and output
]);

const networkCodes = new Set([
  "EAI_AGAIN",
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETUNREACH",
  "ENOENT",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
]);

/** `pg` and slonik report a lost connection by message only. */
const lostConnection =
  /connection terminated|timeout exceeded when trying to connect|not queryable|query read timeout|backend has been terminated|client is (?:pending destroy|destroyed)|pool (?:is being|has been|has) (?:terminated|shut down|ended)|after calling end on the pool|connection ended/i;

/** The error and its causes, outermost first. */
function* chainOf(error: unknown): Generator<Facts> {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    yield at;
    if (at instanceof AggregateError && at.errors[0] instanceof Error) yield at.errors[0];
  }
}

/** The SQLSTATE of an error; undefined if it did not come from Postgres. */
export function sqlStateOf(error: unknown): string | undefined {
  for (const { code } of chainOf(error)) {
    if (typeof code === "string" && sqlStateForm.test(code)) return code;
  }
  return undefined;
}

/** Whether the connection must not be used again. */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state !== undefined) return /^08|^57P0|^25P0[34]/.test(state);
  for (const each of chainOf(error)) {
    const { code, message } = each;
    if (each instanceof ConnectionFailure) return true;
    if ((typeof code === "string" && networkCodes.has(code)) || lostConnection.test(message)) return true;
  }
  return false;
}

/**
 * Whether a prepared statement is unknown, or its table has changed: a new connection prepares it
 * again.
 */
export function hasStalePlan(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state === "26000") return true;
  if (state !== "0A000") return false;
  for (const { message } of chainOf(error)) if (message.includes("cached plan")) return true;
  return false;
}

/** Whether Postgres is away, overloaded, full or not migrated yet, so that a retry may succeed. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof ServiceError) return error.code === "unavailable";
  const state = sqlStateOf(error);
  if (state !== undefined) return passing.has(state) || passingClasses.has(state.slice(0, 2)) || hasStalePlan(error);
  return isConnectionLost(error);
}

/** Whether this statement alone timed out, by its duration or by a lock. */
export function isHeldUp(error: unknown): boolean {
  return ["40P01", "55P03", "57014"].includes(sqlStateOf(error) ?? "");
}

/** Whether a table is missing: the migrations have not run yet. */
export function isMissingTable(error: unknown): boolean {
  return sqlStateOf(error) === undefinedTable;
}

/** Whether the statement failed by a lock timeout or deadlock. */
export function isLockTimeout(error: unknown): boolean {
  return ["40P01", "55P03"].includes(sqlStateOf(error) ?? "");
}

/** Whether a unique constraint, or the named one, refused the write. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (sqlStateOf(error) !== "23505") return false;
  if (constraint === undefined) return true;
  if (error instanceof QueryFailure) return error.constraint === constraint;
  for (const facts of chainOf(error)) if (facts.constraint === constraint) return true;
  return false;
}

/**
 * Maps an error for callers: `unavailable` (retry in 1 s) if Postgres is away or not migrated, else
 * a QueryFailure without values. Returns ServiceErrors and errors from elsewhere unchanged.
 */
export function translate(error: unknown): unknown {
  if (error instanceof ServiceError || error instanceof QueryFailure) return error;
  if (isUnavailable(error)) {
    const why = isMissingTable(error) ? "is not migrated yet" : "does not answer";
    return new ServiceError("unavailable", `the database ${why}; try again`, {
      retryAfterSeconds: 1,
      cause: withoutValues(error),
    });
  }
  return sqlStateOf(error) === undefined ? error : withoutValues(error);
}

function withoutValues(error: unknown): QueryFailure {
  const state = sqlStateOf(error);
  if (state === undefined) return new QueryFailure(connectionProblem(error));
  for (const { code, message, constraint, table } of chainOf(error)) {
    if (code !== state) continue;
    // Messages of class 22 and of raised exceptions quote values.
    const quotes = state.startsWith("22") || state === "P0001";
    return new QueryFailure(quotes ? `the value was refused (SQLSTATE ${state})` : message, {
      code: state,
      ...(typeof constraint === "string" && { constraint }),
      ...(typeof table === "string" && { table }),
    });
  }
  return new QueryFailure("the query failed");
}

/**
 * The failure and its innermost reason: a code of network, name resolution or TLS, else its
 * message.
 */
function connectionProblem(error: unknown): string {
  const links = [...chainOf(error)];
  const what = links[0]?.message ?? "the query failed";
  const reason = links.findLast(({ code }) => typeof code === "string")?.code ?? links.at(-1)?.message;
  return typeof reason !== "string" || what.includes(reason) ? what : `${what}: ${reason}`;
}
