import { isErrorCode } from "@coffer/contract";
import { CofferError, type CofferErrorCode } from "../errors.ts";

/** More than the service names, which stops at twenty. */
const mostDetails = 50;

/**
 * The error of a failed response: the service's own message, or the status of a foreign response.
 */
export function errorOfAnswer(response: Response, body: unknown): CofferError {
  const { status } = response;
  const said = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  const own = isErrorCode(said["error"]) ? said["error"] : undefined;
  const { message } = said;
  const isSaid = typeof message === "string";
  return new CofferError(own ?? codeOfStatus(status), isSaid ? cut(message, 500) : `the answer was ${status}`, {
    status,
    fromService: isSaid,
    foreign: own === undefined,
    requestId: typeof said["request_id"] === "string" ? said["request_id"] : undefined,
    retryAfterSeconds: retryAfterOf(response.headers),
    details: detailsOf(said["details"]),
  });
}

/** Seconds of `Retry-After`, in either of its forms. */
function retryAfterOf(headers: Headers): number | undefined {
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const seconds = Math.ceil((Date.parse(value) - Date.now()) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.max(seconds, 0);
}

function detailsOf(value: unknown): { field: string; issue: string }[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.slice(0, mostDetails).flatMap((item: unknown) => {
    const { field, issue } = (item ?? {}) as Record<string, unknown>;
    return typeof field === "string" && typeof issue === "string"
      ? [{ field: cut(field, 200), issue: cut(issue, 200) }]
      : [];
  });
}

/** At most so many UTF-16 code units, and then an ellipsis. */
function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}

/** The meaning of a status without a known body, for instance from a proxy. */
function codeOfStatus(status: number): CofferErrorCode {
  if (status === 401) return "invalid_token";
  if (status === 403) return "access_denied";
  if (status === 404) return "not_found";
  if (status === 413) return "payload_too_large";
  if (status === 429) return "rate_limited";
  if (status === 502 || status === 503 || status === 504) return "unavailable";
  return "bad_answer";
}
