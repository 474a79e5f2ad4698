import pg from "pg";
import t from "tap";
import { testPostgres, testRedis } from "@coffer/testkit";

await t.test("each database is fresh", async (t) => {
  const databases = await Promise.all([testPostgres(t), testPostgres(t)]);
  for (const { url } of databases) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query("CREATE TABLE once (id int)");
    await client.end();
  }
});
await t.test("redis", async (t) => {
  const redis = await testRedis(t);
  await redis.stop();
  await redis.start();
  await redis.kill();
  await redis.start();
});
