import { Writable } from "node:stream";
import { createTelemetry } from "@coffer/telemetry";
import { testRedis, until } from "@coffer/testkit";
import t from "tap";
import { connected, startLimiter } from "./limiters.ts";

function capture() {
  let logged = "";
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logged += chunk.toString();
      done();
    },
  });
  const { log } = createTelemetry({ service: "test", destination });
  return { log, count: (text: string) => logged.split(text).length - 1, logged: () => logged };
}

await t.test("a wrong password is named in the log once, without the password", async (t) => {
  const server = await testRedis(t);
  const url = new URL(server.urls.vaults);
  url.password = "wrong-password";
  const { log, count, logged } = capture();
  startLimiter(t, { redis: url.href, log });
  await until("the reason is logged", () => count("WRONGPASS") > 0);
  const another = capture();
  startLimiter(t, { redis: url.href, log: another.log });
  await until("another limiter has tried later", () => another.count("WRONGPASS") > 0);
  t.equal(count("WRONGPASS"), 1);
  t.match(logged(), "Redis cannot be used");
  t.notMatch(logged(), "wrong-password");
});

await t.test("each outage has its own line, with the reason", async (t) => {
  const server = await testRedis(t);
  const { log, count } = capture();
  const limiter = startLimiter(t, { redis: server.url, log });
  for (const outage of [1, 2]) {
    await connected(limiter);
    await server.kill();
    await until("the reason is logged", () => count("ECONNREFUSED") === outage);
    await server.start();
  }
});
