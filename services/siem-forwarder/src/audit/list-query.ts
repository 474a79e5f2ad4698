import { auditActions, auditOutcomes } from "@coffer/contract";
import { cursorText, pageLimit, timestampText, uuidText } from "@coffer/http";
import { z } from "zod";

/** The query of `GET /api/org/audit`. `from` is inclusive, `to` is not. */
export const auditQuery = z
  .object({
    from: timestampText.optional(),
    to: timestampText.optional(),
    action: z.enum(auditActions).optional(),
    actor_id: z
      .string()
      .regex(/^[\x21-\x7e]{1,128}$/, "not an id")
      .transform((id) => uuidText.safeParse(id).data ?? id)
      .optional(),
    outcome: z.enum(auditOutcomes).optional(),
    /** Only records with a greater `seq`, to continue an export. */
    after: z
      .string()
      .regex(/^\d{1,15}$/, "not a seq")
      .transform(Number)
      .optional(),
    order: z.enum(["asc", "desc"]).default("asc"),
    limit: pageLimit.default(100),
    cursor: cursorText.optional(),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || Date.parse(from) <= Date.parse(to), {
    path: ["to"],
    message: "lies before `from`",
  });
export type AuditQuery = z.infer<typeof auditQuery>;
