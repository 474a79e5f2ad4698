import { Failure } from "../failure.ts";

/** The exit codes of `coffer scan`, which are its own. */
export const scanExitCodes = { clean: 0, findings: 1, usage: 2, incomplete: 3 } as const;

/** The scan could not be done, or not whole. */
export function cannotScan(message: string): Failure {
  return new Failure(scanExitCodes.incomplete, message);
}
