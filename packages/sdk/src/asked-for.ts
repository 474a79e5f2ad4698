import { CofferError } from "./errors.ts";
import type { ApiAnswer } from "./transport.ts";

const uuidShape = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const secretUidShape = /^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/;

/**
 * The thing that an answer shows, when it is the one that was asked for. A service that may answer with another one
 * chooses what the caller reads, and under which key the caller seals what comes next.
 * Throws CofferError `bad_answer` for any other.
 */
export function askedFor<View extends object>(
  { status, body }: ApiAnswer,
  ids: Partial<Record<keyof View & string, string | undefined>>,
): View {
  const shown = (body ?? {}) as Record<string, unknown>;
  for (const [name, id] of Object.entries<string | undefined>(ids))
    if (id !== undefined && shown[name] !== canonical(id))
      throw new CofferError("bad_answer", `the service answered with another thing than ${id}`, { status });
  return body as View; // its ids are right, and the rest is the service's word
}

/** Whether a text is an id of anything but a secret, in either case. */
export function isUuid(text: string): boolean {
  return uuidShape.test(text);
}

/** Whether a text may be the uid of a secret; a title may look like one. */
export function isSecretUid(text: string): boolean {
  return secretUidShape.test(text);
}

/** The service knows UUIDs in lower case, however they are asked for. */
function canonical(id: string): string {
  return isUuid(id) ? id.toLowerCase() : id;
}
