import type { Interceptor } from "slonik";

/**
 * A row that is not what its statement's schema says: the code and the schema of the database disagree. Names the
 * columns and what is wrong with them, never a value.
 */
export class RowMismatch extends Error {
  constructor(issues: readonly string[]) {
    super(`a row does not have the expected shape: ${issues.join("; ")}`);
    this.name = "RowMismatch";
  }
}

/** Checks every row by the schema of its statement; slonik itself does not. Throws RowMismatch. */
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
    // A schema may turn a column into any value; slonik's type knows only what Postgres can send.
    return result.value as typeof row;
  },
};
