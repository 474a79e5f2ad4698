import type { z } from "zod";
import { type ServiceName, serviceNames } from "./services.ts";

/** A request subject: responder, permitted callers and both schemas. */
export interface RpcSubject<Input, Output> {
  readonly kind: "rpc";
  readonly subject: `coffer.rpc.${string}`;
  readonly responder: ServiceName;
  readonly callers: readonly ServiceName[];
  readonly input: z.ZodType<Input>;
  readonly output: z.ZodType<Output>;
  /** How callers parse the response of a newer responder. Default: `output`. */
  readonly received?: z.ZodType<Output>;
  /** Joins several inputs into one request. Without it each is its own request. */
  merge?(inputs: readonly Input[]): Input;
  /** The output field that is sent as raw bytes after the JSON, to be forwarded unparsed. */
  readonly raw?: string;
}

/** An event subject. Events are hints; the truth is in the publisher's store. */
export interface EventSubject<Payload> {
  readonly kind: "event";
  readonly subject: `coffer.evt.${string}`;
  readonly publisher: ServiceName;
  readonly consumers: readonly ServiceName[];
  readonly payload: z.ZodType<Payload>;
  /** How consumers parse the event of a newer publisher. Default: `payload`. */
  readonly received?: z.ZodType<Payload>;
}

export const everyServiceBut = (owner: ServiceName): readonly ServiceName[] =>
  serviceNames.filter((name) => name !== owner);

export const only = (...names: ServiceName[]): readonly ServiceName[] => names;
