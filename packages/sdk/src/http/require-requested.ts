import { CofferError } from "../errors.ts";
import type { ApiAnswer } from "./transport.ts";

const uuidShape = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const secretUidShape = /^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/;

/**
 * The object of a response, if it is the requested one. A service that may return another one
 * chooses what the caller reads and which key the caller seals with next. Throws CofferError
 * `bad_answer` for any other.
 */
export function requireRequested<View extends object>(
  { status, body }: ApiAnswer,
  ids: Partial<Record<keyof View & string, string | undefined>>,
): View {
  const shown = (body ?? {}) as Record<string, unknown>;
  for (const [name, id] of Object.entries<string | undefined>(ids))
    if (id !== undefined && shown[name] !== canonical(id))
      throw new CofferError("bad_answer", `the service answered with another object than ${id}`, { status });
  return body as View; // its ids are right, and the rest is the service's word
}

/** Whether a text has the form of an id other than a secret's. */
export function isUuid(text: string): boolean {
  return uuidShape.test(text);
}

/** Whether a text has the form of a secret's uid. A title may have it too. */
export function isSecretUid(text: string): boolean {
  return secretUidShape.test(text);
}

/** The service returns UUIDs in lower case, whatever the case of the request. */
function canonical(id: string): string {
  return isUuid(id) ? id.toLowerCase() : id;
}
