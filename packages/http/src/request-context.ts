/** What is known of a request before anybody has looked at its caller or its body: what an audit record needs. */
export interface RequestContext {
  /** The caller's `X-Request-Id` when it has the right form, else one made here. */
  readonly id: string;
  readonly method: string;
  /** The matched route with its parameters in braces, `/api/sm/v1/secrets/{uid}`: never a value from the request. */
  readonly route: string;
  /**
   * The source address, canonical: what the limiter counts and an audit record shows. No operation meets a request
   * without one: its caller has reset the connection, and the request ends there.
   */
  readonly ip: string;
  /** At most 256 characters. */
  readonly userAgent: string | null;
  /** When the request came, ISO 8601 UTC with microseconds. */
  readonly time: string;
}
