/**
 * The result of a promise, or undefined if it rejects or times out. The time starts at the end of
 * this event loop turn, when the gathered commands are sent. A process that was busy handles
 * arrived data before the timeout.
 */
export function within<Value>(promise: Promise<Value>, milliseconds: number): Promise<Value | undefined> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const sent = setImmediate(() => {
      timer = setTimeout(() => setImmediate(() => resolve(undefined)), milliseconds);
    });
    const end = (value: Value | undefined): void => {
      clearImmediate(sent);
      clearTimeout(timer);
      resolve(value);
    };
    promise.then(end, () => end(undefined));
  });
}
