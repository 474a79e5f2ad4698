import { auditActions, type AuditAction } from "@coffer/contract";
import { z } from "zod";

export const auditSchemaName = "coffer.audit/1";

/**
 * A string that every store can hold and every implementation hashes alike: at most `longest`
 * UTF-16 code units, no unpaired surrogates (RFC 8785 has no form for them) and no NUL. Other text is
 * cut off or replaced by U+FFFD: an odd user agent must not lose the record.
 */
const text = (longest = 1024) =>
  z.string().overwrite((value) => value.slice(0, longest).toWellFormed().replaceAll("\0", "\ufffd"));
const id = z.string().min(1).max(128);
const value = z.union([text(), z.number(), z.boolean(), z.null(), z.array(text())]);

const actor = {
  type: z.enum(["user", "client", "system", "anonymous"]),
  id: id.nullable(),
  session_id: id.optional(),
  application_id: id.optional(),
};
const target = { type: text(), id: id.nullable(), parent_id: id.optional() };
const source = { ip: text().nullable(), user_agent: text(256).nullable() };
const request = { id, method: text().nullable(), route: text().nullable(), status: z.int().nullable() };
const common = {
  schema: z.literal(auditSchemaName),
  id: z.uuid(),
  time: z.iso.datetime(),
  org_id: id.nullable(),
  outcome: z.enum(["success", "denied", "failure"]),
  reason: text(200).optional(),
  changes: z.record(z.string(), value).optional(),
  count: z.int().nonnegative().optional(),
};

/**
 * The part of a record that a service writes: without its place in the chain.
 * Strict, so that an undeclared field cannot reach an audit log.
 *
 * `org_id` null marks an action of a person without an organization; it is chained under the
 * actor's id. `changes` is metadata only: never ciphertext, keys, tokens, headers or titles.
 */
export const auditDraft = z.strictObject({
  ...common,
  action: z.enum(auditActions),
  actor: z.strictObject(actor),
  target: z.strictObject(target),
  source: z.strictObject(source),
  request: z.strictObject(request),
});
export type AuditDraft = z.infer<typeof auditDraft>;

const anyAction = z.custom<AuditAction>(
  (name) => typeof name === "string" && name.length <= 64 && /^[a-z_]+(\.[a-z_]+)+$/.test(name),
);

/**
 * A draft as it is received. During a rolling upgrade it may come from a newer service: fields that
 * this version does not know are dropped, an unknown action is stored.
 */
export const receivedAuditDraft: z.ZodType<AuditDraft> = z.object({
  ...common,
  action: anyAction,
  actor: z.object(actor),
  target: z.object(target),
  source: z.object(source),
  request: z.object(request),
});

const hash = z.string().regex(/^[0-9a-f]{64}$/);

/** A record in its place in the chain of its organization. */
export const auditRecord = auditDraft.extend({ seq: z.int().positive(), prev_hash: hash, hash });
export type AuditRecord = z.infer<typeof auditRecord>;
