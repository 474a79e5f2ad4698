import { planNames } from "@coffer/contract";
import { z } from "zod";
import { only, type RpcSubject } from "./subject.ts";

/** The plan of an organization. `version` only grows: the greater one is newer. */
const planReport = z.object({ org_id: z.uuid(), plan: z.enum(planNames), version: z.int().positive() });
export type PlanReport = z.infer<typeof planReport>;

/** `applied` is false when the responder had this version or a newer one already. */
const planReceipt = z.object({ applied: z.boolean() });

/**
 * Reports the plan that billing gives an organization. The reply means that it is stored, with the
 * report for siem-forwarder. The organization need not exist yet.
 */
export const planChanged = {
  kind: "rpc",
  subject: "coffer.rpc.auth-sm.plan-changed",
  responder: "auth-sm",
  callers: only("billing-webhook"),
  input: planReport,
  output: planReceipt,
} satisfies RpcSubject<unknown, unknown>;

/** Passes the report of `planChanged` on to siem-forwarder. The reply means that it is stored. */
export const siemPlanChanged = {
  kind: "rpc",
  subject: "coffer.rpc.siem-forwarder.plan-changed",
  responder: "siem-forwarder",
  callers: only("auth-sm"),
  input: planReport,
  output: planReceipt,
} satisfies RpcSubject<unknown, unknown>;
