import { machines } from "./machine-steps.ts";
import { people } from "./people-steps.ts";
import type { Step } from "./step.ts";
import { shared, vaults } from "./vault-steps.ts";

/** All steps, in the order of a run. */
export const journey: readonly Step[] = [...people, ...vaults, ...shared, ...machines];
