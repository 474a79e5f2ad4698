/** The codes with which this service closes connections (RFC 6455 §7.4; 4001 is the specification's). */
export const closeCodes = {
  /** Too many bad messages, requests or connections. */
  policy: 1008,
  /** A bug here. */
  failed: 1011,
  /** This replica ends: another serves. */
  restart: 1012,
  /** Come back later: the bus is away, or the client takes nothing. */
  tryAgain: 1013,
  /** The token has expired, or its session was ended. */
  expired: 4001,
} as const;

export type CloseCode = (typeof closeCodes)[keyof typeof closeCodes];

// What ws closes with by itself when a frame is not acceptable, by the code of its error.
const refusals: Readonly<Record<string, number>> = {
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 1009,
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 1008,
  WS_ERR_INVALID_UTF8: 1007,
};

/** The code with which ws has closed a connection because of this error; null when the connection itself broke. */
export function codeOfError(error: Error): number | null {
  const code = "code" in error ? String(error.code) : "";
  return code.startsWith("WS_ERR_") ? (refusals[code] ?? 1002) : null;
}
