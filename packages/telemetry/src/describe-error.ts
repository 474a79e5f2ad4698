import { scrub } from "./scrub.ts";

/** An error in the log. */
export interface DescribedError {
  type: string;
  message: string;
  stack?: string;
  cause?: DescribedError | string;
  errors?: (DescribedError | string)[];
  [field: string]: unknown;
}

// Diagnostic fields of errors of Node, Postgres and our own. An allow-list: a driver's error also has
// the values of the failed statement.
const diagnostic = [
  "code",
  "status",
  "errno",
  "syscall",
  "address",
  "port",
  "severity",
  "schema",
  "table",
  "column",
  "constraint",
  "routine",
  "reason",
  "retryAfterSeconds",
] as const;

/** The loggable parts of a thrown value: type, message, stack, diagnostic fields and causes. */
export function describeError(error: unknown, depth = 5): DescribedError | string {
  if (!(error instanceof Error)) return typeof error === "string" ? scrub(error) : `thrown ${typeof error}`;
  const described: DescribedError = { type: error.name, message: scrub(error.message) };
  if (error.stack !== undefined) described.stack = scrub(error.stack);
  const fields = new Map<string, unknown>(Object.entries(error));
  for (const field of diagnostic) {
    const value = fields.get(field);
    if (typeof value === "number" || typeof value === "boolean") described[field] = value;
    if (typeof value === "string") described[field] = scrub(value);
  }
  if (depth > 0) {
    if (error.cause !== undefined) described.cause = describeError(error.cause, depth - 1);
    if (error instanceof AggregateError)
      described.errors = error.errors.slice(0, 10).map((inner) => describeError(inner, depth - 1));
  }
  return described;
}
