import type { EventSubject, RpcSubject, ServiceName } from "@coffer/events";
import type { EventHandler } from "./events.ts";
import type { Handler } from "./reply.ts";

export interface RequestOptions {
  /** How long to wait for the answer. Default 2000. */
  timeoutMilliseconds?: number | undefined;
}

export interface SubscribeOptions {
  /**
   * With a name, each event reaches one of the subscribers that share it; without, every
   * subscriber.
   */
  queue?: string | undefined;
}

/** A service's connection to the bus. While the bus is away, calls fail at once. */
export interface Bus {
  readonly service: ServiceName;
  /** Whether the service can send, and its subscriptions are active. */
  readonly connected: boolean;
  /**
   * Sends a request, without retries. Rejects with the responder's `ServiceError`; `unavailable` if
   * the bus is away, there is no responder or no response in time (the work may have been done);
   * `payload_too_large` above 512 KiB; `internal_error` for a malformed response; `TypeError` for a
   * malformed input, or if this service is not a caller of the subject.
   */
  request<Input, Output>(rpc: RpcSubject<Input, Output>, input: Input, options?: RequestOptions): Promise<Output>;
  /**
   * Handles requests of a subject of this service; each request reaches one of its replicas.
   * Throws `TypeError` for a subject of another service, or a second handler.
   */
  reply<Input, Output>(rpc: RpcSubject<Input, Output>, handler: Handler<Input, Output>): void;
  /**
   * Publishes an event to the present subscribers. Throws `unavailable` while the bus is away,
   * `payload_too_large` above 512 KiB, and `TypeError` for a malformed payload or an event of
   * another service. `flush` confirms its arrival at the server.
   */
  publish<Payload>(event: EventSubject<Payload>, payload: Payload): void;
  /**
   * Calls `handler` for each event. Events that are sent while the bus is away are lost: read the
   * changes in `onConnect`. Throws `TypeError` if this service is not a consumer of the event.
   */
  subscribe<Payload>(event: EventSubject<Payload>, handler: EventHandler<Payload>, options?: SubscribeOptions): void;
  /** Called at each connection, after the subscriptions are active; at once if connected. */
  onConnect(listener: () => unknown): void;
  /** Resolves when the server has every earlier publish. Rejects with `unavailable`. */
  flush(): Promise<void>;
  /** Stops subscriptions, waits for running handlers (at most 5 s), and disconnects. */
  close(): Promise<void>;
}
