/** An answer as a client sees it. */
export interface Answer {
  status: number;
  headers: Headers;
  /** The parsed JSON, or undefined where there is none. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into answers whose shape they are about
  body: any;
}

export interface CallOptions {
  token?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
}

/** One request to a running service. A body that is a string is sent as it is, everything else as JSON. */
export async function call(
  service: { url: string },
  method: string,
  path: string,
  { token, body, headers = {} }: CallOptions = {},
): Promise<Answer> {
  const response = await fetch(service.url + path, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
}
