/**
 * What a promise resolves to, or undefined when it rejects or takes longer. A process that was busy for longer than that
 * looks at what has arrived meanwhile before it gives up.
 */
export function within<Value>(promise: Promise<Value>, milliseconds: number): Promise<Value | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => setImmediate(() => resolve(undefined)), milliseconds);
    promise.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      () => {
        clearTimeout(timer);
        resolve(undefined);
      },
    );
  });
}
