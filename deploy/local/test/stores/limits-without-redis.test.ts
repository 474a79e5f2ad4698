import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { npmStart } from "../npm-start.ts";

await t.test("in one process the services count together while Redis does not answer", async (t) => {
  const env = { COFFER_PROCESSES: "one", COFFER_LIMIT_USER: "20" };
  const server = npmStart(t, { directory: testDirectory(t), env });
  const { url, store_pids: pids } = await server.ready;
  const redis = pids.redis ?? 0;
  t.teardown(() => process.kill(redis, "SIGCONT"));
  process.kill(redis, "SIGSTOP");

  // Of auth-sm, vaults and siem-forwarder.
  const paths = ["/.well-known/jwks.json", "/api/vaults", "/api/org/audit"];
  const statuses: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    for (const path of paths) {
      const response = await fetch(url + path);
      await response.text();
      statuses.push(response.status);
    }
  }
  process.kill(redis, "SIGCONT");
  t.equal(statuses.filter((status) => status !== 429).length, 20, statuses.join(" "));
  t.same(statuses.slice(20), new Array(10).fill(429));
});
