/** A promise that somebody else settles. */
export interface Promised {
  promise: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

/** A promise that nobody has to wait for: its rejection is not an unhandled one. */
export function promised(): Promised {
  let settle: Pick<Promised, "resolve" | "reject"> = { resolve: () => undefined, reject: () => undefined };
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  promise.catch(() => undefined);
  return { promise, ...settle };
}
