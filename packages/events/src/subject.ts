import type { z } from "zod";
import type { ServiceName } from "./services.ts";
import { serviceNames } from "./services.ts";

/** A question that one service answers: subject, who answers, who may ask, and both shapes. */
export interface RpcSubject<Input, Output> {
  readonly kind: "rpc";
  readonly subject: `coffer.rpc.${string}`;
  readonly responder: ServiceName;
  readonly callers: readonly ServiceName[];
  readonly input: z.ZodType<Input>;
  readonly output: z.ZodType<Output>;
  /** How callers read it, when they put up with what only a newer responder says; else as `output`. */
  readonly received?: z.ZodType<Output>;
  /** The field of the output that is bytes: it travels behind the rest, as it is. Whoever passes it on need not read it. */
  readonly raw?: string;
}

/** News that one service publishes: a hint, never the truth, which is in the publisher's store. */
export interface EventSubject<Payload> {
  readonly kind: "event";
  readonly subject: `coffer.evt.${string}`;
  readonly publisher: ServiceName;
  readonly consumers: readonly ServiceName[];
  readonly payload: z.ZodType<Payload>;
  /** How consumers read it, when they put up with what only a newer publisher says; else as `payload`. */
  readonly received?: z.ZodType<Payload>;
}

/** Every service with a reason to talk to `owner`. */
export const everyServiceBut = (owner: ServiceName): readonly ServiceName[] =>
  serviceNames.filter((name) => name !== owner);

/** These services. */
export const only = (...names: ServiceName[]): readonly ServiceName[] => names;
