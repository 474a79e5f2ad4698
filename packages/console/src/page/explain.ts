import { m } from "../messages/messages.ts";
import { CallError } from "./worker-client.ts";

/**
 * An error as a sentence for a person.
 * @param texts what to say of some codes here
 */
export function explain(error: unknown, texts: Partial<Record<string, string>> = {}): string {
  if (!(error instanceof CallError)) return m.failures.unexpected;
  const { code, retryAfterSeconds, message } = error;
  const text = texts[code];
  if (text !== undefined) return text;
  if (code === "rate_limited") return m.rateLimited(retryAfterSeconds ?? 60);
  if (code === "wrong_password") return m.wrongPassword;
  if (code === "no_code") return m.noCode;
  if (code === "code_needed") return m.codeNeeded;
  return Object.hasOwn(m.failures, code) ? m.failures[code as keyof typeof m.failures] : message; // its own key
}
