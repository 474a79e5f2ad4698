export type { TestScope, TestServer } from "./scope.ts";
export { makeTestDirectory, removeTestDirectory, testDirectory, testRootVariable } from "./test-directory.ts";
export { sharedPostgresVariable, testPostgres } from "./test-postgres.ts";
export type { TestDatabase } from "./test-postgres.ts";
export { testNats } from "./test-nats.ts";
export type { TestNats, TestNatsOptions } from "./test-nats.ts";
export { testRedis } from "./test-redis.ts";
export { until } from "./until.ts";
