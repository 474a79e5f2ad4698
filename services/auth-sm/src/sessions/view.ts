import type { SessionRow } from "../store/accounts/sessions.ts";

export interface SessionItem extends SessionRow {
  /** Whether it is the session of this request. */
  current: boolean;
}

export function sessionItem(row: SessionRow, currentSessionId: string): SessionItem {
  return { ...row, current: row.id === currentSessionId };
}
