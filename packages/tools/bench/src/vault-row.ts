import type { BenchOf, RowOf } from "./row.ts";
import type { SeededVaults } from "./seed-vaults.ts";

/** A row of vaults and live sync. */
export type VaultBench = BenchOf<SeededVaults>;
export type VaultRow = RowOf<SeededVaults>;
