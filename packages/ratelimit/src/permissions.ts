import { createHash } from "node:crypto";
import { lostMembershipsKey, revokedSessionsKey, type ServiceName, serviceNames } from "@coffer/events";
import { keyPrefix } from "./store.ts";

/** The permissions of a service in Redis; the server refuses everything else. */
export interface RedisPermission {
  /** Commands, with `|` before a subcommand. */
  commands: string[];
  /** Key patterns that it may read and write: the limiter's. */
  readWrite: string[];
  /** Key patterns that it may only read, or only write. */
  read: string[];
  write: string[];
}

export interface RedisUser extends RedisPermission {
  user: string;
  password: string;
}

/** For the ready check of a connection, and to find the node of a key. Authentication needs no permission. */
const connection = ["info", "cluster|info", "cluster|slots"];

/** For the limiter: its scripts and the commands in them, which the server also checks. */
const limiter = [
  "eval",
  "evalsha",
  "script|load",
  "time",
  "get",
  "set",
  "del",
  "lindex",
  "llen",
  "lpush",
  "rpop",
  "pexpire",
];

type Part = Partial<Omit<RedisPermission, "readWrite">>;

const readsRevokedSessions: Part = { commands: ["zrange"], read: [revokedSessionsKey] };

/** The permissions of each service besides the limiter. */
const own: Readonly<Record<ServiceName, Part>> = {
  "auth-sm": {
    commands: ["zadd", "zremrangebyscore", "set"],
    write: [revokedSessionsKey, lostMembershipsKey],
  },
  vaults: { commands: ["zrange", "get"], read: [revokedSessionsKey, lostMembershipsKey] },
  sync: readsRevokedSessions,
  "billing-webhook": {},
  "siem-forwarder": readsRevokedSessions,
  scanner: readsRevokedSessions,
};

/** The commands and keys of a service. */
export function redisPermission(service: ServiceName): RedisPermission {
  const { commands = [], read = [], write = [] } = own[service];
  return {
    commands: [...new Set([...connection, ...limiter, ...commands])],
    readWrite: [`${keyPrefix}*`],
    read,
    write,
  };
}

/** A Redis user per service, named as the service. */
export function redisUsers(passwords: Readonly<Record<ServiceName, string>>): RedisUser[] {
  return serviceNames.map((service) => ({
    user: service,
    password: passwords[service],
    ...redisPermission(service),
  }));
}

export interface AclOptions {
  users: readonly RedisUser[];
  /** The password of the user `default` with all permissions; without it that user is disabled. */
  ownerPassword?: string | undefined;
  /** The server's major version. Redis 6 does not separate read from write permissions of keys. */
  version: number;
}

/**
 * The lines of a Redis (6 and newer) or Valkey configuration with only these users, and password
 * hashes.
 */
export function redisAcl({ users, ownerPassword, version }: AclOptions): string[] {
  const owner = ownerPassword === undefined ? "off" : `on ${passwordHash(ownerPassword)} ~* &* +@all`;
  return [`user default reset ${owner}`, ...users.map((user) => `user ${user.user} ${rulesOf(user, version)}`)];
}

function rulesOf({ password, ...permission }: RedisUser, version: number): string {
  return ["reset on", passwordHash(password), ...redisAclRules(permission, version)].join(" ");
}

/** The keys and commands of a permission as rules of an ACL, for a server of this major version. */
export function redisAclRules({ commands, readWrite, read, write }: RedisPermission, version: number): string[] {
  const keysOf = (mode: "R" | "W", keys: readonly string[]): string[] =>
    keys.map((key) => (version < 7 ? `~${key}` : `%${mode}~${key}`));
  return [
    ...readWrite.map((key) => `~${key}`),
    ...keysOf("R", read),
    ...keysOf("W", write),
    ...commands.map((command) => `+${command}`),
  ];
}

function passwordHash(password: string): string {
  return `#${createHash("sha256").update(password).digest("hex")}`;
}
