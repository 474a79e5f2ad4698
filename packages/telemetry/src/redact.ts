import { describeError } from "./describe-error.ts";
import { redacted } from "./scrub.ts";
import { isSecretName } from "./secret-names.ts";

const deepest = 8;

/**
 * A loggable copy of a value: redacts fields with secret names at every depth, describes errors, and
 * counts bytes.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Error) return describeError(value);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "invalid date" : value.toISOString();
  if (depth >= deepest) return "[too deep]";
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  if (value instanceof Set) return [...value].map((item) => redact(item, depth + 1));
  const entries = value instanceof Map ? value.entries() : Object.entries(value);
  return redactFields(entries as Iterable<[unknown, unknown]>, depth);
}

function redactFields(entries: Iterable<[unknown, unknown]>, depth: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [key, value] of entries) {
    const name = String(key);
    copy[name] = hides(name, value) ? redacted : redact(value, depth + 1);
  }
  return copy;
}

const hides = (name: string, value: unknown): boolean =>
  value !== null && value !== undefined && typeof value !== "boolean" && isSecretName(name);

/** `redact` for the fields of one log line. */
export function redactFieldsOf(fields: Record<string, unknown>): Record<string, unknown> {
  return redactFields(Object.entries(fields), 0);
}
