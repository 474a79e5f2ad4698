/** A request and its response on the wire. */
export interface Exchange {
  readonly method: string;
  /** The request target: path and query. */
  readonly target: string;
  readonly requestHeaders: Headers;
  /** As text; undefined without one or for bytes. */
  readonly requestBody: string | undefined;
  readonly status: number;
  readonly headers: Headers;
  /** As text; empty without one. */
  readonly body: string;
}

/** The path and the query of a request target. */
export function splitTarget(target: string): { path: string; query: URLSearchParams } {
  const mark = target.indexOf("?");
  const path = mark === -1 ? target : target.slice(0, mark);
  return { path, query: new URLSearchParams(mark === -1 ? "" : target.slice(mark + 1)) };
}

/** The parsed JSON; undefined for other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
