/** A promise with its resolve and reject functions. */
export interface Promised {
  promise: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

/** A rejection without a handler is not reported as unhandled. */
export function promised(): Promised {
  let controls: Pick<Promised, "resolve" | "reject"> = { resolve: () => undefined, reject: () => undefined };
  const promise = new Promise<void>((resolve, reject) => {
    controls = { resolve, reject };
  });
  promise.catch(() => undefined);
  return { promise, ...controls };
}
