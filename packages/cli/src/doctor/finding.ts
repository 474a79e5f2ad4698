/** The state of a check: fine, worth a look, or broken. */
export type Status = "ok" | "warn" | "problem";

/** The result of one check, with advice. Neither text contains a secret. */
export interface Finding {
  check: string;
  status: Status;
  message: string;
  /** Absent when there is nothing to do. */
  advice?: string;
}

export function fine(check: string, message: string): Finding {
  return { check, status: "ok", message };
}

/** It works, but an operator should look at it. */
export function warning(check: string, message: string, advice: string): Finding {
  return { check, status: "warn", message, advice };
}

export function problem(check: string, message: string, advice: string): Finding {
  return { check, status: "problem", message, advice };
}
