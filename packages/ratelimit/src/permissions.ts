import { createHash } from "node:crypto";
import { lostMembershipsKey, revokedSessionsKey, serviceNames } from "@coffer/events";
import type { ServiceName } from "@coffer/events";
import { keyPrefix } from "./store.ts";

/** What one service may do in Redis. The server refuses everything else. */
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

/** A connection asks whether the server is ready before it is used. The server lets each client authenticate. */
const connection = ["info"];

/** The limiter: its scripts, and the commands in them, which the server checks too. */
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

/** What each service does besides the limiter. */
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
  /** Of the user `default`, who may do everything; without one that user is off. */
  ownerPassword?: string | undefined;
  /**
   * The server's major version. Redis 6 does not tell reading from writing: there each key of a user may be read and
   * written with the commands of that user.
   */
  version: number;
}

/**
 * The lines of a configuration file of Redis (6 and newer) or Valkey with these users and no other. They hold hashes of
 * the passwords.
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
