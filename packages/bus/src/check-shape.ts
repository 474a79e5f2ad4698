import type { z } from "zod";

/** A payload that does not have the shape of its subject. The message names fields and issues, never values. */
export class ShapeError extends TypeError {
  readonly details: { field: string; issue: string }[];

  constructor(what: string, error: z.ZodError) {
    const details = error.issues.map(({ path, code }) => ({ field: path.map(String).join("."), issue: code }));
    const first = details[0] ?? { field: "", issue: "unknown" };
    super(`${what} has not the shape of its subject: ${first.issue} at "${first.field}"`);
    this.name = "ShapeError";
    this.details = details.slice(0, 20);
  }
}

/** The value as the schema reads it: fields that the schema does not know are gone. Throws `ShapeError`. */
export function checkShape<T>(what: string, schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new ShapeError(what, parsed.error);
  return parsed.data;
}
