import type { CallFailure, CallName, Calls, FromWorker, ToWorker } from "../protocol/calls.ts";

/** The address of the worker, from the build. */
declare const __WORKER_PATH__: string;

export const workerPath = __WORKER_PATH__;

/** Why a call failed. The message is for a person, where the code is not enough. */
export class CallError extends Error {
  readonly code: string;
  readonly retryAfterSeconds: number | null;

  constructor({ code, message, retryAfterSeconds }: CallFailure) {
    super(message);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export type Call = <Name extends CallName>(
  name: Name,
  ...input: Parameters<Calls[Name]>
) => Promise<ReturnType<Calls[Name]>>;

interface Port {
  onmessage: ((event: MessageEvent<FromWorker>) => void) | null;
  postMessage(message: ToWorker | "closing", moved?: Transferable[]): void;
}

/** Starts or joins the worker. `receive` gets what it sends by itself. */
export function connectWorker(receive: (message: FromWorker) => void): Call {
  const port = openPort();
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let last = 0;
  port.onmessage = ({ data }) => {
    if (data.kind === "answer") waiting.get(data.id)?.resolve(data.value);
    else if (data.kind === "failure") waiting.get(data.id)?.reject(new CallError(data.failure));
    else {
      receive(data);
      return;
    }
    waiting.delete(data.id);
  };
  addEventListener("pagehide", () => port.postMessage("closing"));
  return <Name extends CallName>(name: Name, ...[input]: Parameters<Calls[Name]>) => {
    last += 1;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(last, answer);
    // A secret in a buffer is moved: the page does not keep it.
    const moved = Object.values((input ?? {}) as object).filter((value) => value instanceof ArrayBuffer);
    port.postMessage({ id: last, name, input } as ToWorker, moved); // name and input belong together by the type of Call
    return answer.promise as Promise<ReturnType<Calls[Name]>>; // the worker's table has the same types
  };
}

interface WorkerOptionsAhead extends WorkerOptions {
  /** Lets the worker, and with it the unlocked session, outlive a reload, in browsers that know it. */
  extendedLifetime?: boolean;
}

function openPort(): Port {
  const address = workerAddress();
  const options: WorkerOptionsAhead = { name: "coffer", type: "module", extendedLifetime: true };
  if (!("SharedWorker" in globalThis)) return new Worker(address, { name: "coffer", type: "module" });
  const { port } = new SharedWorker(address, options);
  return port;
}

/** The one address that the Trusted Types policy of the page allows. */
function workerAddress(): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  if (trustedTypes === undefined) return workerPath;
  const policy = trustedTypes.createPolicy("coffer-worker", { createScriptURL: () => workerPath });
  return policy.createScriptURL("") as string; // a TrustedScriptURL, which the compiler's types take for no text
}

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (text: string) => string },
  ): { createScriptURL(text: string): unknown };
}
