import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PersonSession } from "@coffer/sdk";
import t from "tap";
import { resolveAddress } from "../src/address.ts";
import { withFileLock } from "../src/file-lock.ts";
import { profileDirectory } from "../src/paths.ts";
import { changeProfile, profileKeeper, readProfile } from "../src/profile.ts";

const session = (token: string): PersonSession => ({
  url: "http://127.0.0.1:8080",
  user: { id: "u", email: "a@example.com", name: null },
  session_id: "s",
  access_token: token,
  access_expires_at: 1,
  refresh_token: `refresh of ${token}`,
  refresh_expires_at: 2,
  user_key: "",
  public_key: "",
  encrypted_private_key: "",
});

await t.test("the profile is in XDG_CONFIG_HOME when that is an absolute path, else in ~/.config", (t) => {
  t.equal(profileDirectory({ XDG_CONFIG_HOME: "/x", HOME: "/h" }), "/x/coffer");
  t.equal(profileDirectory({ XDG_CONFIG_HOME: "x", HOME: "/h" }), "/h/.config/coffer");
  t.equal(profileDirectory({ XDG_CONFIG_HOME: "", HOME: "/h" }), "/h/.config/coffer");
  t.equal(profileDirectory({ HOME: "/h" }), "/h/.config/coffer");
  t.end();
});

await t.test("a profile is written for its owner alone, and keeps its device over changes", async (t) => {
  const directory = join(t.testdir({}), "coffer");
  const first = await changeProfile(directory, (profile) => ({ ...profile, session: session("one") }));
  t.equal(statSync(directory).mode & 0o777, 0o700);
  t.equal(statSync(join(directory, "profile.json")).mode & 0o777, 0o600);
  const second = await changeProfile(directory, (profile) => ({ ...profile, session: undefined }));
  t.equal(second.device_id, first.device_id);
  t.notMatch(readFileSync(join(directory, "profile.json"), "utf8"), /refresh of one|user_key/);
  t.same(readdirSync(directory), ["profile.json"], "no lock and no draft is left");
});

await t.test("a file that is no profile is said to be none, and stays as it is", async (t) => {
  const directory = t.testdir({ "profile.json": "half a pro" });
  await t.rejects(readProfile(directory), { exitCode: 1, message: /is not a profile/ });
  t.equal(readFileSync(join(directory, "profile.json"), "utf8"), "half a pro");
});

await t.test("of many that find the session's token old, one renews it", async (t) => {
  const directory = t.testdir({});
  await changeProfile(directory, (profile) => ({ ...profile, session: session("old") }));
  let renewals = 0;
  const renewed = await Promise.all(
    [1, 2, 3, 4, 5].map(() =>
      profileKeeper(directory).renew("old", (stale) => {
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
  await changeProfile(directory, (profile) => ({ ...profile, session: session("old") }));
  const keeper = profileKeeper(directory);
  await t.rejects(
    keeper.renew("old", () => Promise.reject(new Error("no answer"))),
    { message: "no answer" },
  );
  t.equal((await keeper.current()).access_token, "old");
  t.equal((await keeper.renew("old", () => Promise.resolve(session("new")))).access_token, "new");
});

await t.test("without a session there is nothing to renew: not authenticated", async (t) => {
  const directory = t.testdir({});
  await t.rejects(profileKeeper(directory).current(), { name: "Failure", exitCode: 3 });
});

await t.test("processes that count in one file under the lock lose no count", async (t) => {
  const directory = t.testdir({ count: "0" });
  const counter = fileURLToPath(new URL("./count-under-lock.ts", import.meta.url));
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
  writeFileSync(lock, `${gone.pid ?? 0} left`);
  t.equal(await withFileLock(lock, () => Promise.resolve("mine")), "mine");
  writeFileSync(lock, `${process.pid} left`);
  const longAgo = Date.now() / 1000 - 121;
  utimesSync(lock, longAgo, longAgo);
  t.equal(await withFileLock(lock, () => Promise.resolve("mine")), "mine");
  t.notOk(existsSync(lock));
});

await t.test(
  "an address is taken from the flag, the environment, what is remembered, the local run, in this order",
  async (t) => {
    const data = t.testdir({ run: { "coffer.json": '{"url":"http://127.0.0.1:4444"}' } });
    const env = { COFFER_URL: "http://env/", COFFER_DATA_DIR: data };
    const remembered = (): Promise<string | undefined> => Promise.resolve("http://remembered");
    const none = (): Promise<undefined> => Promise.resolve(undefined);
    t.equal(await resolveAddress("http://flag", env, remembered), "http://flag");
    t.equal(await resolveAddress(undefined, env, remembered), "http://env");
    t.equal(
      await resolveAddress(undefined, { COFFER_DATA_DIR: data, COFFER_URL: "" }, remembered),
      "http://remembered",
    );
    t.equal(await resolveAddress(undefined, { COFFER_DATA_DIR: data }, none), "http://127.0.0.1:4444");
    mkdirSync(join(data, "empty"));
    await t.rejects(resolveAddress(undefined, { COFFER_DATA_DIR: join(data, "empty") }, none), {
      name: "Failure",
      exitCode: 2,
    });
  },
);
