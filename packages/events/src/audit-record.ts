import { z } from "zod";
import { auditActions } from "./audit-actions.ts";

export const auditSchemaName = "coffer.audit/1";

const id = z.string().min(1).max(128);
const changes = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.string())]));

/**
 * What a service knows about an action when it happens: the record without its place in the chain. Strict, so that a
 * field that nobody allowed cannot reach an audit log.
 *
 * `org_id` null marks an action of a person without an organization; it is chained under the actor's id.
 * `changes` is metadata only: never ciphertext, keys, tokens, headers or titles.
 */
export const auditDraft = z.strictObject({
  schema: z.literal(auditSchemaName),
  id: z.uuid(),
  time: z.string(),
  org_id: z.string().nullable(),
  action: z.enum(auditActions),
  outcome: z.enum(["success", "denied", "failure"]),
  reason: z.string().max(200).optional(),
  actor: z.strictObject({
    type: z.enum(["user", "client", "system", "anonymous"]),
    id: id.nullable(),
    session_id: id.optional(),
    application_id: id.optional(),
  }),
  target: z.strictObject({ type: z.string(), id: id.nullable(), parent_id: id.optional() }),
  source: z.strictObject({ ip: z.string().nullable(), user_agent: z.string().max(256).nullable() }),
  request: z.strictObject({
    id,
    method: z.string().nullable(),
    route: z.string().nullable(),
    status: z.int().nullable(),
  }),
  changes: changes.optional(),
  count: z.int().nonnegative().optional(),
});
export type AuditDraft = z.infer<typeof auditDraft>;

/** A record in its place in the chain of its organization. */
export const auditRecord = auditDraft.extend({
  seq: z.int().positive(),
  prev_hash: z.string().regex(/^[0-9a-f]{64}$/),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
});
export type AuditRecord = z.infer<typeof auditRecord>;
