import { connections } from "./rows/connections.ts";
import { fullSync } from "./rows/full-sync.ts";
import { importRecords } from "./rows/import.ts";
import { incrementalSync } from "./rows/incremental-sync.ts";
import { push } from "./rows/push.ts";
import { recordWrite } from "./rows/record-write.ts";
import type { VaultRow } from "./vault-row.ts";

/** The benchmarks of vaults and live sync in their order: those that write much come last. */
export const vaultsRows: readonly VaultRow[] = [
  fullSync,
  incrementalSync,
  push,
  connections,
  importRecords,
  recordWrite,
];
