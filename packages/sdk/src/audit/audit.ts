export { checkChain } from "./audit-chain.ts";
export type { ChainProblem, ChainReport, Follow, RecordedGap } from "./audit-chain.ts";
export { auditNames } from "./audit-names.ts";
