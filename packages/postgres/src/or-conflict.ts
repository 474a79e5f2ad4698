import { ServiceError } from "@coffer/errors";
import { isUniqueViolation } from "./failure.ts";

/**
 * Waits for a write and turns the refusal of a unique constraint into what it means to the caller.
 * @param taken what to say, by the name of the constraint
 * @throws ServiceError `conflict`
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
