import { ServiceError } from "@coffer/errors";
import { limits } from "./connection.ts";
import { isUnavailable, QueryFailure, waitedInVain } from "./failure.ts";
import { createGrouped } from "./grouped.ts";
import type { Prepared } from "./prepared.ts";

/** Runs a statement for one row of values; null when it has no row for them. Throws translated errors. */
export type PreparedEach<Row> = (values: readonly unknown[]) => Promise<Row | null>;

/** Few enough that the last of them does not wait long for the first. */
const mostTogether = 64;
/** Of text: what is more would take long enough that those who come with it notice. */
const mostCharacters = 2 * 1024 * 1024;
/** As many as wait on a connection at most: by then they are not answered in time any more. */
const mostWaiting = 2_000;

/**
 * SQL: the values of those who ask, a row for each, with its place from 1 on as `n`. They are the statement's parameters,
 * in the order of `columns`.
 * @param columns names and types, none of them an array: `unnest` would take those apart too
 */
export function eachOf(columns: Readonly<Record<string, string>>): string {
  const arrays = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`);
  return `unnest(${arrays.join(", ")}) WITH ORDINALITY AS asked (${Object.keys(columns).join(", ")}, n)`;
}

/**
 * Makes of a statement that answers many at once one that is asked by each: those that are asked in one turn of the event
 * loop, or wait for a connection, share a run of it. A run costs the client, the server and the kernel almost as much
 * for one as for ten.
 */
export function prepareEach<Row>(statement: Prepared<Row & { n: number }>, atOnce: number): PreparedEach<Row> {
  type Answer = Row | null;
  const askAll = async (asked: (readonly unknown[])[]): Promise<Answer[]> => {
    const [first = []] = asked;
    const answers = new Array<Answer>(asked.length).fill(null);
    for (const row of await statement(first.map((_, column) => asked.map((values) => values[column]))))
      answers[row.n - 1] = row;
    return answers;
  };
  const askAlone = async (values: readonly unknown[]): Promise<Answer> => (await askAll([values]))[0] ?? null;
  const ask = createGrouped<readonly unknown[], Answer | Promise<Answer>>({
    run: async (asked) => {
      try {
        return await askAll(asked);
      } catch (error) {
        // A value that Postgres refuses, or a row that somebody else keeps, is the business of whoever brought it, and
        // nothing was done. After any other error it may have been.
        if (asked.length > 1 && (error instanceof QueryFailure || waitedInVain(error))) return asked.map(askAlone);
        throw error;
      }
    },
    most: mostTogether,
    atOnce,
    // Behind a statement that hangs nobody waits for longer than it.
    concernsAll: (error) => isUnavailable(error) && !waitedInVain(error),
    weight: { of: charactersOf, most: mostCharacters },
    patience: { most: mostWaiting, milliseconds: limits.acquire, reason: tooLate },
  });
  return async (values) => ask(values);
}

function charactersOf(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 0), 0);
}

function tooLate(): ServiceError {
  return new ServiceError("unavailable", "the database has too much to do; try again", { retryAfterSeconds: 1 });
}
