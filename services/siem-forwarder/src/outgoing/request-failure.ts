import { AddressRefused } from "./destination.ts";
import { NameNotResolved } from "./resolve.ts";

/** A request had no answer. The message is for people, and holds nothing that the other side has sent. */
export class RequestFailure extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "RequestFailure";
  }
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the endpoint refuses connections",
  ECONNRESET: "the endpoint closed the connection without an answer",
  EPIPE: "the endpoint closed the connection without an answer",
  EHOSTUNREACH: "the endpoint cannot be reached",
  ENETUNREACH: "the endpoint cannot be reached",
  ETIMEDOUT: "the endpoint did not answer in time",
};

const certificateCode = /^(?:CERT_|DEPTH_ZERO_|ERR_TLS_|ERR_SSL_|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/;

/** Says in a sentence why a request had no answer. */
export function failureOf(error: unknown, { timedOut }: { timedOut: boolean }): RequestFailure {
  if (error instanceof RequestFailure) return error;
  if (timedOut) return new RequestFailure("the endpoint did not answer in time", error);
  if (error instanceof NameNotResolved) return new RequestFailure("the name of the endpoint does not resolve", error);
  if (error instanceof AddressRefused)
    return new RequestFailure("the endpoint has a private or reserved address, which is not allowed", error);
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code !== "string") return new RequestFailure("the endpoint gave no answer", error);
  if (certificateCode.test(code))
    return new RequestFailure(`the TLS connection to the endpoint failed: ${code}`, error);
  return new RequestFailure(reasons[code] ?? `the endpoint gave no answer: ${code}`, error);
}
