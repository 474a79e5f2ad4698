// The parts of a worker's global scope that the compiler's types of a page do not have.

/** The scope of a shared worker. A dedicated one has no `onconnect`. */
export interface WorkerScope {
  onconnect?: ((event: MessageEvent) => void) | null;
  onmessage: ((event: MessageEvent) => void) | null;
  postMessage(message: unknown): void;
}

/** The end of a channel to one page. */
export interface PagePort {
  onmessage: ((event: MessageEvent) => void) | null;
  postMessage(message: unknown): void;
}
