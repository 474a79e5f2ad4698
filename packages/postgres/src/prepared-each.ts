import { isUnavailable, waitedInVain } from "./failure.ts";
import { createGrouped } from "./grouped.ts";
import type { Prepared } from "./prepared.ts";

/** Runs a statement for one row of values; null when it has no row for them. Throws translated errors. */
export type PreparedEach<Row> = (values: readonly unknown[]) => Promise<Row | null>;

/** Few enough that the last of them does not wait long for the first. */
const mostTogether = 64;

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
        if (asked.length === 1 || concernsAll(error)) throw error;
        // A value that Postgres refuses, or a row that somebody else keeps, is the business of whoever brought it.
        return asked.map(askAlone);
      }
    },
    most: mostTogether,
    atOnce,
    // Behind a statement that hangs nobody waits for longer than it.
    concernsAll,
  });
  return async (values) => ask(values);
}

const concernsAll = (error: unknown): boolean => isUnavailable(error) && !waitedInVain(error);
