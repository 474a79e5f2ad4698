/** How one thing is: as it should be, worth a look, or broken. */
export type Status = "ok" | "warn" | "problem";

/** What was found out about one thing, and what to do about it. Neither text holds a secret. */
export interface Finding {
  check: string;
  status: Status;
  message: string;
  /** What to do; absent when there is nothing to do. */
  advice?: string;
}

/** Nothing is to be done. */
export function fine(check: string, message: string): Finding {
  return { check, status: "ok", message };
}

/** It works, but somebody should look. */
export function warning(check: string, message: string, advice: string): Finding {
  return { check, status: "warn", message, advice };
}

/** It does not work. */
export function problem(check: string, message: string, advice: string): Finding {
  return { check, status: "problem", message, advice };
}
