import { auditActions, type AuditAction } from "@coffer/contract";

/**
 * The services that send audit records, in the order of docs/audit.md. siem-forwarder appends its
 * own in its process.
 */
export const auditRecorders = ["auth-sm", "vaults", "billing-webhook", "scanner"] as const;

export type AuditRecorder = (typeof auditRecorders)[number];

const history = ["history.adopted", "history.joined", "history.trusted"] as const;

/** The actions that each service may record, enforced by siem-forwarder. */
export const recordedActions: Readonly<Record<AuditRecorder, readonly AuditAction[]>> = {
  "auth-sm": [
    "user.registered",
    "user.login.succeeded",
    "user.login.failed",
    "user.logout",
    "user.password.changed",
    "user.totp.enabled",
    "user.totp.disabled",
    "user.travel_mode.enabled",
    "user.travel_mode.disabled",
    "session.revoked",
    "session.reuse_detected",
    "folder.created",
    "folder.updated",
    "folder.deleted",
    "folder.member.added",
    "folder.member.removed",
    "folder.key.rotated",
    "secret.created",
    "secret.read",
    "secret.listed",
    "secret.searched",
    "secret.updated",
    "secret.deleted",
    "secret.field.read",
    "secret.notation.resolved",
    "client.bootstrapped",
    "client.bootstrap.failed",
    "client.revoked",
    "client.auth.failed",
    "client.access.denied",
    "client.grant.added",
    "client.grant.removed",
    "application.created",
    "application.updated",
    "application.deleted",
    "token.issued",
    "token.revoked",
    "org.member.invited",
    "org.member.accepted",
    "org.member.role.changed",
    "org.member.removed",
    ...history,
    "history.cut",
  ],
  vaults: [
    "vault.created",
    "vault.updated",
    "vault.deleted",
    "vault.member.added",
    "vault.member.removed",
    "vault.listed",
    "vault.key.rotated",
    "record.created",
    "record.read",
    "record.listed",
    "record.updated",
    "record.deleted",
    "record.imported",
    // Drafted by auth-sm, which checks the proof; committed by vaults, which owns the flag.
    "user.travel_mode.enabled",
    "user.travel_mode.disabled",
    ...history,
  ],
  "billing-webhook": [
    "billing.subscription.created",
    "billing.subscription.updated",
    "billing.subscription.cancelled",
    "billing.invoice.paid",
    "billing.invoice.failed",
  ],
  scanner: ["scanner.scanned"],
};

const known: ReadonlySet<string> = new Set(auditActions);
const firstWord = (action: string): string => action.split(".", 1)[0] ?? "";

/**
 * Whether the service may record the action. An action that this version does not know comes from a
 * newer version of the service: it is allowed when the list of the service has an action with the
 * same first word.
 */
export function mayRecord(service: AuditRecorder, action: string): boolean {
  const allowed: readonly string[] = recordedActions[service];
  if (known.has(action)) return allowed.includes(action);
  return allowed.some((each) => firstWord(each) === firstWord(action));
}
