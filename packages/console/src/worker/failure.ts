import { CofferError } from "@coffer/sdk";
import type { CallFailure } from "../protocol/calls.ts";

/** A refusal of the console itself. */
export class Refusal extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** An error as the page receives it. The message of an unexpected one is not sent: it could quote a value. */
export function failureOf(error: unknown): CallFailure {
  if (error instanceof Refusal) return { code: error.code, message: error.code, retryAfterSeconds: null };
  if (!(error instanceof CofferError)) return { code: "unexpected", message: "unexpected", retryAfterSeconds: null };
  const { code, message, details = [], retryAfterSeconds = null } = error;
  const said = details.length === 0 ? message : details.map(({ field, issue }) => `${field}: ${issue}`).join("; ");
  return { code, message: said, retryAfterSeconds };
}
