import { isIP } from "node:net";
import { resolve } from "node:path";
import { parseRedisGroup } from "./redis-group.ts";
import { type Parse, ValueProblem } from "./variable.ts";

function parsedUrl(text: string, schemes: readonly string[]): URL {
  const problem = `must be a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`;
  const url = URL.parse(text);
  if (url === null || !schemes.includes(url.protocol.slice(0, -1)) || !text.includes("://"))
    throw new ValueProblem(problem);
  if (url.host === "") throw new ValueProblem(`${problem} and names a host`);
  return url;
}

/** The URL of a store, unchanged. */
export function storeUrl(...schemes: string[]): Parse<string> {
  return (text) => {
    parsedUrl(text, schemes);
    return text;
  };
}

/** A Redis or Valkey server, the Sentinels that name it, a cluster, or `none`. */
export function redisUrl(text: string): string {
  if (text === "none") return text;
  if (/^rediss?-(sentinel|cluster):/.test(text)) {
    if (parseRedisGroup(text) !== null) return text;
    throw new ValueProblem(
      "must have the form redis-sentinel://user:password@host:port,host:port/name of the primary, or " +
        "redis-cluster://user:password@host:port,host:port",
    );
  }
  parsedUrl(text, ["redis", "rediss"]);
  return text;
}

/**
 * One or more NATS servers of a cluster, separated by commas. Credentials are not part of the
 * address.
 */
export function natsUrl(text: string): string {
  for (const part of text.split(",")) {
    const url = parsedUrl(part.trim(), ["nats", "tls"]);
    if (url.username !== "" || url.password !== "")
      throw new ValueProblem("must not hold credentials: they belong in COFFER_NATS_CREDENTIALS");
  }
  return text;
}

/** A public base address in canonical form: scheme, host, path prefix, without a trailing slash. */
export function baseUrl(text: string): string {
  const url = parsedUrl(text, ["http", "https"]);
  if (url.username !== "" || url.password !== "" || /[?#]/.test(text))
    throw new ValueProblem("must have no user, query or fragment");
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** A browser's origin: scheme, host and port, nothing after them. */
export function origin(text: string): string {
  const url = parsedUrl(text, ["http", "https"]);
  if (url.origin !== baseUrl(text)) throw new ValueProblem("must be an origin: scheme, host and port, without a path");
  return url.origin;
}

/** A network as `address/prefix`; an address alone is the network of that one address. */
export function cidr(text: string): string {
  const problem = "must be networks such as 10.0.0.0/8 or fd00::/8";
  const [address = "", prefix, ...rest] = text.split("/");
  const family = address.includes("%") ? 0 : isIP(address);
  if (family === 0 || rest.length > 0) throw new ValueProblem(problem);
  const widest = family === 4 ? 32 : 128;
  if (prefix === undefined) return `${address}/${widest}`;
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > widest) throw new ValueProblem(problem);
  return `${address}/${Number(prefix)}`;
}

/** A name or address to listen on. */
export function listenHost(text: string): string {
  const bare = text.replace(/^\[(.*)\]$/, "$1");
  if (isIP(bare) === 0 && !/^[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?$/.test(bare))
    throw new ValueProblem("must be an address such as 127.0.0.1 or ::, or a host name");
  return bare;
}

/** An absolute path. A relative one is resolved from the working directory. */
export function path(text: string): string {
  if (text.includes("\0")) throw new ValueProblem("must be a path");
  return resolve(text);
}
