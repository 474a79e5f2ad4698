import { CofferError } from "../errors.ts";
import type { LoginView, TokensView } from "../views.ts";

const tokenFields = {
  access_token: "string",
  expires_in: "number",
  refresh_token: "string",
  refresh_expires_in: "number",
} as const;
const loginFields = {
  ...tokenFields,
  session_id: "string",
  user: "object",
  encrypted_user_key: "string",
  public_key: "string",
  encrypted_private_key: "string",
} as const;

/**
 * Validates the response of a refresh: a foreign page with status 200 must not replace the stored
 * tokens. Throws CofferError `bad_answer` with the missing field.
 */
export function tokensAnswer(answer: unknown): TokensView {
  requireFields(answer, tokenFields);
  return answer as TokensView; // its fields have just been checked
}

/** Validates the response of a registration or login. Throws like `tokensAnswer`. */
export function loginAnswer(answer: unknown): LoginView {
  requireFields(answer, loginFields);
  requireFields((answer as LoginView).user, { id: "string", email: "string" });
  return answer as LoginView; // its fields have just been checked
}

function requireFields(answer: unknown, fields: Readonly<Record<string, "string" | "number" | "object">>): void {
  const given = (typeof answer === "object" && answer !== null ? answer : {}) as Record<string, unknown>;
  for (const [name, type] of Object.entries(fields)) {
    const value = given[name];
    if (typeof value === type && value !== null && value !== "") continue;
    throw new CofferError("bad_answer", `this is not the service's answer: it has no ${name}`);
  }
}
