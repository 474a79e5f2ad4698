/** A broken statement, by its text. */
export interface Mutant {
  name: string;
  from: RegExp;
  to: string;
}

/** The conditions that sync relies on, each removed: the test must notice every one. */
export const mutants: readonly Mutant[] = [
  {
    name: "the tick remembers the end of the snapshot instead of its oldest transaction",
    from: /pg_snapshot_xmin\(pg_current_snapshot\(\)\)/g,
    to: "pg_snapshot_xmax(pg_current_snapshot())",
  },
  {
    name: "changes with the tick's own transaction id are omitted",
    from: />= (\$slonik_\d+::xid8|from_x)/g,
    to: "> $1",
  },
  {
    name: "a vault that was shared since is not sent whole",
    from: /bool_or\(ended_at IS NULL AND began_x >= (\$slonik_\d+::xid8)\)/g,
    to: "(false AND bool_or(began_x >= $1))",
  },
  {
    name: "records of a lost vault are not dropped",
    from: /AND ended_x >= (\$slonik_\d+::xid8)/g,
    to: "AND ended_x >= $1 AND false",
  },
  {
    name: "travel mode hides nothing",
    from: /AND \(v\.safe_for_travel OR p\.travelling IS NOT TRUE\)/g,
    to: "",
  },
  {
    name: "pages that are continued on another connection end without a look at what is newer",
    from: /SELECT FROM entry\s*$/,
    to: "SELECT FROM entry WHERE false",
  },
];

/** Applies a mutant to statements, and remembers whether it matched. */
export function createMutation(mutant: Mutant | undefined): { text(sql: string): string; readonly met: boolean } {
  let met = mutant === undefined;
  return {
    text(sql) {
      if (mutant === undefined) return sql;
      const mutated = sql.replace(mutant.from, mutant.to);
      if (mutated !== sql) met = true;
      return mutated;
    },
    get met() {
      return met;
    },
  };
}
