import { version } from "@coffer/sdk/version";

/** An unchanged response, whatever its status. Redirects are not followed. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed JSON; undefined for anything else. */
  json: unknown;
  /** Unix milliseconds, half-way between request and response. */
  at: number;
}

/** There was no response. `code` is the error code of the system or TLS, if there is one. */
export class NoAnswer extends Error {
  readonly code: string | undefined;

  constructor(message: string, code: string | undefined) {
    super(message);
    this.name = "NoAnswer";
    this.code = code;
  }
}

const timeoutMilliseconds = 10_000;
/** More than the metrics of any service have. */
const mostBytes = 8 * 1024 * 1024;

/** One GET without retries. Throws NoAnswer. */
export async function get(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  const began = Date.now();
  try {
    const response = await fetch(url, {
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMilliseconds),
      headers: { "user-agent": `coffer-cli/${version}`, ...headers },
    });
    const text = await textOf(response);
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: parsed(text),
      at: (began + Date.now()) / 2,
    };
  } catch (error) {
    throw error instanceof NoAnswer ? error : noAnswer(error);
  }
}

/** The body. Throws NoAnswer for one without an end, or nearly so. */
async function textOf({ body }: Response): Promise<string> {
  // No list of chunks: each costs hundreds of bytes besides its content.
  let buffer = new Uint8Array(64 * 1024);
  let bytes = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array<ArrayBuffer>>) {
    const end = bytes + chunk.length;
    if (end > mostBytes) throw new NoAnswer(`the answer has more than ${mostBytes / 1024 / 1024} MiB`, undefined);
    if (end > buffer.length) {
      const larger = new Uint8Array(2 * end);
      larger.set(buffer.subarray(0, bytes));
      buffer = larger;
    }
    buffer.set(chunk, bytes);
    bytes = end;
  }
  return new TextDecoder().decode(buffer.subarray(0, bytes));
}

/** The reason of a failed connection, in one sentence. */
export function noAnswer(error: unknown): NoAnswer {
  let reason = error;
  if (error instanceof Error && error.name === "TimeoutError")
    return new NoAnswer(`no answer within ${timeoutMilliseconds / 1000} s`, "ETIMEDOUT");
  while (reason instanceof Error && reason.cause instanceof Error) reason = reason.cause;
  if (reason instanceof AggregateError && reason.errors[0] instanceof Error) reason = reason.errors[0];
  if (!(reason instanceof Error)) return new NoAnswer("the connection failed", undefined);
  const code = "code" in reason && typeof reason.code === "string" ? reason.code : undefined;
  return new NoAnswer(
    code === undefined || reason.message.includes(code) ? reason.message : `${reason.message} (${code})`,
    code,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
