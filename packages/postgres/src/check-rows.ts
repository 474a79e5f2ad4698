import type { Interceptor } from "slonik";

/**
 * A row does not match its statement's schema. The message names columns and problems, never a
 * value.
 */
export class RowMismatch extends Error {
  constructor(issues: readonly string[]) {
    super(`a row does not have the expected shape: ${issues.join("; ")}`);
    this.name = "RowMismatch";
  }
}

/**
 * Checks every row against the schema of its statement, which slonik does not. Throws RowMismatch.
 */
export const checkRows: Interceptor = {
  name: "check-rows",
  transformRow: ({ resultParser }, _query, row) => {
    if (resultParser === undefined) return row;
    const result = resultParser["~standard"].validate(row);
    if (result instanceof Promise) throw new TypeError("the schema of a row must not be asynchronous");
    if (result.issues !== undefined) {
      throw new RowMismatch(
        result.issues.map(({ path = [], message }) => {
          const column = path.map((step) => String(typeof step === "object" ? step.key : step)).join(".");
          return `${column}: ${message}`;
        }),
      );
    }
    // A schema may transform a column; slonik's type allows only values of Postgres.
    return result.value as typeof row;
  },
};
