import { sqlStateOf } from "./failure.ts";
import type { PipelinedConnection } from "./pipelined-connection.ts";

/** Whether the server takes writes, or why not. Reads work in every state. */
export type WriteState = "ok" | "disk full" | "read only" | "input/output error";

const states: Readonly<Record<string, WriteState>> = {
  "53100": "disk full",
  "25006": "read only",
  "58030": "input/output error",
};

/**
 * How long the result of a probe is valid. A failed write of a request counts as long, even if the
 * probe succeeds: the probe writes less than a table may need.
 */
const countedMilliseconds = 15_000;

export interface WriteCheck {
  /** Throws ServiceError `unavailable` while Postgres is away. */
  state(): Promise<WriteState>;
  /** Takes notice of an error of any statement. */
  note(error: unknown): void;
}

/**
 * More rows than fit into `memory`: they go through a temporary file on the server's disk. Needs no
 * table.
 */
const probe = {
  name: "coffer_write_probe",
  text: `SELECT current_setting('transaction_read_only') = 'on' AS read_only, count(*) AS rows
    FROM generate_series(1, 20000)`,
};
/** The settings that the probe's connection needs. */
export const probeSettings = { work_mem: "64kB" } as const;

/**
 * `connection` is for the probe alone, so that it waits for no caller. `now` is in milliseconds.
 */
export function createWriteCheck(
  connection: Pick<PipelinedConnection, "query">,
  now: () => number = () => performance.now(),
): WriteCheck {
  let good: number | undefined;
  let bad: { at: number; state: WriteState } | undefined;

  const ask = async (): Promise<WriteState> => {
    const begun = now();
    try {
      const [row] = (await connection.query(probe, [])) as { read_only: boolean }[];
      if (row?.read_only === true) return "read only";
    } catch (error) {
      const state = states[sqlStateOf(error) ?? ""];
      if (state === undefined) throw error;
      return state;
    }
    good = begun;
    return "ok";
  };

  return {
    async state() {
      if (bad !== undefined && now() - bad.at < countedMilliseconds) return bad.state;
      if (good !== undefined && now() - good < countedMilliseconds) return "ok";
      return ask();
    },
    note(error) {
      const state = states[sqlStateOf(error) ?? ""];
      if (state === undefined) return;
      bad = { at: now(), state };
      good = undefined;
    },
  };
}
