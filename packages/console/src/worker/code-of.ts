/**
 * The code of an error of Coffer; undefined for an error without one. A file of its own, without imports:
 * parts of the worker that are loaded later use it, and would move what they import into the first part.
 */
export function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : undefined;
}
