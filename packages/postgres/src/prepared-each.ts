import { ServiceError } from "@coffer/errors";
import { limits } from "./connection.ts";
import { isUnavailable, QueryFailure, isLockTimeout } from "./failure.ts";
import { createGrouped, type Grouped } from "./grouped.ts";
import type { Prepared } from "./prepared.ts";

/**
 * Runs a batched statement for one row of values; null without a result. Throws translated errors.
 */
export type PreparedEach<Row> = (values: readonly unknown[]) => Promise<Row | null>;

/** Small enough for a short batch. */
const mostTogether = 64;
/** Text of a batch; more would delay the other callers. */
const mostCharacters = 2 * 1024 * 1024;
/** Beyond this, a waiting call would not be answered in time. */
const mostWaiting = 2_000;

/**
 * SQL: a row for each call with its values and its position `n` from 1. The statement's parameters
 * are in the order of `columns`.
 * @param columns names and types; no arrays, which `unnest` would flatten
 */
export function eachOf(columns: Readonly<Record<string, string>>): string {
  const arrays = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`);
  return `unnest(${arrays.join(", ")}) WITH ORDINALITY AS requested (${Object.keys(columns).join(", ")}, n)`;
}

/**
 * Batches calls of a statement: calls of one event loop turn, or that wait for a connection, share
 * a run. A run for one call costs almost as much as for ten.
 */
export function prepareEach<Row>(
  statement: Prepared<Row & { n: number }>,
  atOnce: number,
): PreparedEach<Row> & Pick<Grouped<never, never>, "waiting"> {
  type Result = Row | null;
  const runTogether = async (calls: (readonly unknown[])[]): Promise<Result[]> => {
    const [first = []] = calls;
    const answers = new Array<Result>(calls.length).fill(null);
    for (const row of await statement(first.map((_, column) => calls.map((values) => values[column]))))
      answers[row.n - 1] = row;
    return answers;
  };
  const runAlone = async (values: readonly unknown[]): Promise<Result> => (await runTogether([values]))[0] ?? null;
  const run = createGrouped<readonly unknown[], Result | Promise<Result>>({
    run: async (calls) => {
      try {
        return await runTogether(calls);
      } catch (error) {
        // A refused value or a locked row concerns one call, and nothing was written: retry each
        // alone. After any other error the write may have happened.
        if (calls.length > 1 && (error instanceof QueryFailure || isLockTimeout(error))) return calls.map(runAlone);
        throw error;
      }
    },
    most: mostTogether,
    atOnce,
    // Calls that wait behind a failed statement fail with it.
    concernsAll: (error) => isUnavailable(error) && !isLockTimeout(error),
    weight: { of: charactersOf, most: mostCharacters },
    patience: { most: mostWaiting, milliseconds: limits.acquire, reason: tooLate },
  });
  return Object.assign(async (values: readonly unknown[]) => run(values), { waiting: run.waiting });
}

function charactersOf(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 0), 0);
}

function tooLate(): ServiceError {
  return new ServiceError("unavailable", "the database has too much to do; try again", { retryAfterSeconds: 1 });
}
