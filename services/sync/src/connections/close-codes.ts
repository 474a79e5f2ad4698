/** Close codes of this service (RFC 6455 §7.4; 4001 is defined by the specification). */
export const closeCodes = {
  /** Too many bad messages, requests or connections. */
  policy: 1008,
  /** A bug here. */
  failed: 1011,
  /** This replica shuts down. */
  restart: 1012,
  /** Retry later: the bus is away, or the client does not read. */
  tryAgain: 1013,
  /** The token has expired, or its session was ended. */
  expired: 4001,
} as const;

export type CloseCode = (typeof closeCodes)[keyof typeof closeCodes];

// The close codes of ws for an unacceptable frame, by error code.
const refusals: Readonly<Record<string, number>> = {
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 1009,
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 1008,
  WS_ERR_INVALID_UTF8: 1007,
};

/** The close code of ws for this error; null if the connection broke. */
export function codeOfError(error: Error): number | null {
  const code = "code" in error ? String(error.code) : "";
  return code.startsWith("WS_ERR_") ? (refusals[code] ?? 1002) : null;
}
