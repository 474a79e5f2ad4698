import type { SessionRow } from "../store/sessions.ts";

/** A session as its owner, or who administers its owner, sees it. */
export interface SessionItem extends SessionRow {
  /** Whether it is the session that asks. */
  current: boolean;
}

export function sessionItem(row: SessionRow, askingSessionId: string): SessionItem {
  return { ...row, current: row.id === askingSessionId };
}
