/** A response of the installation with the fields that the stage needs. */
export interface ApiAnswer {
  status: number;
  body: Record<string, unknown>;
}

/** Sends a valid request. Throws Error without a response. */
export async function request(
  url: string,
  method: string,
  path: string,
  { token, body, org }: { token?: string; body?: unknown; org?: string } = {},
): Promise<ApiAnswer> {
  const response = await fetch(url + path, {
    method,
    signal: AbortSignal.timeout(30_000),
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(org === undefined ? {} : { "x-coffer-org": org }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const parsed: unknown = text === "" ? {} : JSON.parse(text);
  return { status: response.status, body: parsed as Record<string, unknown> }; // every body of the interface is an object
}

/** Sends a valid request that must succeed; returns the body. Throws Error with the response. */
export async function demand(
  ...[url, method, path, options]: Parameters<typeof request>
): Promise<Record<string, unknown>> {
  const { status, body } = await request(url, method, path, options);
  if (status >= 300) throw new Error(`${method} ${path} was answered ${status}: ${String(body["message"])}`);
  return body;
}
