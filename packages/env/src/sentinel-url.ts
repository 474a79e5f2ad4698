/** The primary that Sentinels name. */
export interface SentinelAddress {
  sentinels: { host: string; port: number }[];
  /** The name of the primary among the Sentinels. */
  name: string;
  /** Of the user at Redis. */
  username: string | undefined;
  password: string | undefined;
  sentinelPassword: string | undefined;
  tls: boolean;
}

const defaultPort = 26379;
const form = /^(rediss?)-sentinel:\/\/(?:([^:@/]*):([^@/]*)@)?([^@/?]+)\/([\w.-]+)(?:\?sentinel_password=([^&]*))?$/;

/**
 * Parses `redis-sentinel://user:password@host:port,host:port/name`, with `rediss-sentinel:` for TLS and
 * `?sentinel_password=` for Sentinels with a password. Returns null for a URL of another form.
 */
export function parseSentinelUrl(text: string): SentinelAddress | null {
  const [, scheme, username, password, hosts = "", name = "", sentinelPassword] = form.exec(text) ?? [];
  if (scheme === undefined) return null;
  const sentinels = hosts.split(",").map((host) => URL.parse(`redis://${host.trim()}`));
  if (sentinels.some((url) => url === null || url.hostname === "")) return null;
  const decoded = [username, password, sentinelPassword].map(decode);
  if (decoded.includes(null)) return null;
  const [user, secret, sentinelSecret] = decoded.map((part) => part ?? undefined);
  return {
    sentinels: sentinels.map((url) => ({
      host: (url?.hostname ?? "").replace(/^\[(.*)\]$/, "$1"),
      port: url === null || url.port === "" ? defaultPort : Number(url.port),
    })),
    name,
    username: user === "" ? undefined : user,
    password: secret,
    sentinelPassword: sentinelSecret,
    tls: scheme === "rediss",
  };
}

/** Null for a wrong percent-encoding. */
function decode(part: string | undefined): string | undefined | null {
  try {
    return part === undefined ? undefined : decodeURIComponent(part);
  } catch {
    return null;
  }
}
