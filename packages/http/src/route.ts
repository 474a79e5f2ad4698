import type { Bucket } from "@coffer/ratelimit";
import type { z } from "zod";
import type { AuditDraft } from "@coffer/events";
import type { AuditResult, RouteAudit } from "./audit.ts";
import { anyone, type Authenticate } from "./caller/authenticate.ts";
import type { RequestContext } from "./request-context.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A validated request, as passed to an operation. */
export interface Call<Caller, Params = unknown, Body = unknown, Query = unknown> {
  readonly caller: Caller;
  readonly params: Params;
  readonly body: Body;
  readonly query: Query;
  readonly request: RequestContext;
  /** The headers that the route names, by lower-case name; without absent ones. */
  readonly headers: Readonly<Record<string, string>>;
  /** The entity tags of `If-None-Match`, unquoted, `W/` removed. `*` for any. */
  readonly held: readonly string[];
  /** The entity tag of `If-Match`, unquoted; undefined without one and for `*`. */
  readonly expected: string | undefined;
}

/** A call of a route with an audit record. */
export interface AuditedCall<Caller, Params = unknown, Body = unknown, Query = unknown> extends Call<
  Caller,
  Params,
  Body,
  Query
> {
  /** Makes the call's audit record, which the operation stores together with its effect. */
  audit(result: AuditResult): AuditDraft;
}

/** A call that is about to be refused. */
export interface RefusedCall<Caller> {
  /** Undefined if the caller was not identified. */
  readonly caller: Caller | undefined;
  /** The path parameters, unchecked. */
  readonly params: Readonly<Record<string, string>>;
  /** Parsed by the route's schemas; undefined if the request was not read. */
  readonly query: unknown;
  readonly body: unknown;
  readonly request: RequestContext;
}

/** An endpoint, made by `route`, which checks the operation against the schemas. */
export interface Route<Deps, Caller = unknown> {
  readonly method: Method;
  /** As Express writes it, `/api/sm/v1/secrets/:uid`. */
  readonly path: string;
  readonly bucket: Bucket;
  readonly caller: Authenticate<Caller, Deps>;
  readonly lazy: boolean;
  readonly params: z.ZodType | undefined;
  readonly query: z.ZodType | undefined;
  readonly body: z.ZodType | "raw" | undefined;
  readonly bodyOptional: boolean;
  readonly headers: readonly string[];
  readonly bodyLimitBytes: number;
  /** Whether a JSON body may come compressed. */
  readonly gzip: boolean;
  readonly tokensPerKibibyte: number;
  readonly permit: ((deps: Deps, call: PermitCall<never, never>) => Promise<unknown>) | undefined;
  readonly status: 200 | 201 | 204;
  readonly audit: RouteAudit | undefined;
  /** Takes a call with the types of the schemas. */
  readonly run: (deps: Deps, call: Call<never>) => Promise<unknown>;
}

/** A request whose body has not been read. */
export interface PermitCall<Caller, Params> {
  readonly caller: Caller;
  readonly params: Params;
  readonly request: RequestContext;
}

type Parsed<Schema> = Schema extends z.ZodType<infer Output> ? Output : Schema extends "raw" ? Buffer : undefined;

/** The call of an operation: only with `audit` in its row can it make the call's record. */
type CallOf<Audit, Caller, Params, Body, Query> = Audit extends RouteAudit
  ? AuditedCall<Caller, Parsed<Params>, Parsed<Body>, Parsed<Query>>
  : Call<Caller, Parsed<Params>, Parsed<Body>, Parsed<Query>>;

/** A row of a service's routes.ts. */
export interface RouteRow<Deps, Caller, Params, Body, Query, Audit> {
  method: Method;
  path: string;
  bucket: Bucket;
  caller: Authenticate<Caller, Deps>;
  /**
   * The operation checks the caller's state itself. `confirm` is called only before a refusal for
   * the request's form, so that a revoked caller always gets 401. Default: `confirm` before the
   * body is read.
   */
  lazy?: boolean;
  /** The schema of the path parameters; a mismatch is 404. */
  params?: Params;
  /** The schema of the query. Without one the query is ignored. */
  query?: Query;
  /** The schema of the JSON body, or `raw` for the bytes. Without one no body is read. */
  body?: Body;
  /** Reads a missing body as `{}`. */
  bodyOptional?: boolean;
  /** Lower-case names of headers for the operation, such as the signature of a raw body. */
  headers?: readonly string[];
  /** Default 1 MiB; 16 KiB for JSON from anonymous callers, who may not compress it either. */
  bodyLimitBytes?: number;
  /** Structural tokens per KiB of JSON where a long list needs more than 50,000 of them. */
  tokensPerKibibyte?: number;
  /**
   * Authorizes before a body that may exceed 64 KiB is read; throws ServiceError. The operation
   * authorizes again: this only spares the cost of large bodies of callers without access.
   */
  permit?: (deps: Deps, call: PermitCall<Caller, Parsed<Params>>) => Promise<unknown>;
  status: 200 | 201 | 204;
  /** The audit record of the calls: refused ones, and those for which the operation makes it. */
  audit?: Audit;
  /**
   * Returns a plain JSON value, `tagged`, `streamed`, `notModified`, or with status 204 nothing.
   */
  run: (deps: Deps, call: CallOf<Audit, Caller, Params, Body, Query>) => Promise<unknown>;
}

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

/** Makes a route, and checks at compile time that the operation takes the types of the schemas. */
export function route<
  Deps,
  Caller,
  Params extends z.ZodType | undefined = undefined,
  Body extends z.ZodType | "raw" | undefined = undefined,
  Query extends z.ZodType | undefined = undefined,
  Audit extends RouteAudit | undefined = undefined,
>(row: RouteRow<Deps, Caller, Params, Body, Query, Audit>): Route<Deps, Caller> {
  const isAnonymous = row.caller === (anyone as unknown);
  return {
    method: row.method,
    path: row.path,
    bucket: row.bucket,
    caller: row.caller,
    lazy: row.lazy ?? false,
    params: row.params,
    query: row.query,
    body: row.body,
    bodyOptional: row.bodyOptional ?? false,
    headers: row.headers ?? [],
    bodyLimitBytes: row.bodyLimitBytes ?? (isAnonymous && row.body !== "raw" ? 16 * kibibyte : mebibyte),
    gzip: !isAnonymous,
    tokensPerKibibyte: row.tokensPerKibibyte ?? 0,
    permit: row.permit, // its call is made by these schemas
    status: row.status,
    audit: row.audit,
    run: row.run as unknown as Route<Deps, Caller>["run"], // the handler makes the call from the schemas of this row
  };
}
