import type { IncomingHttpHeaders } from "node:http";
import { ServiceError } from "@coffer/errors";
import type { RequestContext } from "../request-context.ts";

/** The credentials of a request. */
export interface AuthInput {
  /** The `Authorization` header. */
  readonly authorization: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly request: RequestContext;
}

/** A caller with a verified identity; `confirm` throws if the caller was revoked or has expired. */
export interface Confirmable<Caller> {
  readonly caller: Caller;
  readonly confirm: () => Promise<unknown>;
}

/**
 * Authenticates the caller. Throws `ServiceError` (401 about identity, 403 about authorization).
 */
export type Authenticate<Caller, Deps = unknown> = (
  input: AuthInput,
  deps: Deps,
) => Promise<Caller | Confirmable<Caller>> | Caller | Confirmable<Caller>;

/** The caller of a route without authentication. */
export interface Anonymous {
  readonly kind: "anonymous";
}

const anonymous: Anonymous = { kind: "anonymous" };

/** No authentication: for routes whose body is the proof. */
export function anyone(): Anonymous {
  return anonymous;
}

/**
 * The token of an `Authorization: Bearer` header.
 * @throws ServiceError `invalid_token` when there is none.
 */
export function bearerToken(authorization: string | undefined): string {
  const token = authorization === undefined ? undefined : /^bearer +([^\s]+)$/i.exec(authorization)?.[1];
  if (token === undefined) throw new ServiceError("invalid_token", "an Authorization: Bearer header is required");
  return token;
}

export function isConfirmable<Caller>(found: Caller | Confirmable<Caller>): found is Confirmable<Caller> {
  return typeof found === "object" && found !== null && "confirm" in found && typeof found.confirm === "function";
}
