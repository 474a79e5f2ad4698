import type { AuditDraft, AuditRecord } from "@coffer/events";

/** A record as one sentence for people: who did what to what, and how it ended. */
export function sentenceOf({ action, actor, target, outcome, reason }: AuditDraft | AuditRecord): string {
  const by = [actor.type, actor.id].filter((part) => part !== null).join(" ");
  const on = [target.type.replaceAll("_", " "), target.id].filter((part) => part !== null).join(" ");
  return `${action} by ${by} on ${on}: ${outcome}${reason === undefined ? "" : ` (${reason})`}.`;
}
