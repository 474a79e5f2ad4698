import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { sourceAddress, type TrustedProxies, unknownAddress } from "@coffer/ratelimit";
import type { RequestContext } from "./request-context.ts";
import { requestIdOf } from "./request-id.ts";

/** The header in which a router proves its identity with a shared secret. */
export const routerSecretHeader = "x-coffer-router";

const longestUserAgent = 256;

interface BeginOptions {
  trustedProxies: TrustedProxies;
  routerSecret?: string | undefined;
  now?: (() => Date) | undefined;
}

/** Makes the function that creates the context of a request. */
export function createBegin({ trustedProxies, routerSecret, now = () => new Date() }: BeginOptions) {
  const secret = routerSecret === undefined ? undefined : Buffer.from(routerSecret);

  return function begin(request: IncomingMessage, route: string): RequestContext {
    const { headers } = request;
    const agent = headers["user-agent"];
    const routed = secret !== undefined && isSecret(secret, headers[routerSecretHeader]);
    return {
      id: requestIdOf(request),
      method: request.method ?? "GET",
      route,
      ip: routed
        ? sourceAddress(textOf(headers["x-forwarded-for"]), undefined, trustedProxies)
        : sourceOf(request, trustedProxies),
      userAgent: agent === undefined ? null : agent.slice(0, longestUserAgent),
      time: microseconds(now()),
    };
  };
}

/** The source address, by the connection and the trusted part of `X-Forwarded-For`. */
export function sourceOf({ headers, socket }: IncomingMessage, trustedProxies: TrustedProxies): string {
  return sourceAddress(socket.remoteAddress, textOf(headers["x-forwarded-for"]), trustedProxies);
}

/** Whether the connection was reset before the request was read; it then has no address. */
export function isGone({ ip }: RequestContext): boolean {
  return ip === unknownAddress;
}

/** Node joins repeated headers with commas; the type also allows arrays. */
function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(",") : header;
}

function isSecret(secret: Buffer, shown: string | string[] | undefined): boolean {
  if (typeof shown !== "string") return false;
  const bytes = Buffer.from(shown);
  return bytes.length === secret.length && timingSafeEqual(bytes, secret);
}

function microseconds(time: Date): string {
  return `${time.toISOString().slice(0, -1)}000Z`;
}
