import { ServiceError } from "@coffer/errors";
import { isUniqueViolation } from "./failure.ts";

/**
 * Maps unique violations of a write to ServiceError `conflict`.
 * @param taken the message by constraint
 */
export async function orConflict<T>(write: Promise<T>, taken: Readonly<Record<string, string>>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    for (const [constraint, message] of Object.entries(taken)) {
      if (isUniqueViolation(error, constraint)) throw new ServiceError("conflict", message);
    }
    throw error;
  }
}
