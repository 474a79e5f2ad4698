import type { EventSubject, RpcSubject, ServiceName } from "@coffer/events";
import type { EventHandler } from "./events.ts";
import type { Handler } from "./reply.ts";

export interface RequestOptions {
  /** How long to wait for the answer. Default 2000. */
  timeoutMilliseconds?: number | undefined;
}

export interface SubscribeOptions {
  /** With a name, each event reaches one of the subscribers that share it; without, every subscriber. */
  queue?: string | undefined;
}

/** How one service talks to the others. It may be used from the start: while the bus is away, it says so at once. */
export interface Bus {
  readonly service: ServiceName;
  /** Whether requests and events can be sent now, and whether what was registered is listening. */
  readonly connected: boolean;
  /**
   * Asks the service that answers `rpc`. Never repeated by itself.
   * Rejects with the responder's `ServiceError`; with `unavailable` when the bus is away, nobody answers or the time is
   * over (the responder may have done its work all the same); with `payload_too_large` above 512 KiB; with
   * `internal_error` for an answer of another shape; with `TypeError` when the input has not its shape or this service
   * is no caller of the subject.
   */
  request<Input, Output>(rpc: RpcSubject<Input, Output>, input: Input, options?: RequestOptions): Promise<Output>;
  /**
   * Answers a subject of this service, together with its other replicas (each request reaches one of them).
   * Throws `TypeError` for a subject of another service, or a second handler.
   */
  reply<Input, Output>(rpc: RpcSubject<Input, Output>, handler: Handler<Input, Output>): void;
  /**
   * Sends an event to whoever listens now. Throws `unavailable` while the bus is away, `payload_too_large` above
   * 512 KiB, and `TypeError` for a wrong shape or an event of another service. `flush` says when it has arrived.
   */
  publish<Payload>(event: EventSubject<Payload>, payload: Payload): void;
  /**
   * Calls `handler` for each event from now on. Events sent while the bus is away never come: read what you missed in
   * `onConnect`. Throws `TypeError` when this service is no consumer of the event.
   */
  subscribe<Payload>(event: EventSubject<Payload>, handler: EventHandler<Payload>, options?: SubscribeOptions): void;
  /** Called at each connection, once everything registered listens; at once when connected already. */
  onConnect(listener: () => unknown): void;
  /** Resolves when the server has everything that was published before. Rejects with `unavailable`. */
  flush(): Promise<void>;
  /** Takes no more requests and events, lets the running handlers answer (at most 5 s), and disconnects. */
  close(): Promise<void>;
}
