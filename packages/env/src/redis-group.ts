interface Access {
  /** Of the user at Redis. */
  username: string | undefined;
  password: string | undefined;
  tls: boolean;
}

interface Node {
  host: string;
  port: number;
}

/** The primary that Sentinels name. */
export interface RedisSentinels extends Access {
  kind: "sentinel";
  sentinels: Node[];
  /** The name of the primary among the Sentinels. */
  name: string;
  sentinelPassword: string | undefined;
}

/** A cluster of shards, by some of its nodes. */
export interface RedisCluster extends Access {
  kind: "cluster";
  nodes: Node[];
}

const defaultPorts = { sentinel: 26379, cluster: 6379 };
const sentinelForm =
  /^(rediss?)-sentinel:\/\/(?:([^:@/]*):([^@/]*)@)?([^@/?]+)\/([\w.-]+)(?:\?sentinel_password=([^&]*))?$/;
const clusterForm = /^(rediss?)-cluster:\/\/(?:([^:@/]*):([^@/]*)@)?([^@/?]+)\/?$/;

/**
 * Parses the address of several servers that are one Redis:
 * `redis-sentinel://user:password@host:port,host:port/name`, with `?sentinel_password=` for
 * Sentinels with a password, or `redis-cluster://user:password@host:port,host:port`. `rediss-` is
 * for TLS. Returns null for a URL of another form.
 */
export function parseRedisGroup(text: string): RedisSentinels | RedisCluster | null {
  const kind = clusterForm.test(text) ? "cluster" : "sentinel";
  const found = (kind === "cluster" ? clusterForm : sentinelForm).exec(text);
  if (found === null) return null;
  const [, scheme, user, secret, hosts = "", name = "", sentinelSecret] = found;
  const nodes = hosts.split(",").map((host) => nodeOf(host.trim(), defaultPorts[kind]));
  const texts = [user, secret, sentinelSecret].map(decode);
  if (nodes.includes(null) || texts.includes(null)) return null;
  const given = nodes.filter((node) => node !== null);
  const [username, password, sentinelPassword] = texts.map((part) => part ?? undefined);
  const access = { username: username === "" ? undefined : username, password, tls: scheme === "rediss" };
  return kind === "cluster"
    ? { kind, nodes: given, ...access }
    : { kind, sentinels: given, name, sentinelPassword, ...access };
}

function nodeOf(host: string, port: number): Node | null {
  const url = URL.parse(`redis://${host}`);
  if (url === null || url.hostname === "") return null;
  return { host: url.hostname.replace(/^\[(.*)\]$/, "$1"), port: url.port === "" ? port : Number(url.port) };
}

/** Null for a wrong percent-encoding. */
function decode(part: string | undefined): string | undefined | null {
  try {
    return part === undefined ? undefined : decodeURIComponent(part);
  } catch {
    return null;
  }
}
