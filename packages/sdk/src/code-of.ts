/**
 * The code of an error of Coffer; undefined for an error without one. A file of its own, without imports:
 * the console loads parts that use it later, and they would move the class of the error into a part of its own.
 */
export function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : undefined;
}
