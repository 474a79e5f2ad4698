import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { PersonSession } from "@coffer/sdk";
import { until } from "@coffer/testkit";
import t from "tap";
import { withFileLock } from "../src/files/file-lock.ts";
import { profileDirectory } from "../src/profile/paths.ts";
import { otherProfileAddress } from "../src/profile/profile-address.ts";
import {
  changeProfile,
  deviceCredentialOf,
  forgetSession,
  profileKeeper,
  readProfile,
  rememberSession,
} from "../src/profile/profile.ts";
import { resolveAddress } from "../src/service/address.ts";

const credential = "cfd1_of-this-machine";
const here = "http://127.0.0.1:8080";
const counter = fileURLToPath(new URL("./count-under-lock.ts", import.meta.url));
const inAnHour = Math.floor(Date.now() / 1000) + 3600;
const session = (token: string, url = here): PersonSession => ({
  url,
  user: { id: "u", email: "a@example.com", name: null },
  session_id: "s",
  access_token: token,
  access_expires_at: 1,
  refresh_token: `refresh of ${token}`,
  refresh_expires_at: inAnHour,
  user_key: "",
  public_key: "",
  encrypted_private_key: "",
});

/** What ends whatever works with the session, as one that was revoked does. */
const notLoggedIn = { name: "CofferError", code: "invalid_token", message: /coffer login/ };

await t.test("the profile is in XDG_CONFIG_HOME when that is an absolute path, else in ~/.config", (t) => {
  t.equal(profileDirectory({ XDG_CONFIG_HOME: "/x", HOME: "/h" }), "/x/coffer");
  t.equal(profileDirectory({ XDG_CONFIG_HOME: "x", HOME: "/h" }), "/h/.config/coffer");
  t.equal(profileDirectory({ XDG_CONFIG_HOME: "", HOME: "/h" }), "/h/.config/coffer");
  t.equal(profileDirectory({ HOME: "/h" }), "/h/.config/coffer");
  const own = `${userInfo().homedir}/.config/coffer`;
  t.match(own, /^\//);
  for (const HOME of [undefined, "", "h"]) t.equal(profileDirectory({ HOME }), own, "never below the current folder");
  t.end();
});

await t.test("the device's credential stays over a logout, and is for one service and one person", async (t) => {
  const directory = join(t.testdir({}), "coffer");
  await rememberSession(directory, { ...session("one"), device_credential: credential });
  await forgetSession(directory, here);
  const profile = await readProfile(directory);
  t.equal(deviceCredentialOf(profile, here, "a@example.com"), credential);
  t.equal(deviceCredentialOf(profile, here, " A@Example.com"), credential, "however the e-mail is written");
  t.equal(deviceCredentialOf(profile, here, "b@example.com"), undefined, "another person");
  t.equal(deviceCredentialOf(profile, "https://coffer.example.com", "a@example.com"), undefined, "another service");
  await rememberSession(directory, { ...session("two"), device_credential: "cfd1_newer" });
  t.equal(deviceCredentialOf(await readProfile(directory), here, "a@example.com"), "cfd1_newer");
  await rememberSession(directory, session("three"));
  t.equal(deviceCredentialOf(await readProfile(directory), here, "a@example.com"), "cfd1_newer", "an older service");
  t.equal((await readProfile(directory)).devices.length, 1);
});

await t.test("a profile is written for its owner alone, and keeps its device over changes", async (t) => {
  const directory = join(t.testdir({}), "coffer");
  const first = await changeProfile(directory, (profile) => profile);
  await rememberSession(directory, session("one"));
  t.equal(statSync(directory).mode & 0o777, 0o700);
  t.equal(statSync(join(directory, "profile.json")).mode & 0o777, 0o600);
  await forgetSession(directory, here);
  t.equal((await readProfile(directory)).device_id, first.device_id);
  t.notMatch(readFileSync(join(directory, "profile.json"), "utf8"), /refresh of one|user_key/);
  t.same(readdirSync(directory), ["profile.json"], "no lock and no draft is left");
});

await t.test("a file that is no profile is said to be none, and stays as it is", async (t) => {
  const directory = t.testdir({ "profile.json": "half a pro" });
  await t.rejects(readProfile(directory), { exitCode: 1, message: /is not a profile/ });
  t.equal(readFileSync(join(directory, "profile.json"), "utf8"), "half a pro");
});

await t.test("each service has its session: another's stays, one at the same service takes the place", async (t) => {
  const directory = t.testdir({});
  const there = "https://coffer.example.com";
  t.equal(await rememberSession(directory, session("one")), undefined);
  t.equal(await rememberSession(directory, session("two", there)), undefined);
  t.equal((await readProfile(directory)).url, there, "where the last login was");
  t.equal((await profileKeeper(directory, here).current()).access_token, "one");
  t.equal((await profileKeeper(directory, there).current()).access_token, "two");
  const replaced = await rememberSession(directory, session("three", "http://localhost:8080"));
  t.equal(replaced?.access_token, "one", "the names of this machine are one service");
  await forgetSession(directory, here);
  await t.rejects(profileKeeper(directory, here).current(), notLoggedIn);
  t.equal((await profileKeeper(directory, there).current()).access_token, "two");
});

await t.test("a session that is over is dropped at the next login", async (t) => {
  const directory = t.testdir({});
  await rememberSession(directory, { ...session("over"), refresh_expires_at: Math.floor(Date.now() / 1000) - 1 });
  await rememberSession(directory, session("new", "https://coffer.example.com"));
  t.same(Object.keys((await readProfile(directory)).sessions), ["https://coffer.example.com"]);
});

await t.test("the profile's address is distinguished from another, and no address is not another", async (t) => {
  const home = t.testdir({});
  const env = { XDG_CONFIG_HOME: home };
  t.equal(await otherProfileAddress(env, here), undefined);
  await rememberSession(join(home, "coffer"), session("one"));
  t.equal(await otherProfileAddress(env, "http://localhost:8080"), undefined);
  t.equal(await otherProfileAddress(env, "http://127.0.0.1:8090"), here);
});

await t.test("of many that find the session's token old, one renews it", async (t) => {
  const directory = t.testdir({});
  await rememberSession(directory, session("old"));
  let renewals = 0;
  const renewed = await Promise.all(
    [1, 2, 3, 4, 5].map(() =>
      profileKeeper(directory, here).renew("old", (stale) => {
        renewals += 1;
        return Promise.resolve({ ...stale, access_token: "new" });
      }),
    ),
  );
  t.same(new Set(renewed.map(({ access_token }) => access_token)), new Set(["new"]));
  t.equal(renewals, 1);
});

await t.test("a renewal that fails leaves the session and gives the lock back", async (t) => {
  const directory = t.testdir({});
  await rememberSession(directory, session("old"));
  const keeper = profileKeeper(directory, here);
  await t.rejects(
    keeper.renew("old", () => Promise.reject(new Error("no answer"))),
    { message: "no answer" },
  );
  t.equal((await keeper.current()).access_token, "old");
  t.equal((await keeper.renew("old", () => Promise.resolve(session("new")))).access_token, "new");
});

await t.test("without a session there is nothing to renew: not authenticated", async (t) => {
  const directory = t.testdir({});
  await t.rejects(profileKeeper(directory, here).current(), notLoggedIn);
});

await t.test("processes that count in one file under the lock lose no count", async (t) => {
  const directory = t.testdir({ count: "0" });
  const children = [1, 2, 3, 4].map(() =>
    spawn(process.execPath, [counter, join(directory, "lock"), join(directory, "count"), "25"], { stdio: "inherit" }),
  );
  const codes = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0] as number));
  t.same(codes, [0, 0, 0, 0]);
  t.equal(readFileSync(join(directory, "count"), "utf8"), "100");
  t.same(readdirSync(directory).sort(), ["count"]);
});

await t.test("the lock of a process that is gone, or an old one, is taken over", async (t) => {
  const directory = t.testdir({});
  const lock = join(directory, "lock");
  const gone = spawn("true", { stdio: "ignore" });
  await once(gone, "exit");
  const own = await withFileLock(lock, () => Promise.resolve(readFileSync(lock, "utf8")));
  writeFileSync(lock, own.replace(/^\d+/, String(gone.pid)));
  t.equal(await withFileLock(lock, () => Promise.resolve("mine")), "mine");
  // The number of a process of another container means nothing here.
  writeFileSync(lock, `${gone.pid ?? 0} left elsewhere`);
  const waiting = withFileLock(lock, () => Promise.resolve("mine"));
  t.equal(await Promise.race([waiting, setTimeout(200, "waits")]), "waits");
  unlinkSync(lock);
  t.equal(await waiting, "mine");
  writeFileSync(lock, `${process.pid} left`);
  const longAgo = Date.now() / 1000 - 121;
  utimesSync(lock, longAgo, longAgo);
  t.equal(await withFileLock(lock, () => Promise.resolve("mine")), "mine");
  t.notOk(existsSync(lock));
});

await t.test("a lock that cannot be written leaves nothing behind", async (t) => {
  const directory = t.testdir({ count: "0" });
  const args = [join(directory, "lock"), join(directory, "count"), "1"];
  // Without the test runner's hooks, of which one listens for that signal.
  const full = `trap '' XFSZ; ulimit -f 0; unset NODE_OPTIONS; exec "$@"`;
  const child = spawn("bash", ["-c", full, "bash", process.execPath, counter, ...args], { stdio: "ignore" });
  t.not((await once(child, "exit"))[0], 0);
  t.same(readdirSync(directory), ["count"]);
  t.equal(readFileSync(join(directory, "count"), "utf8"), "0");
});

await t.test("an empty lock is taken over after a few seconds", async (t) => {
  const lock = join(t.testdir({ lock: "" }), "lock");
  const aWhileAgo = Date.now() / 1000 - 6;
  utimesSync(lock, aWhileAgo, aWhileAgo);
  const taken = await Promise.race([
    withFileLock(lock, () => Promise.resolve("mine")),
    once(AbortSignal.timeout(10_000), "abort").then(() => "waits"),
  ]);
  t.equal(taken, "mine");
});

await t.test("a command that waits for a lock says what for", async (t) => {
  const directory = t.testdir({ count: "0" });
  const lock = join(directory, "lock");
  writeFileSync(lock, `${process.pid} held`);
  const child = spawn(process.execPath, [counter, lock, join(directory, "count"), "1"], { stdio: "pipe" });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const ended = once(child, "exit");
  await until("it says so", () => said.endsWith("\n"));
  t.equal(said, `coffer: waiting for the process ${process.pid}, which holds ${lock}\n`);
  unlinkSync(lock);
  t.equal((await ended)[0], 0);
  t.equal(readFileSync(join(directory, "count"), "utf8"), "1");
});

const localRun = (url: string) => ({ run: { "coffer.json": JSON.stringify({ url }) } });

await t.test(
  "an address is that of the flag, of COFFER_URL, of a machine's configuration, in this order",
  async (t) => {
    const env = { COFFER_URL: "https://env/", COFFER_DATA_DIR: t.testdir(localRun("http://127.0.0.1:4444")) };
    const remembered = { configuration: "https://machine", profile: () => Promise.resolve("https://profile") };
    t.same(await resolveAddress({ url: "https://flag/" }, env, remembered), { url: "https://flag", named: "--url" });
    t.same(await resolveAddress({}, env, remembered), { url: "https://env", named: "COFFER_URL" });
    t.match(await resolveAddress({}, { ...env, COFFER_URL: "" }, remembered), { url: "https://machine" });
  },
);

await t.test("else where the last login was, else that of the local run, whose directory can be named", async (t) => {
  const data = t.testdir({ ...localRun("http://127.0.0.1:4444"), stopped: {} });
  const profile = (): Promise<string> => Promise.resolve("https://profile");
  const found = { url: "http://127.0.0.1:4444", named: undefined };
  t.match(await resolveAddress({}, { COFFER_DATA_DIR: data }, { profile }), { url: "https://profile" });
  t.same(await resolveAddress({}, { COFFER_DATA_DIR: data }), found);
  const stopped = { COFFER_DATA_DIR: join(data, "stopped") };
  await t.rejects(resolveAddress({}, stopped), { name: "Failure", exitCode: 2, message: /npm start/ });
});
