import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { until } from "./until.ts";

/** Longer than an identification of a caller is valid. */
const slowMilliseconds = 500;

/**
 * Sends a request without its body, runs `meanwhile` once the service has identified the caller and
 * waits for the body, and sends the body late.
 * @returns the response with its body as text
 */
export async function sendSlowly(
  url: string,
  { method, token, body }: { method: string; token: string; body: unknown },
  meanwhile: () => Promise<unknown>,
): Promise<{ status: number; body: string }> {
  const bytes = Buffer.from(JSON.stringify(body));
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "content-length": bytes.length,
    expect: "100-continue",
  };
  const sent = request(url, { method, headers, agent: false });
  const answered = once(sent, "response") as Promise<[IncomingMessage]>; // as node:http documents the event
  const continued = once(sent, "continue").then(() => performance.now());
  sent.flushHeaders();
  const from = await Promise.race([continued, answered.then(() => undefined)]);
  if (from !== undefined) {
    await meanwhile();
    await until("the body is slow", () => performance.now() - from > slowMilliseconds);
  }
  sent.end(bytes);
  const [response] = await answered;
  return { status: response.statusCode ?? 0, body: await text(response) };
}
