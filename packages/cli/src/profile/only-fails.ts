import type { CofferError } from "@coffer/sdk";

/** A promise that never resolves. */
export function onlyFails(): { promise: Promise<never>; reject(error: CofferError): void } {
  let reject: (error: CofferError) => void = () => undefined;
  const promise = new Promise<never>((_resolve, fail) => {
    reject = fail;
  });
  promise.catch(() => undefined);
  return { promise, reject };
}
