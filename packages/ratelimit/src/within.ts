/**
 * What a promise resolves to, or undefined when it rejects or takes longer. The time begins when this turn of the event
 * loop has ended, in which the question is only gathered; and a process that was busy for longer than that looks at what
 * has arrived meanwhile before it gives up.
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
