import type { TestScope } from "@coffer/testkit";
import { type Load, startLoad } from "../../../cluster/test/load.ts";
import { startRecordLoad } from "../faults/record-load.ts";
import type { Replicas } from "./replicas.ts";

/** Everything that people, machines and devices do, on an installation with replicas. */
export interface WholeLoad extends Pick<Load, "cli"> {
  /** Waits until each worker has more acknowledged requests, and changes are pushed to every device. */
  progress(): Promise<void>;
  /** Ends the load; returns what was lost, recorded twice, or answered wrongly. */
  stop(): Promise<string[]>;
}

export interface WholeLoadOptions {
  /** The present URL of the database of vaults, for its owner or a superuser. */
  databaseUrl: () => string;
}

/** Starts the load of secrets, machines and logins, and that of records and devices. */
export async function startWholeLoad(
  t: TestScope,
  { url }: Pick<Replicas, "url">,
  { databaseUrl }: WholeLoadOptions,
): Promise<WholeLoad> {
  const secrets = await startLoad(t, url, "owner@example.com");
  const records = await startRecordLoad(t, { url, databaseUrl });
  return {
    cli: secrets.cli,
    async progress() {
      await Promise.all([secrets.progress(), records.progress()]);
      await records.pushesFlow();
    },
    async stop() {
      const problems = await secrets.stop();
      const { lost } = await records.stop();
      return [...problems, ...records.violations(), ...lost.map((name) => `record ${name} was lost`)];
    },
  };
}
