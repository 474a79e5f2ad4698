export { bucketAddress } from "./bucket-address.ts";
export { connectRedis, type RedisClient } from "./connect-redis.ts";
export { type Bucket, createLimiter, type Decision, type Limiter, type LimiterOptions } from "./limiter.ts";
export { createOwnCount, type OwnCount } from "./own-count.ts";
export {
  type AclOptions,
  redisAcl,
  redisAclRules,
  type RedisPermission,
  redisPermission,
  type RedisUser,
  redisUsers,
} from "./permissions.ts";
export { sourceAddress, unknownAddress } from "./source-address.ts";
export { type ClassifiedAddress, parseTrustedProxies, type TrustedProxies } from "./trusted-proxies.ts";
