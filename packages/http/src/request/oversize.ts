import type { z } from "zod";

const params = { too_large: true } as const;

/** The issue of a value over a size limit: 413 instead of 400. `message` never quotes the value. */
export function oversize(message: string): { code: "custom"; message: string; params: typeof params; continue: false } {
  return { code: "custom", message, params, continue: false };
}

/** Whether a zod issue is about a size limit. */
export function isOversize(issue: z.core.$ZodIssue): boolean {
  return issue.code === "custom" && issue.params?.["too_large"] === true;
}
