import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { serversIn, startRedis } from "@coffer/stores";
import { testDirectory } from "@coffer/testkit";
import { isEmpty, refuseForeign, takeBack } from "../../src/data/data-directory.ts";
import { machineInTheWay } from "../../src/first-minute.ts";
import { installationFile, openInstallation } from "../../src/data/installation.ts";
import { resetDataDirectory } from "../../src/data/reset.ts";

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
    message: `${directory} holds thesis.txt and no installation of Coffer: set COFFER_DATA_DIR to a new or an empty folder`,
  });
  t.ok(existsSync(join(directory, "thesis.txt")));
});

await t.test("a reset removes the files of Coffer, and names the others", async (t) => {
  const directory = testDirectory(t);
  openInstallation(directory);
  for (const name of ["postgres", "log", "photos"]) mkdirSync(join(directory, name));
  writeFileSync(join(directory, "photos/a"), "");
  t.same(await resetDataDirectory(directory, true), ["photos"]);
  t.same(readdirSync(directory), ["photos"]);
  t.ok(existsSync(join(directory, "photos/a")));
});

await t.test("a folder that is in use for something else is refused before anything is made in it", (t) => {
  const directory = testDirectory(t);
  t.doesNotThrow(() => refuseForeign(join(directory, "new")));
  mkdirSync(join(directory, "run"));
  mkdirSync(join(directory, "lost+found"));
  writeFileSync(join(directory, "start.log"), "");
  t.doesNotThrow(() => refuseForeign(directory), "files of a mount, an output or a lock");
  mkdirSync(join(directory, "photos"));
  t.throws(() => refuseForeign(directory), { name: "StartupError", message: /holds photos and no installation/ });
  openInstallation(directory);
  t.doesNotThrow(() => refuseForeign(directory), "an installation that others put something into");
  t.end();
});

await t.test("a failed installation is removed, unless a store needs its password", (t) => {
  const directory = testDirectory(t);
  const folder = join(directory, "new");
  t.ok(isEmpty(folder));
  openInstallation(folder);
  mkdirSync(join(folder, "run"));
  t.notOk(isEmpty(folder));
  takeBack(folder)();
  t.same(readdirSync(folder), []);

  openInstallation(folder);
  mkdirSync(join(folder, "run"));
  writeFileSync(join(folder, "run", "lock"), "of another start");
  takeBack(folder)();
  t.same(readdirSync(join(folder, "run")), ["lock"]);

  openInstallation(folder);
  mkdirSync(join(folder, "postgres"));
  takeBack(folder)();
  t.ok(existsSync(installationFile(folder)));
  t.end();
});

await t.test("an existing machine file is named, without an owner", (t) => {
  const folder = testDirectory(t);
  t.equal(machineInTheWay(folder), null);
  writeFileSync(join(folder, "machine.json"), "{}");
  t.match(machineInTheWay(folder), /^there is a machine\.json in .* bootstrap .*: move it away/);
  t.notMatch(machineInTheWay(folder), "installation");
  t.end();
});

await t.test("without a terminal and without --yes nothing is removed", async (t) => {
  const directory = testDirectory(t);
  openInstallation(directory);
  t.not(process.stdin.isTTY, true, "a test has no terminal");
  await t.rejects(resetDataDirectory(directory, false), { message: /add --yes/ });
  t.ok(existsSync(installationFile(directory)));
});

await t.test("an installation stores its passwords, for its owner only", (t) => {
  const directory = testDirectory(t);
  const first = openInstallation(directory);
  t.same(openInstallation(directory), first);
  const passwords = [first.postgres, first.nats, first.redis].flatMap((each) => Object.values<string>(each));
  t.equal(new Set(passwords).size, 19, "each its own");
  t.end();
});
