import { CofferError } from "@coffer/sdk";
import type { CallFailure } from "../protocol.ts";

/** A refusal of the console itself. */
export class Refusal extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** What the page learns of an error. An unexpected one stays here: its message could quote a value. */
export function failureOf(error: unknown): CallFailure {
  if (error instanceof Refusal) return { code: error.code, message: error.code, retryAfterSeconds: null };
  if (!(error instanceof CofferError)) return { code: "unexpected", message: "unexpected", retryAfterSeconds: null };
  const { code, message, details = [], retryAfterSeconds = null } = error;
  const said = details.length === 0 ? message : details.map(({ field, issue }) => `${field}: ${issue}`).join("; ");
  return { code, message: said, retryAfterSeconds };
}
