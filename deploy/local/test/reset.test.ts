import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { serversIn, startRedis } from "@coffer/stores";
import { testDirectory } from "@coffer/testkit";
import { installationFile, openInstallation } from "../src/installation.ts";
import { resetDataDirectory } from "../src/reset.ts";

await t.test("a reset empties a data directory and ends what an earlier run left running in it", async (t) => {
  const directory = testDirectory(t);
  openInstallation(directory);
  const redis = await startRedis({ directory: join(directory, "redis") });
  await resetDataDirectory(directory, true);
  t.same(readdirSync(directory), []);
  t.same(serversIn(directory), []);
  await redis.stop();
});

await t.test("a folder that is no data directory is left alone", async (t) => {
  const directory = testDirectory(t);
  writeFileSync(join(directory, "thesis.txt"), "");
  await t.rejects(resetDataDirectory(directory, true), {
    message: `${directory} does not look like a data directory of Coffer: nothing was removed`,
  });
  t.ok(existsSync(join(directory, "thesis.txt")));
});

await t.test("without a terminal to ask and without --yes nothing is removed", async (t) => {
  const directory = testDirectory(t);
  openInstallation(directory);
  t.not(process.stdin.isTTY, true, "a test has no terminal");
  await t.rejects(resetDataDirectory(directory, false), { message: /add --yes/ });
  t.ok(existsSync(installationFile(directory)));
});

await t.test("an installation keeps its passwords, for its owner alone", (t) => {
  const directory = testDirectory(t);
  const first = openInstallation(directory);
  t.same(openInstallation(directory), first);
  const passwords = [...Object.values(first.postgres), ...Object.values(first.nats), first.redis];
  t.equal(new Set(passwords).size, 13, "each its own");
  t.end();
});
