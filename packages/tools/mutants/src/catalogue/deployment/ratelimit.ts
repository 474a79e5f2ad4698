import type { Mutant } from "../../mutant.ts";

const source = "packages/ratelimit/src";
const exact = "packages/ratelimit/test/exact.test.ts";
const clock = "packages/ratelimit/test/redis-clock.test.ts";
const outage = "packages/ratelimit/test/outage.test.ts";
const address = "packages/ratelimit/test/source-address.test.ts";
const bucket = "packages/ratelimit/test/bucket-address.test.ts";

/** More than the limit, or the wrong source. */
export const ratelimitMutants: readonly Mutant[] = [
  {
    name: "limit-lets-one-more-through",
    file: `${source}/scripts.ts`,
    find: "if count >= limit then",
    replace: "if count > limit then",
    tests: [exact, clock],
  },
  {
    name: "limit-window-shorter",
    file: `${source}/scripts.ts`,
    find: "while now - oldest >= window do",
    replace: "while now - oldest >= window - 1 do",
    tests: [exact, clock],
  },
  {
    name: "limit-counts-refused-requests",
    file: `${source}/scripts.ts`,
    find: "if count >= limit then\n",
    replace: "if count >= limit then\n  redis.call('LPUSH', key, string.format('%.0f', now))\n",
    tests: [exact, clock],
  },
  {
    name: "limit-without-redis-lets-one-more-through",
    file: `${source}/limiter.ts`,
    find: "if (count >= most) return",
    replace: "if (count > most) return",
    tests: [outage],
  },
  {
    name: "limit-without-redis-not-shared-between-replicas",
    file: `${source}/limiter.ts`,
    find: "Math.max(1, Math.floor(limit / replicas))",
    replace: "Math.max(1, limit)",
    tests: [outage],
  },
  {
    name: "limit-counts-nothing-in-common-without-redis",
    file: "packages/service/src/stateless-base.ts",
    find: "if (stores.redisUrl === null && ownCount === undefined)",
    replace: "if (stores.redisUrl === null && ownCount === null)",
    tests: ["packages/service/test/service-base.test.ts"],
  },
  {
    name: "limit-forgets-what-redis-accepted",
    file: `${source}/limiter.ts`,
    find: "if (reply.accepted) own.log.add(key, now());\n",
    replace: "",
    tests: [outage],
  },
  {
    name: "limit-services-of-one-process-count-apart",
    file: `${source}/limiter.ts`,
    find: "options.ownCount ?? createOwnCount(windowSeconds)",
    replace: "createOwnCount(windowSeconds)",
    tests: [outage],
  },
  {
    name: "limit-deadline-begins-before-the-question-leaves",
    file: `${source}/within.ts`,
    find: "const sent = setImmediate(() => {",
    replace: "const sent = setImmediate(() => undefined);\n    ((now: () => void) => now())(() => {",
    tests: [outage],
  },
  {
    name: "limit-counts-each-ipv6-address-apart",
    file: `${source}/bucket-address.ts`,
    find: "address.parts.slice(0, 4), 0, 0, 0, 0]",
    replace: "address.parts.slice(0, 8)]",
    tests: [bucket],
  },
  {
    name: "limit-counts-half-a-network-of-ipv6",
    file: `${source}/bucket-address.ts`,
    find: "address.parts.slice(0, 4), 0, 0, 0, 0]",
    replace: "address.parts.slice(0, 5), 0, 0, 0]",
    tests: [bucket],
  },
  {
    name: "forwarded-address-trusted-from-any-client",
    file: `${source}/source-address.ts`,
    find: "if (!peer.trusted || forwardedFor === undefined)",
    replace: "if (forwardedFor === undefined)",
    tests: [address],
  },
  {
    name: "forwarded-address-taken-from-the-left",
    file: `${source}/source-address.ts`,
    find: "    if (!entry.trusted) return entry.text;\n",
    replace: "",
    tests: [address],
  },
  {
    name: "sentinels-are-not-asked-for-the-primary",
    file: "packages/ratelimit/src/connect-redis.ts",
    find: "const address = parseRedisGroup(url);",
    replace: 'const address = parseRedisGroup("");',
    tests: ["packages/ratelimit/test/sentinel.test.ts"],
  },
  {
    name: "any-url-of-sentinels-is-taken",
    file: "packages/env/src/parse-address.ts",
    find: "if (parseRedisGroup(text) !== null) return text;",
    replace: 'if (parseRedisGroup(text) !== null || text !== "") return text;',
    tests: ["packages/env/test/values.test.ts"],
  },
  {
    name: "a-cluster-is-taken-for-one-server",
    file: "packages/ratelimit/src/connect-redis.ts",
    find: "return new Cluster(nodes, {",
    replace: "return new Cluster(nodes.slice(0, 0), {",
    tests: ["packages/ratelimit/test/cluster.test.ts"],
  },
];
