import type { AuditAction } from "@coffer/contract";

/** `event.category` and `event.type` of the Elastic Common Schema. */
export interface EcsClass {
  category: "authentication" | "session" | "iam" | "database" | "configuration";
  type: "start" | "end" | "access" | "creation" | "change" | "deletion";
}

const login: EcsClass = { category: "authentication", type: "start" };
const ended: EcsClass = { category: "session", type: "end" };
const member: EcsClass = { category: "iam", type: "change" };
const read: EcsClass = { category: "database", type: "access" };
const created: EcsClass = { category: "database", type: "creation" };
const changed: EcsClass = { category: "database", type: "change" };
const deleted: EcsClass = { category: "database", type: "deletion" };
const setting: EcsClass = { category: "configuration", type: "change" };

/** The class of every action; docs/siem.md has the same table. */
export const ecsClasses: Readonly<Record<AuditAction, EcsClass>> = {
  "user.registered": setting,
  "user.login.succeeded": login,
  "user.login.failed": login,
  "user.logout": ended,
  "user.password.changed": setting,
  "user.totp.enabled": setting,
  "user.totp.disabled": setting,
  "user.travel_mode.enabled": setting,
  "user.travel_mode.disabled": setting,
  "session.revoked": ended,
  "session.reuse_detected": ended,
  "vault.created": created,
  "vault.updated": changed,
  "vault.deleted": deleted,
  "vault.member.added": member,
  "vault.member.removed": member,
  "vault.listed": read,
  "vault.key.rotated": changed,
  "record.created": created,
  "record.read": read,
  "record.listed": read,
  "record.updated": changed,
  "record.deleted": deleted,
  "record.imported": created,
  "folder.created": created,
  "folder.updated": changed,
  "folder.deleted": deleted,
  "folder.member.added": member,
  "folder.member.removed": member,
  "folder.key.rotated": changed,
  "secret.created": created,
  "secret.read": read,
  "secret.listed": read,
  "secret.searched": read,
  "secret.updated": changed,
  "secret.deleted": deleted,
  "secret.field.read": read,
  "secret.notation.resolved": read,
  "client.bootstrapped": member,
  "client.bootstrap.failed": member,
  "client.revoked": member,
  "client.auth.failed": login,
  "client.access.denied": member,
  "client.grant.added": member,
  "client.grant.removed": member,
  "application.created": setting,
  "application.updated": setting,
  "application.deleted": setting,
  "token.issued": setting,
  "token.revoked": setting,
  "org.member.invited": member,
  "org.member.accepted": member,
  "org.member.role.changed": member,
  "org.member.removed": member,
  "history.adopted": setting,
  "history.joined": setting,
  "history.trusted": setting,
  "history.cut": member,
  "siem.webhook.created": setting,
  "siem.webhook.updated": setting,
  "siem.webhook.deleted": setting,
  "siem.webhook.tested": setting,
  "siem.webhook.delivery.failed": setting,
  "audit.gap": setting,
  "billing.subscription.created": setting,
  "billing.subscription.updated": setting,
  "billing.subscription.cancelled": setting,
  "billing.invoice.paid": setting,
  "billing.invoice.failed": setting,
  "scanner.scanned": setting,
};

/** The class of an action. One that only a newer version knows is a setting. */
export function ecsClassOf(action: string): EcsClass {
  return Object.hasOwn(ecsClasses, action) ? ecsClasses[action as AuditAction] : setting; // just looked up
}
