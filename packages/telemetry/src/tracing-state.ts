let tracing = false;

/** Whether spans are recorded in this process. */
export function isTracing(): boolean {
  return tracing;
}

/** Called by `startTracing` alone. */
export function setTracing(on: boolean): void {
  tracing = on;
}
