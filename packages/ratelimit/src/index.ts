export { bucketAddress } from "./bucket-address.ts";
export { connectRedis } from "./connect-redis.ts";
export { createLimiter } from "./limiter.ts";
export type { Bucket, Decision, Limiter, LimiterOptions } from "./limiter.ts";
export { createOwnCount } from "./own-count.ts";
export type { OwnCount } from "./own-count.ts";
export { sourceAddress, unknownAddress } from "./source-address.ts";
export { parseTrustedProxies } from "./trusted-proxies.ts";
export type { SeenAddress, TrustedProxies } from "./trusted-proxies.ts";
