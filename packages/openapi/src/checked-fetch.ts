import { DescriptionError, exchangeProblems } from "./check-exchange.ts";
import { loadDescription } from "./description.ts";
import { splitTarget } from "./exchange.ts";

/**
 * `fetch` for tests, which compares request and response with the description.
 * @throws DescriptionError if they do not match it, and the errors of `fetch`
 */
export const checkedFetch: typeof fetch = async (input, init = {}) => {
  if (input instanceof Request) throw new TypeError("checkedFetch takes an address, not a Request");
  const response = await fetch(input, init);
  const url = new URL(input);
  const method = init.method ?? "GET";
  const target = url.pathname + url.search;
  const problems = exchangeProblems(loadDescription(), {
    method,
    target,
    requestHeaders: new Headers(init.headers),
    requestBody: textOf(init.body),
    status: response.status,
    headers: response.headers,
    body: await response.clone().text(),
  });
  if (problems.length > 0) {
    const { path } = splitTarget(target);
    throw new DescriptionError(`${method} ${path}, answered ${response.status},`, problems);
  }
  return response;
};

function textOf(body: RequestInit["body"]): string | undefined {
  if (typeof body === "string") return body;
  return body instanceof Uint8Array ? Buffer.from(body).toString("utf8") : undefined;
}
