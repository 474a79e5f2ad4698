import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, lstatSync, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import t from "tap";
import { serverUser, serversIn, temporaryDirectory } from "@coffer/stores";
import { removeTestDirectory } from "@coffer/testkit";
import { aboutInstallation } from "../../src/data/installation.ts";
import { cloneIn, runFirstMinute, startClone, testClone } from "../clone.ts";
import { living, processesOf } from "../npm-start.ts";
import { privilegesOf, unprivileged } from "../privileges.ts";

// A start, the first minute and a stop, as root and as an ordinary user, in clones of both.

const skip = process.getuid?.() === 0 && process.platform === "linux" ? false : "only root can be several users";
const user = serverUser() ?? { name: "", uid: 0, gid: 0 };
const asOther = ["setpriv", "--reuid=1", "--regid=1", "--clear-groups", "--no-new-privs", "--"];

/** Few files, one of which starts npm in the clone. */
const someTests = ["deploy/local/test/start/arguments.test.ts", "packages/env/test/values.test.ts"];

/** Whether another user than root and the stores' can list a folder. */
function otherMayList(folder: string): boolean {
  return spawnSync("env", [...asOther, "ls", folder], { stdio: "ignore" }).status === 0;
}

await t.test(
  "in a clone in root's home root has a first minute, and no store can do what root can",
  { skip, timeout: 900_000 },
  async (t) => {
    const { homedir } = userInfo();
    const home = otherMayList(homedir) ? undefined : homedir;
    const parent = home ?? temporaryDirectory("coffer-test-");
    if (home === undefined) {
      chmodSync(parent, 0o700);
      t.teardown(() => removeTestDirectory(parent));
    }
    const clone = cloneIn(t, parent);
    const data = join(clone, ".coffer");
    const first = await startClone(t, clone);
    const place = aboutInstallation(data)?.stores ?? "";
    t.match(place, /^\/var\/lib\/coffer-[0-9a-f]{16}\/[0-9a-f]{8}$/);
    t.match(first.stderr(), `data in ${data}, the files of the stores in ${place}`);
    for (const [name, pid] of Object.entries(first.state.store_pids))
      t.match(privilegesOf(pid), unprivileged(user), name);
    t.equal(Object.keys(first.state.store_pids).length, 3);

    for (const folder of [dirname(place), place, join(place, "postgres"), join(place, "nats"), join(place, "redis")]) {
      const { uid, gid, mode } = lstatSync(folder);
      t.same([uid, gid, mode & 0o777], [0, user.gid, 0o710], folder);
      t.notOk(otherMayList(folder), folder);
    }
    const cluster = lstatSync(join(place, "postgres/data"));
    t.same([cluster.uid, cluster.mode & 0o777], [user.uid, 0o700]);
    for (const file of ["nats/nats.conf", "redis/redis.conf"])
      t.equal(lstatSync(join(place, file)).mode & 0o777, 0o600);

    t.equal(await runFirstMinute(clone), "s3cret\n");
    t.match(await testClone(clone, someTests), /^\d+ passed, 0 failed$/, "beside what the first minute has left");
    t.equal(await first.stop(), 0, first.stderr());
    t.same(living(processesOf(first.state)), []);
    t.same(serversIn(place), []);

    const second = await startClone(t, clone);
    t.equal(aboutInstallation(data)?.stores, place, "the data is where it was");
    t.equal(second.stdout.split("\n").length, 2, "the installation is not new");
    t.equal(await second.stop(), 0);

    const third = await startClone(t, clone, { args: ["--reset", "--yes"] });
    t.notOk(existsSync(place), "a reset removes the files of the stores");
    t.equal(await third.stop(), 0);
  },
);

await t.test(
  "in a clone of an ordinary user, that user and root have a first minute",
  { skip, timeout: 900_000 },
  async (t) => {
    const owner = { uid: user.uid, gid: user.gid };
    const parent = temporaryDirectory("coffer-test-");
    t.teardown(() => removeTestDirectory(parent));
    const asOwner = [
      "setpriv",
      `--reuid=${owner.uid}`,
      `--regid=${owner.gid}`,
      "--clear-groups",
      "--no-new-privs",
      "--",
    ];
    const clone = cloneIn(t, parent, owner);
    const own = await startClone(t, clone, { prefix: asOwner });
    for (const [name, pid] of Object.entries(own.state.store_pids))
      t.match(privilegesOf(pid), { uids: unprivileged(user).uids, effective: 0n }, name);
    t.equal(await runFirstMinute(clone, asOwner), "s3cret\n");
    t.match(await testClone(clone, someTests, asOwner), /^\d+ passed, 0 failed$/);
    t.equal(await own.stop(), 0, own.stderr());
    t.equal(lstatSync(join(clone, ".coffer/installation.json")).uid, owner.uid);

    // Root goes on as that user, who can start it again.
    const asRoot = await startClone(t, clone);
    t.match(asRoot.stderr(), `belongs to user ${owner.uid}: going on as that user`);
    t.match(privilegesOf(asRoot.state.pid), { uids: unprivileged(user).uids, effective: 0n });
    t.equal(await asRoot.stop(), 0);
    const again = await startClone(t, clone, { prefix: asOwner });
    t.equal(await again.stop(), 0, again.stderr());

    const other = cloneIn(t, parent, owner);
    const rootFirst = await startClone(t, other);
    for (const [name, pid] of Object.entries(rootFirst.state.store_pids))
      t.match(privilegesOf(pid), unprivileged(user), name);
    t.equal(aboutInstallation(join(other, ".coffer"))?.stores, null, "the stores' user can reach the data directory");
    t.equal(await runFirstMinute(other), "s3cret\n");
    t.equal(await rootFirst.stop(), 0);
    t.match(readFileSync(join(other, "machine.json"), "utf8"), "client_id");
  },
);
