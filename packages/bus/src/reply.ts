import { ServiceError } from "@coffer/errors";
import type { RpcSubject } from "@coffer/events";
import { extractTrace, type Logger, span } from "@coffer/telemetry";
import type { Msg } from "@nats-io/transport-node";
import { checkShape } from "./check-shape.ts";
import { decode, encodeError, encodeValue } from "./wire.ts";

export type Handler<Input, Output> = (input: Input) => Promise<Output> | Output;

/**
 * Answers a request. Sends a `ServiceError` of the handler; logs any other error and sends
 * `internal_error` without detail. Returns the code of the reply, `ok` for a result.
 */
export async function answerRequest<Input, Output>(
  log: Logger,
  rpc: RpcSubject<Input, Output>,
  handler: Handler<Input, Output>,
  message: Msg,
): Promise<string> {
  let outcome = "ok";
  let payload: Uint8Array;
  try {
    payload = await handled(rpc, handler, message);
  } catch (error) {
    if (!(error instanceof ServiceError)) log.error({ err: error, subject: rpc.subject }, "a bus request failed");
    const answer =
      error instanceof ServiceError ? error : new ServiceError("internal_error", "the request could not be served");
    outcome = answer.code;
    payload = encodeError(answer);
  }
  try {
    message.respond(payload);
  } catch (error) {
    log.warn({ err: error, subject: rpc.subject }, "a reply could not be sent: the bus is away");
  }
  return outcome;
}

function handled<Input, Output>(
  rpc: RpcSubject<Input, Output>,
  handler: Handler<Input, Output>,
  message: Msg,
): Promise<Uint8Array> {
  const attributes = { "messaging.system": "nats", "messaging.destination.name": rpc.subject };
  return span(
    `reply ${rpc.subject}`,
    attributes,
    "server",
    async () => {
      const output = await handler(inputOf(rpc, message));
      return encodeValue(checkShape(`the output of ${rpc.subject}`, rpc.output, output), rpc.raw);
    },
    extractTrace(carrierOf(message)),
  );
}

function inputOf<Input>(rpc: RpcSubject<Input, unknown>, message: Msg): Input {
  try {
    return checkShape(`the input of ${rpc.subject}`, rpc.input, decode(message.data));
  } catch (cause) {
    throw new ServiceError("invalid_request", `the input does not match ${rpc.subject}`, { cause });
  }
}

/** The headers of a message in the form that `extractTrace` reads. */
export function carrierOf({ headers }: Msg): Record<string, string> {
  const carrier: Record<string, string> = {};
  if (headers !== undefined) for (const name of headers.keys()) carrier[name.toLowerCase()] = headers.get(name);
  return carrier;
}
