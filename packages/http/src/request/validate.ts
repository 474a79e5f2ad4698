import { type ErrorDetail, ServiceError } from "@coffer/errors";
import type { z } from "zod";
import { mostIssues } from "./most-issues.ts";
import { isOversize } from "./oversize.ts";

/**
 * Parses one part of a request. `part` is how the details name the whole of it ("body").
 * @throws ServiceError `payload_too_large` when a text is over its limit in KiB, else
 *   `invalid_request`, with details that never quote a value.
 */
export function validate<Output>(schema: z.ZodType<Output>, value: unknown, part: string): Output {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { issues } = result.error;
  const details = issues.slice(0, mostIssues).map((issue) => detailOf(issue, part));
  const oversize = issues.find(isOversize);
  if (oversize !== undefined)
    throw new ServiceError("payload_too_large", `${fieldOf(oversize, part)} is too large`, { details });
  throw new ServiceError("invalid_request", `the ${part} is not valid: see details`, { details });
}

function detailOf(issue: z.core.$ZodIssue, part: string): ErrorDetail {
  return { field: fieldOf(issue, part), issue: textOf(issue) };
}

function textOf(issue: z.core.$ZodIssue): string {
  // zod's message quotes unknown keys, which are client input.
  if (issue.code === "unrecognized_keys") return "unknown field";
  // The schema of the names describes an invalid name.
  if (issue.code === "invalid_key") return `the name ${issue.issues[0]?.message ?? "is not valid"}`;
  return issue.message;
}

// Keys of maps are client input: only names in our format are repeated.
const ours = /^[a-z][a-z0-9_]{0,63}$/;

/** Whether a response may repeat this field or parameter name. */
export function isOurs(name: string): boolean {
  return ours.test(name);
}

function fieldOf(issue: z.core.$ZodIssue, part: string): string {
  if (issue.path.length === 0) return part;
  return issue.path
    .map((step) => (typeof step === "number" ? String(step) : isOurs(String(step)) ? String(step) : "*"))
    .join(".");
}
