/** An answer of the installation, as the stage needs it. */
export interface ApiAnswer {
  status: number;
  body: Record<string, unknown>;
}

/** One right request. Throws Error when nobody answers. */
export async function ask(
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

/** One right request that has to succeed; returns the body. Throws Error with what was answered. */
export async function demand(
  ...[url, method, path, options]: Parameters<typeof ask>
): Promise<Record<string, unknown>> {
  const { status, body } = await ask(url, method, path, options);
  if (status >= 300) throw new Error(`${method} ${path} was answered ${status}: ${String(body["message"])}`);
  return body;
}
