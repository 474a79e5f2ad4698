import { ServiceError } from "@coffer/errors";
import type { RpcSubject } from "@coffer/events";
import { injectTrace, span } from "@coffer/telemetry";
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { errors, headers } from "@nats-io/transport-node";
import { checkShape } from "./check-shape.ts";
import { orLost } from "./or-lost.ts";
import { unavailable } from "./unavailable.ts";
import { decodeAnswer, encode } from "./wire.ts";

/**
 * Sends one request over a connection and waits for its answer.
 * Throws the `ServiceError` of the responder; `unavailable` when nobody responds, the time is over or the connection
 * goes; `payload_too_large` above 512 KiB; `internal_error` for an answer of the wrong shape; and `ShapeError` when
 * the input is.
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
    const answer = await ask(connection, rpc, payload, timeoutMilliseconds);
    const value = decodeAnswer(answer.data, rpc.raw);
    try {
      return checkShape(`the answer of ${rpc.subject}`, rpc.received ?? rpc.output, value);
    } catch (cause) {
      throw new ServiceError("internal_error", `${rpc.responder} gave an answer of another shape`, { cause });
    }
  });
}

type Asked = Pick<RpcSubject<unknown, unknown>, "subject" | "responder">;

/** What clients are told names the service that is away; the subject is in the cause, for the log. */
async function ask(
  connection: NatsConnection,
  { subject, responder }: Asked,
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

/** Headers with the active trace; nothing at all when there is none. */
export function traceHeaders(): { headers?: ReturnType<typeof headers> } {
  const entries = Object.entries(injectTrace({}));
  if (entries.length === 0) return {};
  const carried = headers();
  for (const [name, value] of entries) carried.set(name, String(value));
  return { headers: carried };
}

function reasonOf(error: unknown, subject: string, timeout: number): string {
  if (error instanceof errors.TimeoutError) return `${subject} was not answered within ${timeout} ms`;
  if (error instanceof errors.RequestError && error.isNoResponders()) return `nobody answers ${subject}`;
  return `${subject} could not be asked`;
}
