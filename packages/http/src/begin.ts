import { randomUUID, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { TrustedProxies } from "@coffer/ratelimit";
import { sourceAddress } from "@coffer/ratelimit";
import type { RequestContext } from "./request-context.ts";

/** The header in which a router in front, started together with the services, proves that it is the one. */
export const routerSecretHeader = "x-coffer-router";

const goodId = /^[A-Za-z0-9._-]{1,128}$/;
const longestUserAgent = 256;

export interface BeginOptions {
  trustedProxies: TrustedProxies;
  routerSecret: string | undefined;
  now: () => Date;
}

/** Makes the function that notes what a request says of itself before anything is decided about it. */
export function createBegin({ trustedProxies, routerSecret, now }: BeginOptions) {
  const secret = routerSecret === undefined ? undefined : Buffer.from(routerSecret);

  return function begin(request: IncomingMessage, route: string): RequestContext {
    const { headers, socket } = request;
    const id = headers["x-request-id"];
    const agent = headers["user-agent"];
    // Node joins repeated lines of this header into one string.
    const forwarded = headers["x-forwarded-for"] as string | undefined;
    const trusted = secret !== undefined && isSecret(secret, headers[routerSecretHeader]);
    return {
      id: typeof id === "string" && goodId.test(id) ? id : randomUUID(),
      method: request.method ?? "GET",
      route,
      ip: sourceAddress(trusted ? forwarded : socket.remoteAddress, trusted ? undefined : forwarded, trustedProxies),
      userAgent: agent === undefined ? null : agent.slice(0, longestUserAgent),
      time: microseconds(now()),
    };
  };
}

function isSecret(secret: Buffer, shown: string | string[] | undefined): boolean {
  if (typeof shown !== "string") return false;
  const bytes = Buffer.from(shown);
  return bytes.length === secret.length && timingSafeEqual(bytes, secret);
}

function microseconds(time: Date): string {
  return `${time.toISOString().slice(0, -1)}000Z`;
}
