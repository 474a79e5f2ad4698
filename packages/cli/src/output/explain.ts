import { CofferError } from "@coffer/sdk/errors";

/** The option or argument of each field name in the service's errors. */
const options: ReadonlyMap<string, string> = new Map([
  ["email", "--email"],
  ["otp", "the code of the second factor"],
  ["org_name", "--org"],
  ["expires_at", "--expires"],
  ["client_expires_at", "--client-expires"],
  ["allowed_cidrs", "--cidr"],
  ["actor_id", "--actor"],
  ["action", "--action"],
  ["from", "--from"],
  ["to", "--to"],
  ["encrypted_data", "the record, when it is sealed"],
  ["encrypted_payload", "the secret, when it is sealed"],
]);

/** Lines for a person about anything that a command can throw; the first says what is wrong. */
export function explain(error: unknown): string[] {
  if (!(error instanceof Error)) return ["something failed that should not have"];
  if (!(error instanceof CofferError)) return [error.message];
  const { code, details = [], retryAfterSeconds = 60, requestId, status = 0 } = error;
  if (code === "rate_limited")
    return [`${error.message.replace(/:? wait as Retry-After says$/, "")}: try again in ${retryAfterSeconds} s`];
  if (code === "payload_too_large" && details.length === 0) return ["that is more than the service takes at once"];
  // The service's message only says that these fields are wrong.
  if (details.length > 0) return details.map(({ field, issue }) => `${written(field)}: ${issue}`);
  const message = error.fromService ? `the service says: ${error.message}` : error.message;
  return [message, ...(requestId !== undefined && status >= 500 ? [`request ${requestId}`] : [])];
}

function written(field: string): string {
  return options.get(field.split(".", 1)[0] ?? field) ?? field;
}
