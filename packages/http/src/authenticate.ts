import type { IncomingHttpHeaders } from "node:http";
import { ServiceError } from "@coffer/errors";
import type { RequestContext } from "./request-context.ts";

/** What a request shows of its caller. */
export interface AuthInput {
  /** The `Authorization` header as it came. */
  readonly authorization: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly request: RequestContext;
}

/**
 * A caller whose identity is genuine but whose state (revoked, expired) is still to be asked: `confirm` throws when the
 * caller may not act any more.
 */
export interface Confirmable<Caller> {
  readonly caller: Caller;
  readonly confirm: () => Promise<unknown>;
}

/**
 * Finds out who calls. Throws `ServiceError` (401 about identity, 403 about authorization) when nobody or nobody
 * acceptable does.
 */
export type Authenticate<Caller, Deps = unknown> = (
  input: AuthInput,
  deps: Deps,
) => Promise<Caller | Confirmable<Caller>> | Caller | Confirmable<Caller>;

/** The caller of a route that asks nobody who they are. */
export interface Anonymous {
  readonly kind: "anonymous";
}

const anonymous: Anonymous = { kind: "anonymous" };

/** Lets everybody in: for routes whose body is the proof. */
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

/** Tells a caller that must be confirmed from a plain one. */
export function isConfirmable<Caller>(found: Caller | Confirmable<Caller>): found is Confirmable<Caller> {
  return typeof found === "object" && found !== null && "confirm" in found && typeof found.confirm === "function";
}
