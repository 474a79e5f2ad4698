/** The request data for audit records, known before authentication. */
export interface RequestContext {
  /** The caller's `X-Request-Id` if it is valid, else a new id. */
  readonly id: string;
  readonly method: string;
  /**
   * The matched route with its parameters in braces, `/api/sm/v1/secrets/{uid}`: never a value from
   * the request.
   */
  readonly route: string;
  /**
   * The canonical source address, for the limiter and the audit. Requests without one, whose
   * connection was reset, do not reach an operation.
   */
  readonly ip: string;
  /** At most 256 characters. */
  readonly userAgent: string | null;
  /** The time of the request, ISO 8601 UTC with microseconds. */
  readonly time: string;
}
