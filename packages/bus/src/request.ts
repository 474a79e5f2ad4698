import { ServiceError } from "@coffer/errors";
import type { RpcSubject } from "@coffer/events";
import { injectTrace, span } from "@coffer/telemetry";
import { errors, headers, type Msg, type NatsConnection } from "@nats-io/transport-node";
import { checkShape } from "./check-shape.ts";
import { orLost } from "./or-lost.ts";
import { unavailable } from "./unavailable.ts";
import { decodeAnswer, encode } from "./wire.ts";

/**
 * Sends a request and waits for its response. Throws the `ServiceError` of the responder;
 * `unavailable` without a responder, after the timeout or a loss; `payload_too_large` above 512
 * KiB; `internal_error` for a malformed response; `ShapeError` for a malformed input.
 */
export function sendRequest<Input, Output>(
  connection: NatsConnection,
  rpc: RpcSubject<Input, Output>,
  input: Input,
  timeoutMilliseconds: number,
): Promise<Output> {
  const payload = encode(checkShape(`the input of ${rpc.subject}`, rpc.input, input));
  const attributes = { "messaging.system": "nats", "messaging.destination.name": rpc.subject };
  return span(`request ${rpc.subject}`, attributes, "client", async () => {
    const answer = await exchange(connection, rpc, payload, timeoutMilliseconds);
    const value = decodeAnswer(answer.data, rpc.raw);
    try {
      return checkShape(`the answer of ${rpc.subject}`, rpc.received ?? rpc.output, value);
    } catch (cause) {
      throw new ServiceError("internal_error", `${rpc.responder} sent a malformed response`, { cause });
    }
  });
}

type Target = Pick<RpcSubject<unknown, unknown>, "subject" | "responder">;

/** The error names the service that is away; its cause names the subject, for the log. */
async function exchange(
  connection: NatsConnection,
  { subject, responder }: Target,
  payload: Uint8Array,
  timeout: number,
): Promise<Msg> {
  try {
    return await orLost(connection, connection.request(subject, payload, { timeout, ...traceHeaders() }));
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const reason = new Error(reasonOf(error, subject, timeout), { cause: error });
    throw unavailable(`the service ${responder} does not answer: try again`, reason);
  }
}

/** Headers of the active trace; empty without one. */
export function traceHeaders(): { headers?: ReturnType<typeof headers> } {
  const entries = Object.entries(injectTrace({}));
  if (entries.length === 0) return {};
  const carried = headers();
  for (const [name, value] of entries) carried.set(name, String(value));
  return { headers: carried };
}

function reasonOf(error: unknown, subject: string, timeout: number): string {
  if (error instanceof errors.TimeoutError) return `${subject} was not answered within ${timeout} ms`;
  if (error instanceof errors.RequestError && error.isNoResponders()) return `${subject} has no responder`;
  return `${subject} could not be requested`;
}
