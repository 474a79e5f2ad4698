import type { z } from "zod";

/** A payload does not match its subject. The message names fields and issues, never values. */
export class ShapeError extends TypeError {
  readonly details: { field: string; issue: string }[];

  constructor(what: string, error: z.ZodError) {
    const details = error.issues.map(({ path, code }) => ({ field: path.map(String).join("."), issue: code }));
    const first = details[0] ?? { field: "", issue: "unknown" };
    super(`${what} does not match its subject: ${first.issue} at "${first.field}"`);
    this.name = "ShapeError";
    this.details = details.slice(0, 20);
  }
}

/** Parses the value, without unknown fields. Throws `ShapeError`. */
export function checkShape<T>(what: string, schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new ShapeError(what, parsed.error);
  return parsed.data;
}
